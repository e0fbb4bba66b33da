"""When the server or a device goes away: said at once, kept as it was, with what to do after two minutes."""

import asyncio
import datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Route, expect
from tests.live import LiveServer
from tests.waiting import PATIENCE, stretched
from tests.web.chrome import needs_chromium, open_tab
from tests.web.lantern import LanternDevice, lantern, said, tell

from bascule import __version__
from bascule.link.frames import DaemonConnected
from bascule.model.events import TitleChanged, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

# When the page's connection closed, and when the page said so, both by the page's own clock.
NOTE_LOSS = """() => {
  if (window !== top) return;
  const loss = (window.loss = { closed: 0, said: 0 });
  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener('close', () => { loss.closed ||= performance.now(); });
    }
  };
  const look = () => {
    if (/Trying again/.test(document.querySelector('.banner')?.textContent)) loss.said ||= performance.now();
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
}"""
PRESS = "(cards) => cards.forEach((one) => one.querySelector('button.is-primary').click())"


@pytest.mark.row("R11")
async def test_a_lost_server_is_counted_then_explained_and_a_restart_is_said(
    server: LiveServer, browser: Browser
) -> None:
    session = await server.create("think")
    await server.wait_for(session, TurnEnded)
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    page, banner, card = tab.page, tab.page.locator(".banner"), tab.page.locator(".away.card")
    await tab.says("I have thought")
    await expect(page.locator(".pill")).to_have_text("Ready")
    await server.kill()
    # Said at once, with the count of tries; the transcript stays. The first try is made at once, too.
    await tab.told("Trying again, second time")
    await page.get_by_role("button", name="Try now").click()
    await tab.told("Trying again, (third|fourth|fifth) time")  # the next may follow at once
    await tab.says("I have thought")
    await expect(tab.well.locator(".gap-line.lost")).to_contain_text("Last word from")
    # After two minutes: what to run there
    await page.clock.set_system_time(datetime.datetime.now() + datetime.timedelta(seconds=125))
    await expect(card.locator("h2")).to_contain_text("has been away for 2 minutes")
    await expect(card.locator("code")).to_have_text(
        ["bascule doctor", "bascule", f"bascule sessions show {session} --follow"]
    )
    await expect(banner).to_have_count(0)
    await page.locator(".searchbox").click()
    await page.keyboard.type("Inbox")
    await page.keyboard.press("Enter")
    await expect(banner).to_contain_text("bascule doctor")
    await page.go_back()
    # Back: said, and what was lost on the way is not lost
    await server.start()
    await card.evaluate_all(PRESS)  # unless the page tried by itself just now
    await expect(card).to_have_count(0)
    await tab.told("Bascule was restarted. Agents kept working.")
    await page.locator("#message").fill("think")
    await page.keyboard.press("Enter")
    await expect(tab.well.locator("#col").get_by_text("I have thought about it")).to_have_count(2)
    assert tab.errors == []


@pytest.mark.row("R11")
async def test_a_lost_server_is_said_within_a_second(server: LiveServer, browser: Browser) -> None:
    session = await server.create("think")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.page.add_init_script(f"({NOTE_LOSS})()")
    await tab.page.reload()
    await tab.says("I have thought")
    await expect(tab.page.locator(".pill")).to_have_text("Ready")
    with stretched() as busy:
        await server.kill()
        await tab.page.wait_for_function("() => loss.closed && loss.said")
    loss = await tab.page.evaluate("loss")
    assert 0 <= loss["said"] - loss["closed"] < 1000 * max(busy), loss
    assert tab.errors == []


