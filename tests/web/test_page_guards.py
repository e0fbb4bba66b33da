"""Guard rails and capability levels in the page: the inbox asks, the owner raises or ends it."""

import re
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub, until
from tests.hub.scripted_device import append
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, PHONE, needs_chromium, open_tab

from bascule.link.frames import DeviceState, DeviceStateChanged
from bascule.model.commands import AnswerGuard, StartSession
from bascule.model.events import (
    GuardAnswered,
    GuardAsked,
    Interrupted,
    Note,
    PromptSent,
    SessionReady,
    SessionStarted,
    TurnEnded,
)
from bascule.policy.spending_caps import Reached

pytestmark = [pytest.mark.anyio, needs_chromium]

SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1440x900", "390x844"])
WIDER = "document.documentElement.scrollWidth > innerWidth"
TEXT = Reached("session_cents", "reached", 205, 200).words()
GUARD = GuardAsked("g1", "session_cents", TEXT, 205, 200, cut_short=True)


def answers(hub: RunningHub) -> list[tuple[str, str, int | None]]:
    told = [one for one in hub.device.commands if isinstance(one, AnswerGuard)]
    return [(one.guard_id, one.decision, one.allowed) for one in told]


async def stopped(hub: RunningHub, session: str = "s1", guard: GuardAsked = GUARD) -> None:
    start = SessionStarted(
        "scripted", "stream_json", "/code/lantern", "ana", capability="project_scoped", model="opus"
    )
    ended = [
        Interrupted("limit"),
        Note("limit_reached", guard.text, "warning"),
        guard,
        TurnEnded("interrupted"),
    ]
    await append(hub.store, session, start, SessionReady("abc"), PromptSent("p1", "Hello", "ana"), *ended)


@pytest.mark.row("R15", "R18")
@SIZES
async def test_the_inbox_asks_at_a_cap_and_the_owner_raises_it(
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    await stopped(hub)
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/inbox", size=size)
    row = tab.page.get_by_role("option", name=re.compile("Limit reached"))
    await expect(row).to_contain_text(TEXT)
    await expect(row).to_contain_text("lantern · Project only")
    await append(hub.store, "s2", SessionStarted("scripted", "stream_json", "/code/lantern", "ana"))
    # In the list, too, and only where something is limited.
    await expect(tab.page.locator(".session-row[data-key=s2]")).to_have_count(1)
    await expect(tab.page.locator(".session-row__limit")).to_have_text(["Project only"])
    if size is PHONE:  # the list is a screen of its own
        await row.click()
    card = tab.page.locator(".guard-card")
    await expect(card).to_contain_text(TEXT)
    await expect(tab.page.locator(".session-bar__name")).to_contain_text("Project only")
    assert await serious(tab) == []
    await expect(card.get_by_label("Raise to $")).to_have_value("4.05")
    await card.get_by_label("Raise to $").fill("3.50")
    await card.get_by_role("button", name="Raise and continue").click()
    await until(lambda: answers(hub) == [("g1", "go_on", 350)])
    await append(hub.store, "s1", GuardAnswered("g1", "go_on", "ana", 350))
    await expect(card).to_have_count(0)
    await expect(row).to_have_count(0)
    assert not await tab.page.evaluate(WIDER)
    assert tab.errors == []


@pytest.mark.row("R15")
@SIZES
async def test_a_cap_can_be_left_and_the_session_ended(hub: RunningHub, browser: Browser, size: Any) -> None:
    await stopped(hub)
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=size)
    card = tab.page.locator(".guard-card")
    await card.get_by_role("button", name="End the session").click()
    await until(lambda: answers(hub) == [("g1", "end", None)])
    assert not await tab.page.evaluate(WIDER)
    assert tab.errors == []


@pytest.mark.row("R15")
@SIZES
async def test_a_loop_can_go_on_or_be_ended_and_others_can_only_end_it(
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    words = "Bash was called 8 times with the same input, and the same came of it each time."
    await stopped(hub, guard=GuardAsked("g2", "loop", words, 8, 8))
    operator = await open_tab(browser, hub.url, hub.tokens["operator"], path="/sessions/s1", size=size)
    card = operator.page.locator(".guard-card")
    await expect(card).to_contain_text("Only an owner can let it continue")
    await expect(card.get_by_role("button")).to_have_text(["End the session"])
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=size)
    mine = tab.page.locator(".guard-card")
    await expect(mine).to_contain_text(words)
    assert await serious(tab) == []
    await mine.get_by_role("button", name="Let it continue").click()
    await until(lambda: answers(hub) == [("g2", "go_on", None)])
    await mine.get_by_role("button", name="End the session").click()
    await until(lambda: answers(hub)[1:] == [("g2", "end", None)])
    assert tab.errors == []


@pytest.mark.row("R18")
@SIZES
async def test_a_start_asks_for_one_of_the_levels_that_its_machine_offers(
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    levels = ("read_only", "sandboxed", "project_scoped")
    hub.device.line.receive(DeviceStateChanged(DeviceState(roots=("/code",), levels=levels)))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], size=size)
    chip = tab.page.locator(".k-level")
    await expect(chip).to_contain_text("Project only")
    await chip.click()
    await tab.page.get_by_role("menuitemradio", name=re.compile("^Sandboxed")).click()
    await expect(chip).to_contain_text("Sandboxed")
    await tab.page.locator("#task").fill("Look around")
    await tab.page.get_by_role("button", name=re.compile("^Start")).click()
    await until(lambda: any(isinstance(one, StartSession) for one in hub.device.commands))
    started = next(one for one in hub.device.commands if isinstance(one, StartSession))
    assert started.options.capability == "sandboxed"
    assert tab.errors == []


@pytest.mark.row("R15")
@SIZES
async def test_a_cap_is_set_by_the_owner_in_the_settings_and_its_warning_is_read_in_the_session(
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/settings/limits", size=size)
    row = tab.page.locator("tr", has_text="Spending per session")
    await row.get_by_role("button", name="Change").click()
    field = tab.page.get_by_label(re.compile("^Spending per session"))
    await field.fill("2")
    await field.press("Enter")
    await expect(row).to_contain_text("$2")
    assert hub.services.limits.now.session_cents == 200
    assert await serious(tab) == []
    assert not await tab.page.evaluate(WIDER)
    # Others read what holds for them, and change nothing.
    other = await open_tab(browser, hub.url, hub.tokens["operator"], path="/settings/limits", size=size)
    await expect(other.page.locator("tr", has_text="Spending per session")).to_contain_text("$2")
    await expect(other.page.locator(".limits-table").get_by_role("button", name="Change")).to_have_count(0)
    words = Reached("session_cents", "near", 161, 200).words()
    start = SessionStarted("scripted", "stream_json", "/code/lantern", "ana")
    near = Note("limit_near", words, "warning")
    await append(hub.store, "s1", start, SessionReady("abc"), PromptSent("p1", "Hello", "ana"), near)
    await tab.turn_to("/sessions/s1")
    await tab.says(words)
    assert tab.errors == other.errors == []
