"""Builds the server: hub and daemon in one process, and a keeper if none runs."""

import asyncio
import errno
import gc
import logging
import os
import shlex
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bascule.agents.catalogue import Catalogue
from bascule.agents.probes import mark_of, sweep_probes
from bascule.config.load import usual_data_folder
from bascule.daemon.device import Device
from bascule.daemon.hub_lines.joined_hub import JoinedHub
from bascule.hub.app import build_app
from bascule.hub.asgi import HubApp
from bascule.hub.devices.switchboard import Switchboard
from bascule.hub.launch.bridge_server import bind_bridge, port_in_use, serving_bridge
from bascule.hub.launch.trusted_sites import TrustedSites
from bascule.hub.launch.window_routes import Workbench
from bascule.hub.server import HubServer, bind
from bascule.hub.services import Hub
from bascule.launch.idempotent import IdempotentLaunches
from bascule.launch.offers import PromptOffers
from bascule.launch_setup import launches_of
from bascule.lease_clock import LeaseClock, elapsed
from bascule.link.found import ListFound
from bascule.model import open_files
from bascule.model.commands import Actor
from bascule.model.errors import AlreadyRunning, BasculeError
from bascule.model.settings import Settings
from bascule.remote.tunnels import Tunnels
from bascule.state_folder import (
    HubNotes,
    ServerNote,
    prepare,
    read_hub_note,
    read_note,
    remove_note,
    write_note,
)
from bascule.store.books import Books
from bascule.store.grants import GrantBook
from bascule.store.limits import LimitsBook
from bascule.store.projects import ProjectBook
from bascule.store.protocols import HubDatabase
from bascule.store.revoked_grants import RevokedGrants
from bascule.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from bascule.daemon.host import Host
    from bascule.hub.nodes.cluster import Cluster
    from bascule.store.postgres.store import PostgresStore

log = logging.getLogger(__name__)

DATABASE = "bascule.db"
FIRST_DEVICE_SECONDS = 10.0  # that a command waits for this machine's sessions, just after a start
LINK_SECONDS = 30 * 24 * 3600
OTHERS_LINKS_SECONDS = 24 * 3600.0
SEEN_FROM = "SELECT host(inet_client_addr())"
THIS_MACHINE = "this machine"
KNOWN_FOLDERS = 200  # that a launch looks for a repository in

# Gets the link once sessions can be started, and the titles of those that run since before.
Ready = Callable[[str, Sequence[str]], None]


async def serve(settings: Settings, *, ready: Ready, agents: bool = True) -> int:
    """Run until a signal says stop. Without `agents` it serves other machines, and runs none here."""
    folder = Path(settings.data_dir)
    prepare(folder)
    open_files.set_own_limit()
    async with AsyncExitStack() as closing:
        own = _open_store(folder) if agents or not settings.store else None
        shared = None if own else await _open_shared_store(settings.store)
        store: HubDatabase | None = own or shared
        assert store is not None
        closing.push_async_callback(store.close)
        listening = bind(settings)
        closing.callback(listening.close)
        await _serve(settings, folder, store, listening, ready, own if agents else None, shared)
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


async def _open_shared_store(url: str) -> "PostgresStore":
    from bascule.store.postgres.store import PostgresStore  # noqa: PLC0415 - it needs an extra

    return await PostgresStore.open(url, clock=time.time, loop=asyncio.get_running_loop())


