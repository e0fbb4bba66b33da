"""Several machines on one page: each is named, none is mixed up; one goes away, one asks to join."""

import datetime
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, expect
from tests.hub.running_hub import until
from tests.waiting import within
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, PHONE, Tab, needs_chromium, open_tab
from tests.web.lantern import lantern
from tests.web.lantern_machine import ago
from tests.web.two_machines import LAPTOP, TOWER, Machines, two_machines

from bascule.api.bodies import PairingBody
from bascule.link.machine import EndAll, PauseDevice
from bascule.model.commands import SendPrompt, StartSession
from bascule.store.postgres import errors

pytestmark = [pytest.mark.anyio, needs_chromium]

SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1440x900", "390x844"])
WIDER = "document.documentElement.scrollWidth > innerWidth"
SMALL = """() => [...document.querySelectorAll('button, select, input, [role=menuitemradio]')]
  .filter((one) => one.checkVisibility() && !one.closest('.groups, #well'))
  .filter((one) => { const at = one.getBoundingClientRect(); return at.width && at.height < 43.5; })
  .map((one) => one.outerHTML.slice(0, 120))"""


async def open_page(browser: Browser, machines: Machines, path: str, size: Any = DESKTOP) -> Tab:
    return await open_tab(browser, machines.hub.url, machines.token, path=path, size=size)


async def is_sound(tab: Tab, size: Any) -> None:
    """Nothing serious for axe, nothing wider than the window, nothing too small for a finger."""
    assert await serious(tab) == []
    assert not await tab.page.evaluate(WIDER)
    if size is PHONE:
        assert await tab.page.evaluate(SMALL) == []
    assert tab.errors == []


def indicator(page: Page) -> Locator:
    return page.locator(".device-row")


