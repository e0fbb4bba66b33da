"""A real session bus with a notification service: what a start from elsewhere shows, and its buttons."""

import asyncio
import webbrowser
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.daemon.lying_hub import LyingHub
from tests.daemon.running_daemon import RunningDaemon, running_daemon
from tests.notify.notification_service import needs_bus, notification_service, session_bus
from tests.notify.requests import NOTICE
from tests.waiting import PATIENCE

from bascule.model.commands import Actor, StartSession
from bascule.model.events import SessionEnded, TurnEnded
from bascule.model.settings import StartsSettings
from bascule.notify import desktop
from bascule.notify.channels import Channel
from bascule.notify.delivery import Sender
from bascule.notify.web_push import PushKeys
from bascule.this_machine import start_notices

pytestmark = [pytest.mark.anyio, needs_bus]

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0 Safari/537.36"
ANA = Actor("ana", "grant-1", "192.168.1.5", CHROME)


@pytest.fixture
async def bus(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    desktop.forget()
    # On a busy machine a bus of our own, and the package that is loaded for the first time, may take longer.
    monkeypatch.setattr(desktop, "SERVICE_SECONDS", PATIENCE)
    async with session_bus() as address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        yield address
        desktop.forget()  # before its bus is gone


async def with_notices(daemon: RunningDaemon, **starts: str) -> LyingHub:
    settings = replace(daemon.settings, starts=StartsSettings(**starts))  # pyright: ignore[reportArgumentType]
    daemon.settings, daemon.notices = settings, start_notices(settings, "here", "http://127.0.0.1:1")
    await daemon.restart()
    hub = LyingHub(daemon)
    hub.welcome()
    return hub


def start(daemon: RunningDaemon, session_id: str, prompt: str) -> StartSession:
    return StartSession(session_id=session_id, agent="mini", cwd=str(daemon.work), prompt=prompt)


@pytest.mark.row("R14")
async def test_a_start_is_shown_on_the_desktop_and_its_buttons_open_the_page_and_end_the_session(
    bus: str, short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = short_dir / "opened"
    browser = short_dir / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", str(browser))
    monkeypatch.setattr(webbrowser, "_tryorder", None)
    async with notification_service(bus) as service, running_daemon(short_dir) as daemon:
        hub = await with_notices(daemon, approval="notify_only")
        words = "Help me <a href='http://evil'>with</a> user auth"
        for session_id in ("s1", "s2"):
            assert (await hub.ask(start(daemon, session_id, words), ANA))[0] == ""
        first, second = await service.next(), await service.next()
        assert first.title == "Session started on here"
        lines = first.body.split("\n")
        assert lines[0] == f"mini (relay) in {daemon.work}"
        assert lines[1] == "“Help me &lt;a href='http://evil'&gt;with&lt;/a&gt; user auth”"
        assert lines[2] == "ana, Chrome on Linux (192.168.1.5, by office hub)"
        assert {"View", "End"} <= set(first.buttons)
        assert first.milliseconds == 30_000
        await service.press(first, "View")
        async with asyncio.timeout(PATIENCE):
            while not opened.exists():  # noqa: ASYNC110 - another program's file
                await asyncio.sleep(0.01)
        assert opened.read_text() == "http://127.0.0.1:1/sessions/s1"
        await service.press(second, "End")
        assert (await daemon.until(SessionEnded, "s2")).reason == "user_terminated"
        assert "s1" in daemon.host.sessions.live


@pytest.mark.row("R14", "R17")
async def test_a_start_that_waits_is_approved_and_denied_on_the_desktop(bus: str, short_dir: Path) -> None:
    async with notification_service(bus) as service, running_daemon(short_dir) as daemon:
        hub = await with_notices(daemon, approval="local_confirm")
        await hub.ask(start(daemon, "s1", "hello"), ANA)
        asked = await service.next()
        assert asked.title == "Allow a session on here?"
        assert asked.milliseconds == 300_000
        await service.press(asked, "Approve")
        await daemon.until(TurnEnded, "s1")
        await hub.ask(start(daemon, "s2", "hello"), ANA)
        await service.press(await service.next(), "Deny")
        await hub.until(lambda state: [one.state for one in state.starts.waiting] == ["denied"])
        assert set(daemon.host.sessions.live) == {"s1"}


@pytest.mark.row("R14")
async def test_a_bus_without_the_service_is_no_error_and_a_later_one_is_used(
    bus: str, short_dir: Path
) -> None:
    async with running_daemon(short_dir) as daemon:
        hub = await with_notices(daemon, approval="notify_only")
        assert (await hub.ask(start(daemon, "s1", "hello"), ANA))[0] == ""
        await daemon.until(TurnEnded, "s1")
        async with notification_service(bus) as service:
            assert (await hub.ask(start(daemon, "s2", "hello"), ANA))[0] == ""
            assert (await service.next()).title == "Session started on here"


@pytest.mark.row("X2")
async def test_a_notice_comes_to_the_servers_desktop_with_its_command_only_where_that_is_switched_on(
    bus: str, tmp_path: Path
) -> None:
    keys = PushKeys(tmp_path, "mailto:ana@example.org", lambda: 1.0)
    sender = Sender(keys, lambda: "https://b.example", lambda: bytes(32), (), lambda: 1.0, ())
    channel = Channel(id="desktop", type="desktop", name="Desktop")
    async with notification_service(bus) as service:
        await sender.send(channel, NOTICE, may_deny=True)
        shown = await service.next()
        assert (shown.title, shown.body, set(shown.buttons) - {""}) == (NOTICE.title, NOTICE.body, set())
        await sender.send(replace(channel, show_commands=True), NOTICE, may_deny=True)
        assert (await service.next()).body == NOTICE.detail
