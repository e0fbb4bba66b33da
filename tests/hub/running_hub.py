"""A running hub: real store, real grants, real server on a real port, and a scripted device behind it."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
from tests.hub.scripted_device import ScriptedDevice, append
from tests.waiting import MUCH_PATIENCE, PATIENCE
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from bascule.hub.app import build_app
from bascule.hub.devices.switchboard import Switchboard
from bascule.hub.page.web_files import PageFiles, page_files
from bascule.hub.server import HubServer, bind
from bascule.hub.wire.connection_limits import WireLimits
from bascule.model.event_values import PermissionOption
from bascule.model.events import PermissionRequested, SessionStarted, TextAppended
from bascule.model.settings import Settings
from bascule.store.books import Books
from bascule.store.grants import Grant, GrantBook
from bascule.store.limits import LimitsBook
from bascule.store.sqlite import SqliteStore


class RunningHub:
    """What a test holds in its hands."""

    def __init__(self, store: SqliteStore, grants: GrantBook, server: HubServer, port: int, app: Any) -> None:
        self.store, self.grants, self.server, self.port, self.app = store, grants, server, port, app
        self.services = app.hub
        self.tokens: dict[str, str] = {}
        self.grant: dict[str, Grant] = {}
        self.device: ScriptedDevice
        self.running: asyncio.Task[None]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def trust(self, name: str, role: Any, **more: Any) -> str:
        self.grant[name], self.tokens[name] = await self.grants.create(name, role, **more)
        return self.tokens[name]

    def client(self, token: str | None = None, **headers: str) -> httpx.AsyncClient:
        if token:
            headers["authorization"] = f"Bearer {token}"
        # Plain HTTP: to read the list of authorities would take 40 ms each time.
        more: dict[str, Any] = {"trust_env": False, "verify": False}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE, **more)

    @contextlib.asynccontextmanager
    async def socket(
        self, token: str | None = None, path: str = "/ws", **more: Any
    ) -> AsyncIterator[ClientConnection]:
        headers = {"Authorization": f"Bearer {token or self.tokens['owner']}"}
        url = f"ws://127.0.0.1:{self.port}{path}"
        options: dict[str, Any] = {"additional_headers": headers, "compression": None, "proxy": None, **more}
        async with connect(url, **options) as socket:
            yield socket

    async def session(self, session_id: str = "s1") -> str:
        """A session in the log, with nobody behind it but the scripted device."""
        await append(
            self.store,
            session_id,
            SessionStarted(agent="scripted", driver="stream_json", cwd="/tmp", by="ana"),
        )
        return session_id

    async def say(self, session_id: str, *texts: str) -> None:
        await append(self.store, session_id, *(TextAppended("e1", "assistant", text) for text in texts))

    async def ask_permission(self, session_id: str, request_id: str = "r1") -> None:
        option = PermissionOption("once", "allow_once", "Allow once")
        raw = msgspec.Raw(b'{"command":"ls"}')
        await append(
            self.store,
            session_id,
            PermissionRequested(request_id, "Bash", "Bash", "execute", raw, "0" * 64, (option,), "t1"),
        )


@contextlib.asynccontextmanager
async def running_hub(
    folder: Path,
    *,
    limits: WireLimits | None = None,
    steady: Callable[[], float] = time.monotonic,
    page: Callable[[], PageFiles] = page_files,
    grace: float = 0.0,
    clock: Callable[[], float] = time.time,
    **settings: Any,
) -> AsyncIterator[RunningHub]:
    chosen = Settings(data_dir=str(folder), config_dir=str(folder), port=0, **settings)
    store = SqliteStore.open(folder / "bascule.db", clock=time.time, loop=asyncio.get_running_loop())
    grants = await GrantBook.open(store, clock)
    books = await Books.open(store, grants, LimitsBook(folder, chosen.limits))
    switchboard = Switchboard(books.devices, this="device-1", grace=grace)
    app = build_app(
        store=store,
        books=books,
        switchboard=switchboard,
        settings=chosen,
        clock=time.time,
        steady=steady,
        page=page,
    )
    server = HubServer(app, chosen, limits)
    listening = bind(chosen)
    made = RunningHub(store, grants, server, listening.getsockname()[1], app)
    made.device = ScriptedDevice(store, switchboard)
    await app.hub.notifier.start()
    for role in ("owner", "operator", "viewer"):
        await made.trust(role, role)
    made.running = asyncio.create_task(server.serve(sockets=[listening]), name="server")
    try:
        await until(lambda: server.started)
        yield made
    finally:
        server.stop()
        await asyncio.wait_for(made.running, PATIENCE)
        listening.close()
        await app.hub.notifier.close()
        app.hub.feed.close()
        await switchboard.close()
        await store.close()


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not done():  # noqa: ASYNC110 - what it waits for has no event of its own
            await asyncio.sleep(0.005)


async def ask(socket: ClientConnection, kind: str, number: int = 1, /, **fields: Any) -> dict[str, Any]:
    """Send one message and wait for its answer, letting pushes pass by."""
    await socket.send(msgspec.json.encode({"id": number, "type": kind, **fields}).decode())
    return await answer(socket, number)


async def answer(socket: ClientConnection, number: int | None) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            message = msgspec.json.decode(await socket.recv())
            if "id" in message and message["id"] == number:
                return message


async def entries(socket: ClientConnection, until_seq: int) -> list[dict[str, Any]]:
    """Rows pushed to this socket, up to and with `until_seq`."""
    rows: list[dict[str, Any]] = []
    async with asyncio.timeout(MUCH_PATIENCE):
        while not rows or rows[-1]["seq"] < until_seq:
            message = msgspec.json.decode(await socket.recv())
            if message.get("type") == "session:events":
                rows += message["entries"]
    return rows


async def rest_of(socket: ClientConnection) -> list[str]:
    """What the server still says until it closes."""
    said: list[str] = []
    with contextlib.suppress(ConnectionClosed):
        async with asyncio.timeout(PATIENCE):
            while True:
                said.append(str(await socket.recv()))
    return said


async def raw_exchange(port: int, data: bytes) -> bytes:
    """Send bytes as they are and read the head of what the server answers, or until it closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    got = b""
    try:
        with contextlib.suppress(ConnectionError):
            writer.write(data)
            await writer.drain()
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE):
                while b"\r\n\r\n" not in got and (chunk := await reader.read(65536)):
                    got += chunk
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    return got


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0
