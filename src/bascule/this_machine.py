"""This machine's daemon: made with the sessions that were running, joined to hubs here and elsewhere."""

import asyncio
import logging
import os
import time
import webbrowser
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from bascule.agents.catalogue import Catalogue
from bascule.agents.probes import mark_of, sweep_probes
from bascule.config.load import usual_data_folder
from bascule.daemon.device import Device
from bascule.daemon.host import Host
from bascule.daemon.launching.launching import Launcher, histories_of
from bascule.daemon.starts.start_notices import StartNotices
from bascule.hub.devices.switchboard import Switchboard
from bascule.link.frames import AnyFrame
from bascule.model.settings import Settings
from bascule.service.this_service import starts_by_itself, user_service
from bascule.store.comparisons import ComparisonBook
from bascule.store.limits import LimitsBook
from bascule.store.rules import RuleBook
from bascule.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from bascule.daemon.hub_lines.uplink import LineEnd, Send

log = logging.getLogger(__name__)


async def open_host(
    settings: Settings,
    store: SqliteStore,
    catalogue: Catalogue,
    limits: LimitsBook,
    device: Device,
    notices: StartNotices,
    hub_may_widen: Callable[[], bool],
) -> Host:
    """This machine's daemon, with the sessions that were running."""
    mark = mark_of(Path(settings.data_dir))
    left = await asyncio.to_thread(sweep_probes, mark)
    if left:
        log.info("ended %d programs that were only asked for their version", left)
    launcher = Launcher(catalogue, settings, dict(os.environ), mark)
    histories = tuple(histories_of(catalogue))
    books = (await RuleBook.open(store), ComparisonBook(store))
    clocks = (time.time, time.monotonic)
    host = Host(
        store,
        *books,
        launcher,
        settings,
        device,
        *clocks,
        histories,
        limits=limits,
        notices=notices,
        starts_by_itself=partial(_starts_by_itself, settings),
        hub_may_widen=hub_may_widen,
    )
    await host.open()
    return host


def start_notices(settings: Settings, device: str, url: str) -> StartNotices:
    """Links lead to this machine's own server: one that a hub served, the hub could press the button of."""
    public = (settings.public_url or url).rstrip("/")

    async def open_page(session_id: str) -> None:
        await asyncio.to_thread(webbrowser.open, f"{url}/sessions/{quote(session_id, safe='')}")

    def link(token: str) -> str:
        return f"{public}/#approve={token}"

    return StartNotices(settings.starts, device, show_on_desktop, link, open_page)


async def show_on_desktop(
    title: str, body: str, actions: Mapping[str, Callable[[], Awaitable[None]]], seconds: float
) -> None:
    """On this machine's screen; imported with the first one."""
    from bascule.notify.desktop import show  # noqa: PLC0415 - most machines never show one

    await show(title, body, actions, seconds)


def _starts_by_itself(settings: Settings) -> bool:
    usual = usual_data_folder()
    named = None if settings.data_dir == usual else settings.data_dir
    return starts_by_itself(user_service(named, os.environ), settings.data_dir, usual)


def connect(host: Host, switchboard: Switchboard) -> None:
    """Join the daemon to the hub by a link in memory."""
    loop = asyncio.get_running_loop()

    def down(frame: AnyFrame) -> None:
        loop.call_soon(host_line.receive, frame)

    def up(frame: AnyFrame) -> None:
        loop.call_soon(hub_line.receive, frame)

    hub_line = switchboard.attach(down, host.tapes)
    host_line = host.attach(up)


def far_line(host: Host, store: SqliteStore, send: "Send", close: Callable[[str], None]) -> "LineEnd":
    """The daemon's end of a connection to another machine's hub, imported when there is one."""
    from bascule.daemon.hub_lines.far_line import FarLine  # noqa: PLC0415 - only machines that have joined a hub pay for it

    return FarLine(host, store, host.tapes, send, close)
