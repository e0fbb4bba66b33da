"""Starts that need approval or a signature, caps and loops in a browser, with machines that really ask."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.async_api import Browser, Page, expect
from tests.cli.program import bascule
from tests.daemon.scripted import MINI
from tests.live import LIMITS
from tests.machines.machines import Hub, Machine
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, PHONE, Tab, needs_chromium, open_tab

from bascule.model.events import GuardAsked, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1440x900", "390x844"])
WIDER = "document.documentElement.scrollWidth > innerWidth"


class Room(NamedTuple):
    hub: Hub
    laptop: Machine  # asks its person before each start from elsewhere
    tower: Machine  # takes signed starts only; stops at $2, and at the third same call


@pytest.fixture(scope="module")
async def room(module_dir: Path) -> AsyncIterator[Room]:
    async with AsyncExitStack() as closing:
        hub = await closing.enter_async_context(Hub(_folder(module_dir, "h")))
        laptop = _machine(module_dir, "laptop", LIMITS, "local_confirm")
        tower = _machine(
            module_dir, "tower", f"{LIMITS}session_cents = 200\nloop_repeats = 3\n", "trusted_browsers"
        )
        tower.add_agent("mini", MINI)
        for one in (laptop, tower):
            await one.join(hub)
            await closing.enter_async_context(one)
            await hub.until_device(one.device, online=True)
            # Its folder is offered from now on. Who sits at the machine is not asked.
            await hub.wait_for(await one.create("count 1"), TurnEnded)
        yield Room(hub, laptop, tower)


def _folder(below: Path, name: str) -> Path:
    made = below / name
    made.mkdir(mode=0o700)
    return made


def _machine(below: Path, name: str, limits: str, approval: str) -> Machine:
    config = f'device_name = "{name}"\n{limits}[starts]\napproval = "{approval}"\n'
    return Machine(_folder(below, name[0]), f"d-{name}", config=config)


async def start(page: Page, machine: str) -> None:
    """By the hub's page, with the demo agent."""
    await page.get_by_label("Task").fill("count 3")
    await page.locator("button.k-device").click()
    await page.get_by_role("menuitemradio", name=machine).click()
    await page.locator(".screen-start .k-agent").click()
    await page.get_by_role("menuitemradio", name="Demo").first.click()
    await page.locator(".screen-start .k-folder").click()
    await page.get_by_role("menu").get_by_text("work").first.click()
    await page.locator(".start__go").click()


async def is_sound(tab: Tab) -> None:
    assert await serious(tab) == []
    assert not await tab.page.evaluate(WIDER)
    assert tab.errors == []


@SIZES
@pytest.mark.row("R17")
async def test_a_start_waits_for_the_command_that_the_page_names_and_is_denied_or_approved_by_it(
    room: Room, browser: Browser, size: Any
) -> None:
    tab = await open_tab(browser, room.hub.url, room.hub.token, path="/", size=size)
    page, waiting = tab.page, tab.page.locator(".going")
    command = waiting.locator("code")
    await start(page, "laptop")
    await expect(waiting.locator("h1")).to_contain_text("Waiting for approval on laptop…")
    await is_sound(tab)
    _, *approve = (await command.inner_text()).split()
    assert approve[:2] == ["starts", "approve"]
    listed = (await bascule(room.laptop.data, "starts", "list")).out
    assert f"{approve[2]}  demo (relay) in {room.laptop.work}" in listed
    denied = await bascule(room.laptop.data, "starts", "deny", approve[2])
    assert (denied.code, denied.out) == (0, "Denied.\n")
    failed = page.locator(".failure-card")
    await expect(failed).to_contain_text("Denied on laptop.")
    await expect(page.get_by_label("Task")).to_have_value("count 3")
    before = len(await room.laptop.sessions())
    # Once more: the person at the machine has changed their mind.
    await failed.get_by_role("button", name="Try again").click()
    await expect(command).not_to_have_text(f"bascule starts approve {approve[2]}")
    _, *approve = (await command.inner_text()).split()
    approved = await bascule(room.laptop.data, *approve)
    assert (approved.code, approved.out) == (0, "Started.\n")
    await expect(page).to_have_url(re.compile("/sessions/"))
    await tab.says("1 2 3")
    assert len(await room.laptop.sessions()) == before + 1
    assert tab.errors == []


@SIZES
@pytest.mark.row("R17")
async def test_a_browser_is_refused_until_it_was_given_the_code_that_the_machine_made(
    room: Room, browser: Browser, size: Any
) -> None:
    tab = await open_tab(browser, room.hub.url, room.hub.token, path="/", size=size)
    page = tab.page
    await start(page, "tower")
    refused = page.locator(".failure-card")
    await expect(refused).to_contain_text("Run there: bascule trust generate --browser NAME")
    await is_sound(tab)
    made = await bascule(
        room.tower.data, "trust", "generate", "--browser", f"{size['width']} wide", "--no-qr"
    )
    assert made.code == 0, made
    await tab.turn_to("/settings/devices")
    card = page.get_by_role("region", name="tower", exact=True)
    await card.get_by_role("button", name="Trust this browser").click()
    field = card.get_by_label("Code that tower shows")
    await field.fill(made.out.strip())
    await field.press("Enter")
    await expect(card).to_contain_text("this browser signs its own")
    await tab.turn_to("/")
    await start(page, "tower")
    await expect(page).to_have_url(re.compile("/sessions/"))
    await tab.says("1 2 3")
    assert tab.errors == []


@SIZES
@pytest.mark.row("R15")
async def test_at_a_cap_the_agent_stops_and_what_waits_is_sent_once_the_owner_raised_it(
    room: Room, browser: Browser, size: Any
) -> None:
    session = await room.tower.create("spend 170", agent="mini")
    tab = await open_tab(browser, room.tower.url, room.tower.token, path=f"/sessions/{session}", size=size)
    await tab.says("$1.70 of $2.00 are spent for this session. At $2.00 the agent is stopped.")
    await room.tower.send(session, "spend 205")
    card = tab.page.locator(".guard-card")
    await expect(card).to_contain_text("$2.05 of $2.00 are spent for this session: the limit is reached.")
    await is_sound(tab)
    await room.tower.send(session, "hello")
    await card.get_by_label("Raise to $").fill("3.50")
    await card.get_by_role("button", name="Raise and continue").click()
    await tab.says("you said hello")
    await expect(card).to_have_count(0)
    assert tab.errors == []


@SIZES
@pytest.mark.row("R15")
async def test_an_agent_that_goes_in_circles_is_stopped_and_goes_on_when_it_is_let(
    room: Room, browser: Browser, size: Any
) -> None:
    session = await room.tower.create("loop 3", agent="mini")
    await room.tower.wait_for(session, GuardAsked)
    tab = await open_tab(browser, room.tower.url, room.tower.token, path="/inbox", size=size)
    row = tab.page.get_by_role("option", name=re.compile("Going in circles"))
    await expect(row).to_contain_text("Bash was called 3 times with the same input")
    await is_sound(tab)
    await tab.turn_to(f"/sessions/{session}")
    card = tab.page.locator(".guard-card")
    await card.get_by_role("button", name="Let it continue").click()
    await tab.says("you said")
    await expect(card).to_have_count(0)
    assert tab.errors == []
