"""What a machine takes from its own person only: another hub's page says so instead of offering it."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, expect
from tests.hub.running_hub import until
from tests.hub.scripted_device import append
from tests.waiting import PATIENCE
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, PHONE, Tab, needs_chromium, open_tab
from tests.web.lantern import raw
from tests.web.two_machines import LAPTOP, LAPTOP_AGENTS, Machines, on_laptop, two_machines

from bascule.link.frames import AgentsChanged
from bascule.link.machine import AgentInfo
from bascule.link.starts import StartsState
from bascule.model.commands import AnswerGuard, AnswerPermission, StartSession
from bascule.model.event_values import PermissionOption
from bascule.model.events import AnyEvent, EndScheduled, GuardAsked, PermissionRequested, PromptSent

pytestmark = [pytest.mark.anyio, needs_chromium]

SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1440x900", "390x844"])
WIDER = "document.documentElement.scrollWidth > innerWidth"
LET_HUB = "bascule daemon hub-may-widen yes"
ONLY_THERE = "only on laptop itself: it does not take this from here"
CLAUDE = AgentInfo(
    "claude-code",
    "Claude Code",
    True,
    "2.0.9",
    models=("opus",),
    modes=("default", "plan", "acceptEdits"),
    asking_modes=("default", "plan"),
    drivers=("stream_json", "terminal"),
    skips_permissions=True,
)


ASKED = PermissionRequested(
    "r1",
    "Bash",
    "pytest -q",
    "execute",
    raw(command="pytest -q"),
    "a" * 64,
    (
        PermissionOption("once", "allow_once", "Allow once"),
        PermissionOption("always", "allow_always", "Always allow pytest", "in this project"),
        PermissionOption("deny", "deny", "Deny"),
    ),
)


def refuses(machines: Machines, *, refused: bool = True, **more: Any) -> None:
    machines.show(LAPTOP, owner_only=refused, **more)


async def session_with(machines: Machines, *events: AnyEvent, name: str = "s-laptop") -> str:
    """A session on the laptop that has got as far as this."""
    begun = [*on_laptop("Port the lexer"), PromptSent("p1", "Port it", "Mira")]
    await append(machines.hub.store, name, *begun, *events)
    return name


def has_claude(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    """The laptop's agent has modes of its own, and a terminal that can be started without prompts."""
    agents = (CLAUDE, *LAPTOP_AGENTS[1:])
    monkeypatch.setattr("tests.web.two_machines.LAPTOP_AGENTS", agents)
    machines.laptop.line.receive(AgentsChanged(agents))


async def is_sound(tab: Tab) -> None:
    assert await serious(tab) == []
    assert not await tab.page.evaluate(WIDER)
    assert tab.errors == []


def answers(machines: Machines) -> list[AnswerPermission]:
    return [one for one in machines.laptop.commands if isinstance(one, AnswerPermission)]