async def _serve(
    settings: Settings,
    folder: Path,
    store: HubDatabase,
    listening: socket.socket,
    ready: Ready,
    own: SqliteStore | None,
    shared: "PostgresStore | None" = None,
) -> None:
    """`own` is the store of this machine's agents; None when it runs none. Several nodes use `shared`."""
    stop = _stop_on_signals()
    async with AsyncExitStack() as closing:
        lease = LeaseClock(folder)
        closing.callback(lease.write_down)
        limits = LimitsBook(folder, settings.limits)
        grants = await GrantBook.open(store, lease, RevokedGrants(folder, lease()))
        await store.refold()
        books = await Books.open(store, grants, limits)
        cluster = None if shared is None else await _cluster(settings, shared, books, listening)
        server = _Server(settings, folder, store, books, listening, closing, cluster, agents=own is not None)
        serving = await server.begin()
        host = await server.open_host(own) if own is not None else None
        link = await _links(
            grants, folder, server.url, settings.public_url or server.url, alone=cluster is None
        )
        closing.callback(remove_note, folder)
        if host is not None and own is not None:
            await server.connect(host, own)
        ready(link, host.sessions.taken_up() if host is not None else ())
        # What was built so far stays until the end. Without this the first full collection looks through all
        # of it (50,000 objects, about 20 ms) in the middle of somebody's turn; it would find a dozen.
        gc.freeze()
        gc.enable()
        stopped = asyncio.create_task(stop.wait(), name="stop")
        await asyncio.wait({stopped, serving}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        log.info("stopping; agents go on")


class _Server:
    """What a server is made of. Each step needs those before it; `closing` undoes them in the other order."""

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        store: HubDatabase,
        books: Books,
        listening: socket.socket,
        closing: AsyncExitStack,
        cluster: "Cluster | None" = None,
        *,
        agents: bool,
    ) -> None:
        self._settings, self._folder, self._store, self._books = settings, folder, store, books
        self._listening, self._closing, self._agents = listening, closing, agents
        self._cluster = cluster
        self.url = _url(settings, listening)
        self._device = Device.of(folder, settings.device_name or socket.gethostname())
        self._switchboard = self._open_switchboard()
        self._catalogue = Catalogue.load(Path(settings.config_dir)).passing(settings.pass_on)
        folders = partial(_folders, store, books.projects, self._switchboard, self._device.id)
        self._launches = launches_of(settings, self._catalogue, folders)
        closing.push_async_callback(self._launches.close)
        self._offers = PromptOffers(time.monotonic)
        # A machine would not accept our certificate for its own 127.0.0.1.
        self._tunnels = None if settings.tls_cert else Tunnels(folder, listening.getsockname()[1])
        self._joined_hub = JoinedHub(
            *(self._device.id, HubNotes(folder), time.time, elapsed, settings.starts.hub_may_widen),
            insecure=settings.insecure_hub,
        )
        self._app = self._build_app()

    def _open_switchboard(self) -> Switchboard:
        here = self._device.id if self._agents else ""
        wait = FIRST_DEVICE_SECONDS if self._agents else 0.0
        switchboard = Switchboard(
            self._books.devices,
            wait,
            this=here,
            hub=self._device.id if self._cluster is None else self._cluster.hub_id,
            name=self._device.name,
        )
        self._closing.push_async_callback(switchboard.close)
        return switchboard

    def _build_app(self) -> HubApp:
        settings = self._settings
        return build_app(
            store=self._store,
            books=self._books,
            switchboard=self._switchboard,
            settings=settings,
            clock=time.time,
            launches=self._launches if settings.launch.enabled and self._agents else None,
            offers=self._offers,
            uplink=self._joined_hub if self._agents else None,
            tunnels=self._tunnels,
            link_command=link_command(settings, sys.argv[0]),
            cluster=self._cluster,
        )

    async def begin(self) -> "asyncio.Task[None]":
        """Serve people and machines."""
        hub: Hub = self._app.hub
        self._closing.push_async_callback(hub.notifier.close)
        await hub.notifier.start()
        if self._tunnels is not None:
            self._closing.push_async_callback(self._tunnels.stop)
            self._tunnels.allow = hub.doors.tunnelled
            self._tunnels.start()
        server = HubServer(self._app, self._settings)
        serving = asyncio.create_task(server.serve(sockets=[self._listening]), name="http")
        self._closing.push_async_callback(_stop_serving, server, serving)
        if self._cluster is not None:
            self._closing.push_async_callback(self._cluster.close)
            hub.doors.known_as(urlsplit(self._cluster.url).netloc)
            await self._cluster.join(hub)
        return serving

    async def open_host(self, own: SqliteStore) -> "Host":
        # A quarter of all modules. Meanwhile people are served; a hub without agents never needs them.
        await asyncio.to_thread(import_module, "bascule.this_machine")
        from bascule.this_machine import open_host, start_notices  # noqa: PLC0415 - see above

        # A probe that was being started when we stopped has nobody else who knows it.
        self._closing.callback(sweep_probes, mark_of(self._folder))
        notices = start_notices(self._settings, self._device.name, self.url)
        known = (self._catalogue, self._books.limits, self._device)
        host = await open_host(self._settings, own, *known, notices, lambda: self._joined_hub.hub_may_widen)
        self._closing.push_async_callback(host.close)
        return host

    async def connect(self, host: "Host", own: SqliteStore) -> None:
        """Last: agents are asked for their versions from here on, which must not hold up the link."""
        from bascule.this_machine import connect, far_line  # noqa: PLC0415 - see open_host

        local = self.url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
        sites = TrustedSites(self._settings.launch.origins, self._books.grants)
        await _serve_bridge(
            self._settings, self._launches, Workbench(sites, self._offers, local), self._closing
        )
        connect(host, self._switchboard)
        self._closing.push_async_callback(self._joined_hub.close)
        self._joined_hub.open(partial(far_line, host, own), host.look_at_state)
        if (hub := read_hub_note(self._folder)) is not None:
            self._joined_hub.connect(hub.url, hub.token, may_widen=hub.may_widen)


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
    return [*known, *(session.cwd for session in found.sessions)]


async def _cluster(
    settings: Settings, store: "PostgresStore", books: Books, listening: socket.socket
) -> "Cluster":
    from bascule.hub.nodes.choices import SharedChoices  # noqa: PLC0415 - only several nodes need it
    from bascule.hub.nodes.cluster import Cluster, node_url  # noqa: PLC0415 - it needs an extra

    seen = await store.query(lambda connection: connection.execute(SEEN_FROM).fetchone()[0])
    url = node_url(settings.node_url, _url(settings, listening), seen or "127.0.0.1")
    choices = await SharedChoices.open(store)
    return Cluster(store, books, choices, url)


async def _links(grants: GrantBook, folder: Path, url: str, public: str, *, alone: bool) -> str:
    """A fresh link for a person, and a key for the command line of this user. Links that other nodes printed
    stay for a day."""
    await grants.sweep_unused_start_links(0.0 if alone else OTHERS_LINKS_SECONDS)
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
