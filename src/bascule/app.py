"""Builds the server: hub and daemon in one process, and a keeper if none runs."""

import asyncio
import errno
import gc
import importlib
import logging
import os
import shlex
import signal
import socket
import sys
import time
import webbrowser
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bascule.agents.catalogue import Catalogue
from bascule.agents.probes import mark_of, sweep_probes
from bascule.config.load import data_folder
from bascule.daemon.device import Device
from bascule.daemon.host import Host
from bascule.daemon.joining import Joining
from bascule.daemon.launching import Launcher, histories_of
from bascule.daemon.start_notices import Desktop, StartNotices, no_desktop
from bascule.hub.app import build_app
from bascule.hub.launch.bridge_server import bind_bridge, port_in_use, serving_bridge
from bascule.hub.launch.trusted_sites import TrustedSites
from bascule.hub.launch.window_routes import Workbench
from bascule.hub.switchboard import Switchboard
from bascule.hub.wire.server import HubServer, bind
from bascule.launch.idempotent import IdempotentLaunches
from bascule.launch.offers import PromptOffers
from bascule.launch_setup import launches_of
from bascule.lease_clock import LeaseClock
from bascule.link.found import ListFound
from bascule.link.frames import AnyFrame
from bascule.model.commands import Actor
from bascule.model.errors import AlreadyRunning, BasculeError
from bascule.model.settings import Settings
from bascule.remote.tunnels import Tunnels
from bascule.service.this_service import starts_by_itself, user_service
from bascule.state_folder import (
    HubNote,
    ServerNote,
    prepare,
    read_hub_note,
    read_note,
    remove_hub_note,
    remove_note,
    write_hub_note,
    write_note,
)
from bascule.store.answers import AnswerBook
from bascule.store.comparisons import ComparisonBook
from bascule.store.devices import DeviceBook
from bascule.store.grants import GrantBook
from bascule.store.limits import LimitsBook
from bascule.store.projects import ProjectBook
from bascule.store.prompts import PromptBook
from bascule.store.protocols import HubDatabase
from bascule.store.rules import RuleBook
from bascule.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from bascule.daemon.uplink import LineEnd, Send

log = logging.getLogger(__name__)

DATABASE = "bascule.db"
FIRST_DEVICE_SECONDS = 10.0  # that a command waits for this machine's sessions, just after a start
LINK_SECONDS = 30 * 24 * 3600
THIS_MACHINE = "this machine"
KNOWN_FOLDERS = 200  # that a launch looks for a repository in

# Gets the link once sessions can be started, and the titles of those that run since before.
Ready = Callable[[str, Sequence[str]], None]


async def serve(settings: Settings, *, ready: Ready, agents: bool = True) -> int:
    """Run until a signal says stop. Without `agents` it serves other machines, and runs none here."""
    folder = Path(settings.data_dir)
    prepare(folder)
    async with AsyncExitStack() as closing:
        own = _open_store(folder) if agents or not settings.store else None
        store = own or await _open_shared_store(settings.store)
        closing.push_async_callback(store.close)
        listening = bind(settings)
        closing.callback(listening.close)
        await _serve(settings, folder, store, listening, ready, own if agents else None)
    return 0


def _open_store(folder: Path) -> SqliteStore:
    try:
        return SqliteStore.open(folder / DATABASE, clock=time.time, loop=asyncio.get_running_loop())
    except AlreadyRunning as error:
        note = read_note(folder)
        where = f" at {note.url}" if note else ""
        raise AlreadyRunning(
            f"Bascule already runs{where} (pid {error.fields.get('pid')}) with the state folder {folder}. "
            "Use it, stop it first, or choose another folder with --data."
        ) from error


async def _open_shared_store(url: str) -> HubDatabase:
    from bascule.store.postgres.store import PostgresStore  # noqa: PLC0415 - it needs an extra

    return await PostgresStore.open(url, clock=time.time, loop=asyncio.get_running_loop())