@pytest.mark.row("R1")
async def test_one_machine_that_is_well_is_named_once_and_nowhere_else(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"])
        page = tab.page
        await expect(indicator(page)).to_have_text("towerthis machine")
        await expect(page.locator(".session-row").first).to_be_visible()
        await expect(
            page.locator(".session-row__machine, .session-group__machine, .is-remote")
        ).to_have_count(0)
        await expect(page.locator("button.k-device")).to_have_count(0)
        assert tab.errors == []


@SIZES
@pytest.mark.row("R1", "R13")
async def test_every_session_says_its_machine_and_the_same_path_on_two_machines_is_two_projects(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        tab = await open_page(browser, machines, "/sessions", size)
        page = tab.page
        groups = page.locator("section.session-group").filter(
            has=page.locator(".session-group__name", has_text="lantern")
        )
        await expect(groups).to_have_count(2)
        await expect(groups.nth(0)).to_have_attribute("aria-label", "lantern on tower")
        await expect(groups.nth(1)).to_have_attribute("aria-label", "lantern on laptop")
        await expect(groups.nth(1).locator(".session-row")).to_have_count(1)
        await expect(groups.nth(1).locator(".session-row__machine")).to_have_text("on laptop")
        await expect(groups.nth(0)).not_to_contain_text("Port the parser")
        # Folding one leaves the other as it is.
        await groups.nth(1).locator(".session-group__toggle").click()
        await expect(groups.nth(1).locator(".session-row")).to_have_count(0)
        await expect(groups.nth(0).locator(".session-row").first).to_be_visible()
        await groups.nth(1).locator(".session-group__toggle").click()
        await expect(indicator(page)).to_contain_text("2 machines")
        await expect(indicator(page)).to_contain_text("all connected")
        await is_sound(tab, size)
        await groups.nth(1).locator(".session-row").click()
        await expect(page.locator(".session-bar__name p")).to_contain_text("laptop")
        await expect(page.locator(".session-bar .is-remote")).to_have_text("Remote")
        await tab.turn_to("/sessions/uploads")
        await expect(page.locator(".session-bar__name p")).to_contain_text("tower")
        await expect(page.locator(".session-bar .is-remote")).to_have_count(0)
        assert not await page.evaluate(WIDER)


@SIZES
@pytest.mark.row("R3")
async def test_the_indicator_lists_all_machines_and_says_what_is_wrong_with_one(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        tab = await open_page(browser, machines, "/sessions", size)
        page, row = tab.page, indicator(tab.page)
        await expect(row).to_contain_text("all connected")
        machines.show(LAPTOP, state="stale", last_heard=ago(14))
        # It counts on while nobody looks, up to the minute.
        await expect(row).to_contain_text(re.compile(r"laptop ?last heard (1[4-9]|[2-5]\d) s ago"))
        machines.show(LAPTOP, paused=True)
        await expect(row).to_contain_text("laptoppaused")
        machines.show(LAPTOP, skew_ms=-185_000)
        await expect(row).to_contain_text("laptopclock is off")
        machines.show(LAPTOP, storage_problem="The disk is full.")
        await expect(row).to_contain_text("laptopdisk full")
        for problem, word in (
            (errors.FULL, "database is full"),
            (errors.READ_ONLY, "database is read-only"),
            (errors.AWAY, "no database"),
        ):
            machines.show(LAPTOP, storage_problem=problem.format(why="the server says why"))
            await expect(row).to_contain_text(f"laptop{word}")
        machines.show(LAPTOP, needs_update=True, online=False, state="away")
        await expect(row).to_contain_text("laptopneeds an update")
        await row.click()
        items = page.get_by_role("dialog", name="Machines").locator("li")
        await expect(items).to_have_count(2)
        await expect(items.nth(0)).to_contain_text("tower")
        await expect(items.nth(0)).to_contain_text("Claude Code, Codex")
        await expect(items.nth(1)).to_contain_text("OpenCode")
        await expect(items.nth(1)).to_contain_text("too old to talk to. Update it there.")
        # It follows while it is open, and opens the settings by keyboard.
        machines.show(LAPTOP)
        await expect(items.nth(1)).to_contain_text("connected")
        await is_sound(tab, size)
        await page.get_by_role("button", name="Manage machines").press("Enter")
        await expect(page.get_by_role("heading", name="Machines")).to_be_visible()


@SIZES
@pytest.mark.row("R7")
async def test_agents_and_folders_follow_the_machine_that_is_chosen_for_a_start(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        tab = await open_page(browser, machines, "/", size)
        page, machine = tab.page, tab.page.locator("button.k-device")
        await expect(machine).to_contain_text("tower")
        await page.get_by_label("Task").fill("Port the lexer, at once")
        await machine.click()
        await page.get_by_role("menuitemradio", name="laptop").click()
        await expect(machine).to_contain_text("laptop")
        await page.locator(".screen-start .k-agent").click()
        await expect(page.get_by_role("menuitemradio")).to_have_text(["Claude Code2.0.9", "OpenCode0.9.1"])
        await page.get_by_role("menuitemradio", name="OpenCode").click()
        await page.locator(".screen-start .k-folder").click()
        await expect(page.get_by_role("menu")).to_contain_text("/code/lantern")
        await expect(page.get_by_role("menu")).not_to_contain_text("tidechart")
        await page.keyboard.press("Escape")
        await is_sound(tab, size)
        await page.locator(".start__go").click()
        await until(lambda: any(isinstance(one, StartSession) for one in machines.laptop.commands))
        begun = next(one for one in machines.laptop.commands if isinstance(one, StartSession))
        assert (begun.agent, begun.cwd) == ("opencode", "/code/lantern")
        assert not [one for one in machines.hub.device.commands if isinstance(one, StartSession)]


@pytest.mark.row("R7")
async def test_a_machine_that_is_away_or_paused_is_not_offered_for_a_start_and_says_why(
    tmp_path: Path, browser: Browser
) -> None:
    async with two_machines(tmp_path) as machines:
        tab = await open_page(browser, machines, "/")
        page, machine = tab.page, tab.page.locator("button.k-device")
        await machine.click()
        await page.get_by_role("menuitemradio", name="laptop").click()
        await page.get_by_label("Task").fill("Port the lexer")
        await expect(page.locator(".start__go")).to_be_enabled()
        # It goes away while it is chosen: the text stays, and the button waits.
        machines.cut()
        await expect(page.locator(".start__block .error-message")).to_contain_text("laptop: away")
        await expect(page.locator(".start__go")).to_be_disabled()
        await expect(page.get_by_label("Task")).to_have_value("Port the lexer")
        await machine.click()
        laptop = page.get_by_role("menuitemradio", name="laptop")
        await expect(laptop).to_have_attribute("aria-disabled", "true")
        await expect(laptop).to_contain_text("Nothing can be started there until it is back")
        await page.get_by_role("menuitemradio", name="tower").click()
        await expect(page.locator(".start__go")).to_be_enabled()
        await machine.click()
        await laptop.click(force=True)
        await expect(machine).to_contain_text("tower")
        await page.keyboard.press("Escape")
        machines.connect()
        machines.show(LAPTOP, paused=True)
        await expect(indicator(page)).to_contain_text("laptoppaused")  # a menu shows what the page knew then
        await machine.click()
        await expect(laptop).to_contain_text("paused. It accepts no new sessions")
        assert tab.errors == []


@SIZES
@pytest.mark.row("R11")
async def test_a_machine_that_goes_away_is_said_in_its_sessions_only_and_everything_comes_back(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        tab = await open_page(browser, machines, "/sessions/parser", size)
        page, banner, card = tab.page, tab.page.locator(".banner"), tab.page.locator(".away.card")
        await tab.says("The grammar is half done.")
        await page.locator("#message").fill("And the lexer?")
        cut_at = datetime.datetime.now()
        with within(1):
            machines.cut()
            await tab.told("laptop is away\\.")
        await expect(banner).to_contain_text(
            re.compile(r"Last heard \d+ s ago; what it wrote so far is here\.")
        )
        # Readable; the text is kept, and nothing is sent.
        await tab.says("The grammar is half done.")
        await expect(page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
        await page.locator("#message").press("Enter")
        await expect(page.locator("#message")).to_have_value("And the lexer?")
        await expect(page.locator(".under")).to_contain_text(
            "nothing can be sent there right now. Your text is kept."
        )
        await is_sound(tab, size)
        await page.get_by_role("button", name="More", exact=True).click()
        await page.get_by_role("menuitem", name="End session").click()
        await expect(page.locator(".confirm")).to_contain_text(
            "It ends this session first thing when it is back"
        )
        await page.locator(".confirm").get_by_role("button", name="Cancel").click()
        # A session of the other machine knows nothing of it, nor does another screen.
        await tab.turn_to("/sessions/uploads")
        await expect(page.locator(".session-bar__name p")).to_contain_text("tower")
        await expect(banner).to_have_count(0)
        for path in ("/inbox", "/search"):
            await tab.turn_to(path)
            await expect(page.locator(".missing-note:visible")).to_contain_text("laptop is away")
        await tab.turn_to("/sessions/parser")
        await page.clock.set_system_time(cut_at + datetime.timedelta(seconds=130))
        await expect(card.locator("h2")).to_have_text("laptop has been away for 2 minutes")
        await expect(card.locator("code")).to_have_text(["bascule daemon status", "bascule daemon start"])
        await is_sound(tab, size)
        await card.get_by_role("button", name="Try now").click()
        machines.connect()
        await expect(card).to_have_count(0)
        await expect(banner).to_have_count(0)
        await expect(page.locator("#message")).to_have_value("And the lexer?")
        await page.get_by_role("button", name="Send", exact=True).click()
        await until(lambda: any(isinstance(one, SendPrompt) for one in machines.laptop.commands))


@SIZES
@pytest.mark.row("R3", "R20")
async def test_a_machine_is_renamed_paused_and_forgotten_in_the_settings(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        tab = await open_page(browser, machines, "/settings/devices", size)
        page = tab.page
        card = page.locator(f".machine[data-key={LAPTOP}]")
        for words in ("OpenCode 0.9.1", "/srv/code", "Port the parser", "yes, as a service"):
            await expect(card.locator(".facts")).to_contain_text(words)
        here = page.locator(f".machine[data-key={TOWER}]")
        await expect(here).to_contain_text("this server")
        await expect(here.get_by_role("button", name="Forget")).to_have_count(0)
        await is_sound(tab, size)
        await card.get_by_role("button", name="Rename").click()
        await page.get_by_label("Name of the machine").fill("Mira’s laptop")
        await page.keyboard.press("Enter")
        await expect(card.locator("h3")).to_have_text("Mira’s laptop")
        await card.get_by_role("button", name="Pause").click()
        await tab.told("Mira’s laptop accepts no new sessions.")
        assert [one.paused for one in machines.laptop.commands if isinstance(one, PauseDevice)] == [True]
        assert not [one for one in machines.hub.device.commands if isinstance(one, PauseDevice)]
        # One that is connected would be back at once; one that is away can be forgotten.
        await card.get_by_role("button", name="Forget").click()
        await tab.told("is connected. Run “bascule daemon leave” there first")
        machines.cut(3600)
        await expect(card.locator(".machine-state")).to_contain_text("away 1 h")
        await card.get_by_role("button", name="Forget").click()
        sure = page.get_by_role("dialog", name="Forget Mira’s laptop?")
        await expect(sure).to_contain_text("Its sessions stay here to read; they can’t be continued.")
        await is_sound(tab, size)
        await sure.get_by_role("button", name="Forget it").click()
        await expect(card).to_have_count(0)
        await tab.turn_to("/sessions/parser")
        await tab.says("The grammar is half done.")
        await expect(page.locator(".session-bar__name p")).to_contain_text("a removed machine")
        assert tab.errors == []


@SIZES
@pytest.mark.row("R3")
async def test_a_machine_that_asks_to_join_is_announced_everywhere_and_let_in_by_its_code(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    asked = PairingBody(
        device="device-3", name="attic", user="mira", version="0.1.0", agents=("claude-code", "codex")
    )
    async with two_machines(tmp_path) as machines:
        tab = await open_page(browser, machines, "/sessions/uploads", size)
        page, banner = tab.page, tab.page.locator(".banner")
        await tab.says("Parts are only")
        pairing, _ = machines.hub.services.pairings.ask(asked, "10.0.0.7")
        await expect(banner).to_contain_text(f"attic asks to join. Its code is {pairing.code}.")
        await banner.get_by_role("button", name="Review").click()
        card = page.locator(".pairing")
        for words in (
            pairing.code,
            "mira",
            "10.0.0.7",
            "claude-code, codex",
            "Its terminal must show this code",
        ):
            await expect(card).to_contain_text(words)
        await expect(banner).to_have_count(0)
        await expect(page.locator(".add-machine")).to_contain_text("bascule daemon join")
        await expect(card.get_by_label("It is")).to_have_count(0)  # nobody is away
        await is_sound(tab, size)
        await card.get_by_role("button", name="The codes match, allow").click()
        await expect(card).to_have_count(0)
        assert pairing.state == "allowed"
        other, _ = machines.hub.services.pairings.ask(asked, "10.0.0.7")
        await card.get_by_role("button", name="Deny").click()
        await tab.told("attic was not let in.")
        assert other.state == "denied"
        machines.cut(3600)
        again, _ = machines.hub.services.pairings.ask(asked, "10.0.0.7")
        await card.get_by_label("It is").select_option("laptop, reinstalled")
        await is_sound(tab, size)
        await card.get_by_role("button", name="The codes match, allow").click()
        await expect(card).to_have_count(0)
        assert (again.state, again.replaces) == ("allowed", LAPTOP)


@pytest.mark.row("R20")
async def test_stopping_everything_says_what_became_of_it_on_each_machine(
    tmp_path: Path, browser: Browser
) -> None:
    async with two_machines(tmp_path) as machines:
        tab = await open_page(browser, machines, "/settings/general")
        page = tab.page
        await page.get_by_role("button", name="Stop everything").click()
        await expect(page.get_by_role("alertdialog")).to_contain_text("on 2 machines now?")
        await page.get_by_role("alertdialog").get_by_role("button", name="Stop everything").click()
        result = page.locator(".outcomes li")
        await expect(result).to_have_text(["tower: 2 agents stopped.", "laptop: 2 agents stopped."])
        assert [one for one in machines.laptop.commands if isinstance(one, EndAll)]
        await page.get_by_role("button", name="Done").click()
        machines.cut()
        await page.get_by_role("button", name="Stop everything").click()
        await expect(page.get_by_role("alertdialog")).to_contain_text("laptop is away.")
        await page.get_by_role("alertdialog").get_by_role("button", name="Stop everything").click()
        await expect(result.nth(1)).to_have_text(
            re.compile(r"laptop: (will stop when it is back|not stopped\. laptop is away)\.")
        )
        assert await serious(tab) == []
        assert tab.errors == []