@pytest.mark.row("R11")
async def test_two_tries_at_once_are_one_connection_and_the_restart_is_still_said(
    server: LiveServer, browser: Browser
) -> None:
    session = await server.create("think")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("I have thought")
    sockets: list[str] = []
    tab.page.on("websocket", lambda socket: sockets.append(socket.url))
    await server.kill()
    await tab.told("Trying again, second time")
    # The next two tries both wait for their ticket; the first of them gets it when the second has begun.
    held: list[Route] = []
    more = asyncio.Event()

    released = False

    async def hold(ticket: Route) -> None:
        if released:
            await ticket.continue_()
            return
        held.append(ticket)
        more.set()

    await tab.page.route("**/api/tickets", hold)
    await server.start()
    for count in (1, 2):
        await tab.page.evaluate("dispatchEvent(new Event('online'))")
        async with asyncio.timeout(PATIENCE):
            while len(held) < count:
                more.clear()
                await more.wait()
    released = True
    while held:
        await held.pop(0).continue_()
    await tab.page.unroute("**/api/tickets")
    await tab.told("Bascule was restarted. Agents kept working.")
    await expect(tab.page.locator(".banner.warn")).to_have_count(0)
    assert len(sockets) == 1
    assert tab.errors == []


@pytest.mark.row("R11")
async def test_a_device_that_goes_away_while_the_page_loads_is_said_and_a_title_changed_then_is_shown(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, pushed, answer = asyncio.Event(), asyncio.Event(), asyncio.Event()
    received: list[str] = []

    def receive(frame: str | bytes) -> None:
        received.append(str(frame))
        if all(any(words in one for one in received) for words in ('"agent:status"', "Renamed meanwhile")):
            pushed.set()

    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/flaky")
        await tab.says("Running the sync tests")
        list_projects = hub.services.projects.list

        async def list_late() -> Any:
            asked.set()
            await answer.wait()
            return await list_projects()

        monkeypatch.setattr(hub.services.projects, "list", list_late)
        tab.page.on("websocket", lambda socket: socket.on("framereceived", receive))
        await tab.page.reload()
        await asyncio.wait_for(asked.wait(), PATIENCE)
        hub.device.line.closed()
        await tell(hub.store, "flaky", [TitleChanged("Renamed meanwhile", "Mira")])
        await asyncio.wait_for(pushed.wait(), PATIENCE)
        answer.set()
        await expect(tab.page.locator(".banner")).to_contain_text("tower is away.")
        await expect(tab.page.locator("h1:visible")).to_have_text("Renamed meanwhile")
        assert tab.errors == []


@pytest.mark.row("R11")
async def test_a_device_that_goes_away_and_a_server_that_was_updated_are_said(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/flaky")
        page, banner = tab.page, tab.page.locator(".banner")
        await tab.says("Running the sync tests")
        await expect(banner).to_have_count(0)
        hub.device.line.closed()
        await expect(banner).to_contain_text("tower is away.")
        await expect(page.locator(".device-row")).to_contain_text("away")
        await page.clock.set_system_time(datetime.datetime.now() + datetime.timedelta(minutes=3))
        await expect(page.locator(".away.card h2")).to_have_text("tower has been away for 3 minutes")
        hub.device = LanternDevice(hub.store, hub.services.switchboard)
        hub.device.line.receive(DaemonConnected("device-1", "tower", "0.1.0", ()))
        await expect(page.locator(".away.card")).to_have_count(0)
        await tell(hub.store, "flaky", said("m2", "It failed at run 61."))
        await tab.says("It failed at run 61.")
        # Another version answers after a reconnect: the page offers to load itself again, and keeps the draft
        await page.locator("#message").fill("half a thought")
        monkeypatch.setattr("bascule.hub.live.subscriptions.__version__", "9.9.9")
        hub.services.open_streams.shut_down()
        hub.services.open_streams.closing = False
        await page.evaluate("dispatchEvent(new Event('online'))")
        await expect(banner).to_contain_text("Bascule is now 9.9.9. This page is from the version before.")
        assert __version__ != "9.9.9"
        await page.get_by_role("button", name="Reload").click()
        await expect(banner).to_have_count(0)
        await expect(page.locator("#message")).to_have_value("half a thought")
        assert tab.errors == []