async def _serve(
    settings: Settings,
    folder: Path,
    store: HubDatabase,
    listening: socket.socket,
    ready: Ready,
    own: SqliteStore | None,
) -> None:
    """`own` is the store of this machine's agents; None when it runs none."""
    agents = own is not None
    stop = _stop_on_signals()
    url = _url(settings, listening)
    async with AsyncExitStack() as closing:
        lease = LeaseClock(folder)
        closing.callback(lease.write_down)
        grants = await GrantBook.open(store, lease)
        device = Device.of(folder, settings.device_name or socket.gethostname())
        await store.refold()
        book = await DeviceBook.open(store)
        here = device.id if agents else ""
        wait = FIRST_DEVICE_SECONDS if agents else 0.0
        switchboard = Switchboard(book, wait, this=here, hub=device.id, name=device.name)
        closing.push_async_callback(switchboard.close)
        catalogue = Catalogue.load(Path(settings.config_dir)).passing(settings.pass_on)
        projects = ProjectBook(store)
        launches = launches_of(
            settings, catalogue, partial(_folders, store, projects, switchboard, device.id)
        )
        closing.push_async_callback(launches.close)
        limits = LimitsBook(folder, settings.limits)
        offers = PromptOffers(time.monotonic)
        # A machine would not accept our certificate for its own 127.0.0.1.
        tunnels = None if settings.tls_cert else Tunnels(folder, listening.getsockname()[1])
        joining = Joining(device.id, HubNotes(folder), time.time, _time_awake_or_asleep)
        app = build_app(
            store=store,
            grants=grants,
            projects=projects,
            prompts=PromptBook(store),
            switchboard=switchboard,
            answer_book=await AnswerBook.open(store),
            settings=settings,
            clock=time.time,
            launches=launches if settings.launch.enabled and agents else None,
            offers=offers,
            limits=limits,
            replicas=store,
            uplink=joining if agents else None,
            tunnel_control=tunnels,
            link_command=link_command(settings, sys.argv[0]),
        )
        notifier = app.state.hub.notifier
        closing.push_async_callback(notifier.close)
        await notifier.start()
        if tunnels is not None:
            closing.push_async_callback(tunnels.stop)
            tunnels.allow = app.state.hub.doors.tunnelled
            tunnels.start()
        server = HubServer(app, settings)
        serving = asyncio.create_task(server.serve(sockets=[listening]), name="http")
        closing.push_async_callback(_stop_serving, server, serving)
        host = None
        if own is not None:
            # A probe that was being started when we stopped has nobody else who knows it.
            closing.callback(sweep_probes, mark_of(folder))
            notices = start_notices(settings, device.name, url)
            host = await _host(settings, own, catalogue, limits, device, notices)
            closing.push_async_callback(host.close)
        link = await _links(grants, folder, url, settings.public_url or url)
        closing.callback(remove_note, folder)
        if host is not None and own is not None:
            local = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
            workbench = Workbench(TrustedSites(settings.launch.origins, grants), offers, local)
            await _serve_bridge(settings, launches, workbench, closing)
            # Last: agents are asked for their versions from here on, which must not hold up the link.
            _connect(host, switchboard)
            closing.push_async_callback(joining.close)
            joining.open(partial(_far_line, host, own))
            if (hub := read_hub_note(folder)) is not None:
                joining.connect(hub.url, hub.token)
        ready(link, host.sessions.taken_up() if host is not None else ())
        # What was built so far stays until the end. Without this the first full collection looks through all
        # of it (50,000 objects, about 20 ms) in the middle of somebody's turn; it would find a dozen.
        gc.freeze()
        gc.enable()
        stopped = asyncio.create_task(stop.wait(), name="stop")
        await asyncio.wait({stopped, serving}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        log.info("stopping; agents go on")


def link_command(settings: Settings, program: str) -> str:
    """What makes a new link to this server, typed in any folder: a checkout's program is not on the PATH."""
    path = Path(program).absolute()
    own = [str(path)] if path.name == "bascule" else [sys.executable, "-m", "bascule"]
    data = [] if settings.data_dir == usual_data_folder() else ["--data", settings.data_dir]
    return shlex.join([*own, "trust", "generate", *data, "--role", "owner", "browser"])


async def _serve_bridge(
    settings: Settings, launches: IdempotentLaunches, workbench: Workbench, closing: AsyncExitStack
) -> None:
    """The second listener, for web pages that launch. A server on any free port is a second one or a trial:
    the bridge's well-known port is not for it."""
    if not settings.launch.enabled or settings.port == 0:
        return
    try:
        listening = bind_bridge(settings.launch.port)
    except OSError as error:
        message = port_in_use(settings.launch.port) if error.errno == errno.EADDRINUSE else str(error)
        log.warning("Web pages can't launch terminals by this server: %s", message)
        return
    closing.callback(listening.close)
    await launches.launches.sweep()
    await closing.enter_async_context(serving_bridge(listening, launches, workbench.sites, workbench))


async def _host(
    settings: Settings,
    store: SqliteStore,
    catalogue: Catalogue,
    limits: LimitsBook,
    device: Device,
    notices: StartNotices,
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
    )
    await host.open()
    return host


def start_notices(settings: Settings, device: str, url: str) -> StartNotices:
    """Links lead to this machine's own server: one that a hub served, the hub could press the button of."""
    public = (settings.public_url or url).rstrip("/")

    async def open_page(session_id: str) -> None:
        await asyncio.to_thread(webbrowser.open, f"{url}/sessions/{session_id}")

    def link(token: str) -> str:
        return f"{public}/#approve={token}"

    return StartNotices(settings.starts, device, show_on_desktop, link, open_page)


async def show_on_desktop(
    title: str, body: str, actions: Mapping[str, Callable[[], Awaitable[None]]], seconds: float
) -> None:
    """On this machine's screen. Imported with the first one; where the part is missing, none is shown."""
    try:
        show: Desktop = importlib.import_module("bascule.notify.desktop").show
    except ImportError:
        show = no_desktop
    await show(title, body, actions, seconds)


def _starts_by_itself(settings: Settings) -> bool:
    usual = usual_data_folder()
    named = None if settings.data_dir == usual else settings.data_dir
    return starts_by_itself(user_service(named, os.environ), settings.data_dir, usual)


def usual_data_folder() -> str:
    """The state folder of a server that is started without naming one."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("BASCULE_")}
    return data_folder(plain, {})


def _connect(host: Host, switchboard: Switchboard) -> None:
    """Join the daemon to the hub by a link in memory."""
    loop = asyncio.get_running_loop()

    def down(frame: AnyFrame) -> None:
        loop.call_soon(host_line.receive, frame)

    def up(frame: AnyFrame) -> None:
        loop.call_soon(hub_line.receive, frame)

    hub_line = switchboard.attach(down, host.tapes)
    host_line = host.attach(up)


def _far_line(host: Host, store: SqliteStore, send: "Send", close: Callable[[str], None]) -> "LineEnd":
    """The daemon's end of a connection to another machine's hub, imported when there is one."""
    from bascule.daemon.far_line import FarLine  # noqa: PLC0415 - only machines that have joined a hub pay for it

    return FarLine(host, store, host.tapes, send, close)


class HubNotes:
    """Keeps the hub that this machine has joined in the state folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, url: str, token: str) -> None:
        write_hub_note(self._folder, HubNote(url, token))

    def remove(self) -> None:
        remove_hub_note(self._folder)


