"""REMOTE's flows in a browser: a hub and two machines as real processes, one behind a line that is cut."""

import asyncio
import datetime
import os
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.async_api import Browser, expect
from tests.live import LIMITS
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.relay import Relay, relay
from tests.waiting import PATIENCE, within
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, PHONE, Tab, needs_chromium, open_tab

from bascule.model.events import AnyEvent, PermissionAnswered, PermissionRequested, SessionEnded, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1440x900", "390x844"])
SHOTS = os.environ.get("BASCULE_TEST_SHOTS", "")  # a folder for pictures of each state, to be looked at
WIDER = "document.documentElement.scrollWidth > innerWidth"


class Room(NamedTuple):
    hub: Hub
    tower: Machine
    laptop: Machine
    line: Relay  # between the laptop and the hub

    async def start(self, machine: Machine, prompt: str) -> str:
        body = {"agent": "demo", "cwd": str(machine.work), "prompt": prompt, "device": machine.device}
        answer = await self.hub.http.post("/api/sessions", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["id"]

    async def asked(self, machine: Machine) -> tuple[str, PermissionRequested]:
        """A session whose agent waits for an answer."""
        session = await self.start(machine, "run")
        row = await self.hub.wait_for(session, PermissionRequested)
        assert isinstance(row.event, PermissionRequested)
        return session, row.event

    async def gone(self) -> None:
        self.line.cut()
        await self.hub.until_device("d-laptop", online=False)

    async def back(self) -> None:
        self.line.mend()
        await self.hub.until_device("d-laptop", online=True)


async def begin(folder: Path, name: str, hub: Hub, url: str | None = None) -> Machine:
    below = folder / name[0]
    below.mkdir(mode=0o700)
    machine = Machine(below, f"d-{name}", config=f'device_name = "{name}"\n{LIMITS}')
    await machine.join(hub, url)
    return machine


@pytest.fixture(scope="module")
async def started(module_dir: Path) -> AsyncIterator[Room]:
    async with AsyncExitStack() as closing:
        line = await closing.enter_async_context(relay())
        folder = module_dir / "h"
        folder.mkdir(mode=0o700)
        config = f'allowed_hosts = ["{line.host}"]\n{LIMITS}'
        hub = await closing.enter_async_context(Hub(folder, config=config))
        line.target = hub.url
        tower = await closing.enter_async_context(await begin(module_dir, "tower", hub))
        laptop = await closing.enter_async_context(await begin(module_dir, "laptop", hub, line.url))
        for device in ("d-tower", "d-laptop"):
            await hub.until_device(device, online=True)
        yield Room(hub, tower, laptop, line)


@pytest.fixture
async def room(started: Room) -> AsyncIterator[Room]:
    yield started
    await started.back()
    await started.hub.clear()


async def open_page(browser: Browser, room: Room, path: str, size: Any) -> Tab:
    return await open_tab(browser, room.hub.url, room.hub.token, path=path, size=size)


async def look(tab: Tab, name: str) -> None:
    """Nothing serious for axe, nothing wider than the window, no error. A picture, if asked for."""
    if SHOTS:
        width = await tab.page.evaluate("innerWidth")
        await tab.page.screenshot(path=f"{SHOTS}/{name}-{width}.png")
    assert await serious(tab) == []
    assert not await tab.page.evaluate(WIDER)
    assert tab.errors == []


def is_end(event: AnyEvent) -> bool:
    return isinstance(event, SessionEnded)


@SIZES
@pytest.mark.row("R1", "R3", "R7")
async def test_both_machines_are_listed_and_a_session_starts_on_the_one_that_is_chosen(
    room: Room, browser: Browser, size: Any
) -> None:
    tab = await open_page(browser, room, "/settings/devices", size)
    page = tab.page
    card = page.locator(".machine[data-key=d-laptop]")
    await expect(card).to_contain_text("laptop")
    await expect(card).to_contain_text("connected")
    await expect(card.locator("[data-key='Starts automatically']")).to_contain_text("no, started by hand")
    await expect(card.locator("[data-key=Folders]")).to_contain_text(str(room.laptop.folder))
    await look(tab, "machines")
    first = await room.start(room.laptop, "count 1")  # its folder is offered from now on
    await room.hub.wait_for(first, TurnEnded)
    await tab.go("/")
    await page.get_by_label("Task").fill("count 3")
    await page.locator("button.k-device").click()
    await page.get_by_role("menuitemradio", name="laptop").click()
    await page.locator(".screen-start .k-agent").click()
    await page.get_by_role("menuitemradio", name="Demo").first.click()
    await page.locator(".screen-start .k-folder").click()
    await page.get_by_role("menu").get_by_text("work").first.click()
    await look(tab, "start")
    await page.locator(".start__go").click()
    await expect(page.locator(".session-bar__name p")).to_contain_text("laptop")
    await tab.says("1 2 3")
    await look(tab, "session")
    assert [one["device"] for one in await room.hub.sessions()] == ["d-laptop", "d-laptop"]
    assert await room.tower.sessions() == []


@SIZES
@pytest.mark.row("R11")
async def test_a_cut_line_is_said_at_once_counted_and_over_when_the_machine_is_back(
    room: Room, browser: Browser, size: Any
) -> None:
    session = await room.start(room.laptop, "count 3")
    ended = await room.hub.wait_for(session, TurnEnded)
    tab = await open_page(browser, room, f"/sessions/{session}", size)
    page, banner, card = tab.page, tab.page.locator(".banner"), tab.page.locator(".away.card")
    await expect(page.locator("#message")).to_be_visible()
    cut_at = datetime.datetime.now()
    with within(1.5):
        room.line.cut()
        await tab.told("laptop is away\\.")
    await expect(banner).to_contain_text("laptop is away.")
    await expect(banner).to_contain_text(re.compile(r"Last heard [1-9]\d* s ago"))
    await look(tab, "away")
    # The agent goes on meanwhile; after two minutes of the page's clock the card says what to do there.
    await room.laptop.send(session, "count 2")
    await room.laptop.wait_for(session, TurnEnded, ended.seq)
    await page.clock.set_system_time(cut_at + datetime.timedelta(seconds=130))
    await expect(card.locator("h2")).to_have_text("laptop has been away for 2 minutes")
    await expect(card.locator("code")).to_have_text(["bascule daemon status", "bascule daemon start"])
    await look(tab, "card")
    await card.get_by_role("button", name="Try now").click()
    await expect(card).to_be_visible()  # nothing is lost by trying: it is still away
    room.line.mend()
    await expect(card).to_have_count(0)
    await expect(banner).to_have_count(0)
    await room.hub.wait_for(session, TurnEnded, ended.seq)
    await equal_logs(room.hub, room.laptop, session)
    assert tab.errors == []


@SIZES
@pytest.mark.row("R11")
async def test_a_session_ended_while_its_machine_is_away_ends_when_it_is_back(
    room: Room, browser: Browser, size: Any
) -> None:
    session = await room.start(room.laptop, "count 3")
    await room.hub.wait_for(session, TurnEnded)
    tab = await open_page(browser, room, f"/sessions/{session}", size)
    page, card = tab.page, tab.page.locator(".away.card")
    await room.gone()
    await expect(page.locator(".banner")).to_contain_text("laptop is away.")
    await page.clock.set_system_time(datetime.datetime.now() + datetime.timedelta(seconds=130))
    await card.get_by_role("button", name="End session").click()
    await expect(page.locator(".confirm")).to_contain_text("It ends this session first thing when it is back")
    await look(tab, "end")
    await page.locator(".confirm").get_by_role("button", name="End session").click()
    await tab.told("laptop is away: it ends this session when it is back")
    assert not any(map(is_end, [row.event for row in await room.laptop.log(session)]))
    await room.back()
    await room.hub.wait_for(session, is_end)
    await expect(page.locator("#composer")).to_contain_text(re.compile("ended|Resume"))
    assert tab.errors == []


@SIZES
@pytest.mark.row("R9", "R11")
async def test_an_answer_waits_for_the_machine_can_be_taken_back_and_says_when_it_arrived(
    room: Room, browser: Browser, size: Any
) -> None:
    session, request = await room.asked(room.laptop)
    tab = await open_page(browser, room, f"/sessions/{session}", size)
    page, notes = tab.page, tab.page.locator("#requests .note")
    ask = page.locator(".request")
    await expect(ask).to_be_visible()
    await room.gone()
    deny = ask.get_by_role("button", name=re.compile("^Deny( D)?$"))
    await deny.click()
    await expect(notes).to_contain_text("Your answer is waiting for laptop.")
    await expect(ask).to_have_count(0)
    await look(tab, "waits")
    await notes.get_by_role("button", name="Take back").click()
    await expect(ask).to_be_visible()
    await deny.click()
    await expect(notes).to_contain_text("Your answer is waiting for laptop.")
    await tab.turn_to("/inbox")
    row = page.locator(f'.inbox-row[data-key="{session}/{request.request_id}"]')
    await expect(row).to_contain_text("Your answer is waiting for laptop")
    await look(tab, "inbox")
    await room.back()
    await expect(row).to_contain_text(re.compile(r"Denied, delivered to laptop \d+:\d\d"))
    await room.hub.wait_for(session, TurnEnded)
    events = [row.event for row in await room.laptop.log(session)]
    answers = [one for one in events if isinstance(one, PermissionAnswered)]
    assert [(one.request_id, one.decision) for one in answers] == [(request.request_id, "deny")]
    await look(tab, "delivered")


@SIZES
@pytest.mark.row("R20")
async def test_panic_stops_both_within_three_seconds_and_the_one_that_is_away_when_it_is_back(
    room: Room, browser: Browser, size: Any
) -> None:
    here, _ = await room.asked(room.tower)
    there, _ = await room.asked(room.laptop)
    tab = await open_page(browser, room, "/settings/devices", size)
    page = tab.page
    await expect(page.locator(".machine")).to_have_count(2)
    await room.gone()
    with within(4):
        await page.get_by_role("button", name="Stop everything").click()
        await page.get_by_role("alertdialog").get_by_role("button", name="Stop everything").click()
        await room.hub.wait_for(here, is_end)
    await expect(page.locator(".outcomes")).to_contain_text("laptop: will stop when it is back.")
    assert not any(map(is_end, [row.event for row in await room.laptop.log(there)]))
    await look(tab, "panic")
    await room.back()
    await room.hub.wait_for(there, is_end)
    assert tab.errors == []


@SIZES
@pytest.mark.row("R17")
async def test_an_allow_for_the_whole_session_is_the_machines_to_give_and_one_for_this_request_goes_through(
    room: Room, browser: Browser, size: Any
) -> None:
    session, request = await room.asked(room.laptop)
    tab = await open_page(browser, room, f"/sessions/{session}", size)
    ask = tab.page.locator(".request")
    await expect(ask.locator(".is-primary:enabled")).to_have_count(1)
    await expect(ask.locator(".scope")).to_have_count(0)
    await ask.get_by_role("button", name="Only once from here").click()
    await expect(tab.page.get_by_role("dialog", name="Only once from here")).to_contain_text(
        "laptop takes an answer for more than one request only on laptop itself"
    )
    await look(tab, "owner-needed")
    await tab.page.locator("#ask-title").click()
    # What the page does not offer is refused, too.
    longer = {"decision": "allow", "requestId": request.request_id, "remember": True}
    answer = await room.hub.http.post(f"/api/sessions/{session}/permissions", json=longer)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "OWNER_NEEDED")
    await tab.allow()
    answered = (await room.hub.wait_for(session, PermissionAnswered)).event
    assert isinstance(answered, PermissionAnswered)
    assert (answered.request_id, answered.decision, answered.rule) == (request.request_id, "allow", None)


@SIZES
@pytest.mark.row("R16")
async def test_the_audit_log_of_each_machine_can_be_chosen_and_usage_is_told_by_machine(
    room: Room, browser: Browser, size: Any
) -> None:
    for machine in (room.tower, room.laptop):
        await room.hub.wait_for(await room.start(machine, "count 2"), TurnEnded)
    async with asyncio.timeout(PATIENCE):
        while True:
            verdict = (await room.hub.http.get("/api/audit/verify")).json()
            if {one["name"] for one in verdict["copies"] if one["count"]} == {"tower", "laptop"}:
                break
            await asyncio.sleep(0.05)
    tab = await open_page(browser, room, "/settings/audit", size)
    page = tab.page
    await page.get_by_label("Whose audit log").select_option(label="laptop")
    await expect(page.locator(".audit tbody")).to_contain_text("Started")
    await expect(page.locator(".chain")).to_contain_text("Verified")
    await look(tab, "audit")
    await tab.turn_to("/settings/usage")
    cards = page.get_by_label("By machine").locator(".sum-card")
    await expect(cards).to_contain_text(["laptop", "tower"])
    await look(tab, "usage")