@pytest.mark.row("R17")
@SIZES
async def test_a_request_there_is_allowed_once_and_the_card_says_where_more_can_be_allowed(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        refuses(machines)
        session = await session_with(machines, ASKED)
        tab = await open_tab(
            browser, machines.hub.url, machines.token, path=f"/sessions/{session}", size=size
        )
        card = tab.ask
        await expect(card.locator(".is-primary:enabled")).to_have_count(1)
        await expect(card.locator(".scope")).to_have_count(0)
        await expect(card.locator(".always")).to_have_count(0)
        await card.get_by_role("button", name="Only once from here").click()
        told = tab.page.get_by_role("dialog", name="Only once from here")
        await expect(told).to_contain_text(
            "laptop takes an answer for more than one request only on laptop itself"
        )
        await expect(told.locator("code")).to_have_text(LET_HUB)
        await is_sound(tab)
        await tab.page.locator("#ask-title").click()
        await expect(told).to_have_count(0)
        # The machine's owner lets this hub: at once there is more, without the page being loaded again.
        refuses(machines, refused=False)
        await expect(card.locator(".scope")).to_have_count(1)
        await expect(card.locator(".always")).to_have_count(1)
        await expect(card.locator(".owner-only")).to_have_count(0)
        refuses(machines)
        await expect(card.locator(".scope")).to_have_count(0)
        await tab.allow()
        await until(lambda: [one.remember for one in answers(machines)] == [False])


@pytest.mark.row("R17")
async def test_the_key_for_this_session_explains_and_allows_nothing(tmp_path: Path, browser: Browser) -> None:
    async with two_machines(tmp_path) as machines:
        refuses(machines)
        session = await session_with(machines, ASKED)
        tab = await open_tab(browser, machines.hub.url, machines.token, path=f"/sessions/{session}")
        await expect(tab.ask.locator(".is-primary:enabled")).to_have_count(1)
        await tab.ask.focus()
        await tab.page.keyboard.press("s")
        await expect(tab.page.get_by_role("dialog", name="Only once from here")).to_be_visible()
        assert answers(machines) == []


async def offered(page: Page, opener: Locator) -> dict[str, tuple[bool, str]]:
    """The choices of a menu by their first words: whether each can be chosen, and the note below."""
    await opener.click()
    menu = page.locator(".menu[role=menu]")
    await menu.wait_for()
    found: dict[str, tuple[bool, str]] = {}
    for one in await menu.get_by_role("button").or_(menu.locator("[role^=menuitem]")).all():
        note = one.locator("small")
        text = await note.inner_text() if await note.count() else ""
        label = (await one.inner_text()).removesuffix(text).strip()
        found[label] = (await one.get_attribute("aria-disabled") != "true", text)
    return found


async def offers_later(page: Page, opener: Locator, beginning: str = "") -> None:
    """Open the menu until all choices that begin so can be chosen: the page may not have heard of it yet."""
    async with asyncio.timeout(PATIENCE):
        while True:
            choices = await offered(page, opener)
            named = [able for label, (able, _) in choices.items() if label.startswith(beginning)]
            assert named
            if all(named):
                return
            await page.keyboard.press("Escape")
            await expect(page.locator(".menu")).to_have_count(0)


@pytest.mark.row("R17")
@SIZES
async def test_modes_that_allow_by_themselves_are_shown_with_the_reason_and_cannot_be_chosen(
    tmp_path: Path, browser: Browser, size: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_machines(tmp_path) as machines:
        has_claude(machines, monkeypatch)
        refuses(machines)
        session = await session_with(machines)
        tab = await open_tab(
            browser, machines.hub.url, machines.token, path=f"/sessions/{session}", size=size
        )
        chip = tab.page.locator("#composer .k-mode")
        modes = await offered(tab.page, chip)
        off = {label for label, (able, _) in modes.items() if not able}
        assert off == {"Allow reading", "Allow all", "Accept edits"}
        assert {modes[label][1] for label in off} == {ONLY_THERE}
        await tab.page.locator(".menu [aria-disabled=true]").first.click(force=True)
        await is_sound(tab)
        await tab.page.keyboard.press("Escape")
        refuses(machines, refused=False)
        await expect(tab.page.locator(".menu")).to_have_count(0)
        await offers_later(tab.page, chip)
        assert [one for one in machines.laptop.commands if "Mode" in type(one).__name__] == []


async def choose_laptop(page: Page) -> None:
    await page.locator("button.k-device").click()
    await page.get_by_role("menuitemradio", name="laptop").click()


@pytest.mark.row("R17")
@SIZES
async def test_a_start_there_is_offered_only_in_a_mode_that_asks_unless_its_owner_approves_starts(
    tmp_path: Path, browser: Browser, size: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_machines(tmp_path) as machines:
        has_claude(machines, monkeypatch)
        refuses(machines, starts=StartsState(approval="local_confirm"))
        tab = await open_tab(browser, machines.hub.url, machines.token, path="/", size=size)
        page = tab.page
        await choose_laptop(page)
        chip = page.locator(".start .k-mode")
        # Where its owner approves each start, they see in which mode it is to run.
        assert all(able for able, _ in (await offered(page, chip)).values())
        await page.get_by_role("menuitemradio", name=re.compile("^Allow all")).click()
        await expect(chip).to_contain_text("Allow all")
        refuses(machines, starts=StartsState(approval="notify_only"))
        await expect(chip).to_contain_text("Ask first")  # what it would refuse is not sent
        modes = await offered(page, chip)
        assert {label for label, (able, _) in modes.items() if not able} == {"Allow reading", "Allow all"}
        await is_sound(tab)
        await page.keyboard.press("Escape")
        screens = await offered(page, page.locator(".start [data-key=screen]"))
        assert screens["Claude Code, skipping permissions…"] == (False, ONLY_THERE)
        await page.keyboard.press("Escape")
        await page.get_by_label("Task").fill("Port the lexer at once")
        await page.locator(".start__go").click()
        await until(lambda: any(isinstance(one, StartSession) for one in machines.laptop.commands))
        (start,) = [one for one in machines.laptop.commands if isinstance(one, StartSession)]
        assert (start.options.permission_mode, start.options.skip_permissions) == ("relay", False)


@pytest.mark.row("R17")
@SIZES
async def test_trust_rules_limits_and_more_time_are_left_to_the_machine_and_what_narrows_is_not(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    text = "$2.05 of $2.00 are spent for this session: the limit is reached."
    async with two_machines(tmp_path) as machines:
        refuses(machines)
        await session_with(machines, GuardAsked("g1", "session_cents", text, 205, 200), name="capped")
        tab = await open_tab(browser, machines.hub.url, machines.token, path="/sessions/capped", size=size)
        page = tab.page
        card = page.locator(".guard-card")
        await expect(card).to_contain_text("laptop takes a higher limit only on laptop itself")
        await expect(card).to_contain_text(LET_HUB)
        await expect(card.get_by_role("button")).to_have_text(["End the session"])
        await expect(card.locator("input")).to_have_count(0)
        await is_sound(tab)
        await card.get_by_role("button", name="End the session").click()
        await until(lambda: any(isinstance(one, AnswerGuard) for one in machines.laptop.commands))
        await tab.turn_to("/settings/rules")
        await page.locator(".machine-field select").select_option(LAPTOP)
        note = page.locator(".settings .owner-note")
        await expect(note).to_contain_text("laptop takes rules that allow, and changes to those that deny")
        await expect(page.locator("tr[data-key]")).not_to_have_count(0)
        await expect(page.get_by_label("Change this rule")).to_have_count(0)
        allowing = page.locator("tr[data-key]", has_text="Allow")
        await expect(page.get_by_label("Remove this rule")).to_have_count(await allowing.count())
        await page.locator(".newrule").click()
        options = page.locator("select[name=answer] option")
        await expect(options).to_have_text(["Ask", "Deny"])
        await is_sound(tab)


@pytest.mark.row("R17")
@SIZES
async def test_more_time_and_a_trusted_folder_are_the_machines_to_give(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        refuses(machines)
        session = await session_with(machines, EndScheduled("2031-05-01T12:00:00Z", "time_limit"))
        tab = await open_tab(
            browser, machines.hub.url, machines.token, path=f"/sessions/{session}", size=size
        )
        page = tab.page
        await expect(page.get_by_role("button", name="Keep it running", exact=True)).to_have_count(0)
        await page.get_by_role("button", name="Keep it running on laptop").click()
        await expect(page.get_by_role("dialog")).to_contain_text("laptop takes more time for a session only")
        await is_sound(tab)
        await page.keyboard.press("Escape")
        await tab.turn_to("/")
        await choose_laptop(page)
        folders = await offered(page, page.locator(".start .k-folder"))
        (trust,) = [(able, note) for label, (able, note) in folders.items() if label.startswith("Trust ")]
        assert trust == (False, ONLY_THERE)
        await page.keyboard.press("Escape")
        refuses(machines, refused=False)
        await offers_later(page, page.locator(".start .k-folder"), "Trust ")


@pytest.mark.row("R17")
@SIZES
async def test_the_machines_card_says_so_and_offers_no_end_of_a_pause_that_was_made_there(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        refuses(machines, paused=True, paused_by_owner=True)
        tab = await open_tab(browser, machines.hub.url, machines.token, path="/settings/devices", size=size)
        card = tab.page.locator(".machine[aria-label=laptop]")
        await expect(card).to_contain_text("what its agents do is set on laptop itself")
        await expect(card).to_contain_text(LET_HUB)
        await expect(card).to_contain_text("It was paused on laptop itself")
        await expect(card.get_by_role("button", name="Resume")).to_have_count(0)
        await is_sound(tab)
        refuses(machines, refused=False, paused=True)
        await expect(card.get_by_role("button", name="Resume")).to_have_count(1)
        await expect(card).to_contain_text("can be set from here")
        here = tab.page.locator(".machine[aria-label=tower]")
        await expect(here).not_to_contain_text("Without asking")