def _time_awake_or_asleep() -> float:
    """A steady clock that goes on while the machine sleeps, where there is one."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


async def _folders(
    store: HubDatabase, projects: ProjectBook, switchboard: Switchboard, device: str
) -> list[str]:
    """Where sessions of this machine worked, the latest first; then projects, and where found ones worked."""
    recent = await store.recent_folders(KNOWN_FOLDERS, (device, ""))
    known = [path for path, _ in recent]
    known += [one.path for one in await projects.list() if one.device in (device, "")]
    await switchboard.met()
    try:
        found = await switchboard.ask(device, ListFound(limit=KNOWN_FOLDERS), Actor("launch"))
    except BasculeError:  # its sessions are not there yet: what is known without them has to do
        return known
    return [*known, *(one.cwd for one in found.sessions)]


async def _links(grants: GrantBook, folder: Path, url: str, public: str) -> str:
    """A fresh link for a person, and a key for the command line of this user."""
    await grants.sweep_unused_start_links()
    _, secret = await grants.create("owner", "owner", expires_in=LINK_SECONDS, start_link=True)
    _, key = await grants.create(THIS_MACHINE, "owner", ephemeral=True)
    write_note(folder, ServerNote(os.getpid(), url, key))
    return f"{public}/#token={secret}"


def _url(settings: Settings, listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    scheme = "https" if settings.tls_cert else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _stop_on_signals() -> asyncio.Event:
    """Set by the first signal. The second one ends the process at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if stop.is_set():
            os._exit(130)
        stop.set()

    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(sign, on_signal)
    return stop


async def _stop_serving(server: HubServer, serving: asyncio.Task[None]) -> None:
    server.stop()
    await serving
