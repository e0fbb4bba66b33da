"""The bus between nodes: one connection that listens, notifies, and is looked after.

Notifications only wake: what they announce is read from the tables. A connection that listens can die without
a sign, so it is asked something every second; once it is there again, everybody catches up.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from bascule.model.errors import StorageFailed
from bascule.model.faults import report
from bascule.store.postgres.asyncpg_module import asyncpg
from bascule.store.postgres.connection import SCHEMA
from bascule.store.postgres.errors import in_our_words

log = logging.getLogger(__name__)

CHANNEL = "bascule"
FLUSH_SECONDS = 0.005  # between two wakes: the first goes at once, those that follow go together
MAX_PAYLOAD = 7900  # bytes; PostgreSQL takes 8000
ANSWER_SECONDS = 2.0
CONNECT_SECONDS = 5.0
LOOK_SECONDS = 1.0
RETRY_SECONDS = 0.25
NOTIFY = "SELECT pg_notify($1, $2)"
LOST = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)


class Wake(Struct, omit_defaults=True):
    """What another node has changed. `everything`: more than fits, or more than it knows."""

    node: str
    sessions: dict[str, int] = {}  # the last row of each
    books: list[str] = []
    replaced: list[str] = []  # sessions whose log was begun again
    everything: bool = False
    requests: dict[str, list[str]] = {}  # those of each session that were opened or settled


_wakes = msgspec.json.Decoder(Wake)


class Bus:
    """`woken` hears of every wake of another node; `look` is awaited every second, and after each connection.

    `lost` is called when the connection is over.
    """

    def __init__(
        self,
        url: str,
        role: str | None,
        node: str,
        *,
        woken: Callable[[Wake], None],
        look: Callable[[bool], Awaitable[None]],
        lost: Callable[[str], None],
    ) -> None:
        self._url, self._role, self._node = url, role, node
        self._woken, self._look, self._lost = woken, look, lost
        self._server: Any = None  # asyncpg's connection
        self._in_use = asyncio.Lock()
        self._over = asyncio.Event()
        self._look_now = asyncio.Event()
        self._wake = Wake(node)
        self._timer: asyncio.TimerHandle | None = None
        self._flushed_at = float("-inf")
        self._sending: asyncio.Task[None] | None = None
        self.connected = 0  # how often

    async def run(self) -> None:
        """Until it is cancelled."""
        try:
            while True:
                try:
                    await self._serve()
                except LOST as error:
                    self._drop(str(error) or "no answer")
                except StorageFailed as error:
                    self._drop(error.message)
                except Exception as error:  # noqa: BLE001 - a fault of ours must not part this node for good
                    self._drop(report(log, "the bus between nodes", error).message)
                await asyncio.sleep(RETRY_SECONDS)
        finally:
            if self._sending is not None:
                self._sending.cancel()
            if self._timer is not None:
                self._timer.cancel()
            self._drop("")

    async def fetch(self, statement: str, *values: object) -> list[Any]:
        """The rows of one statement. Raises `StorageFailed`, also when no answer comes within 2 seconds."""
        if self._server is None:
            raise StorageFailed("The database can't be reached; try again in a moment.")
        async with self._in_use:
            server = self._server
            try:
                if server is None:
                    raise ConnectionResetError("the connection was lost")
                return list(await server.fetch(statement, *values, timeout=ANSWER_SECONDS))
            except LOST as error:
                if server is None or server.is_closed() or not isinstance(error, asyncpg.PostgresError):
                    self._over.set()
                if isinstance(error, asyncpg.InterfaceError):  # it is closed, or in the middle of something
                    raise in_our_words(ConnectionResetError(str(error))) from error
                raise in_our_words(error) from error

    def look_soon(self) -> None:
        """Do not wait for the next second."""
        self._look_now.set()

    # Waking the others

    def moved(self, session_id: str, seq: int, requests: Iterable[str] = ()) -> None:
        self._wake.sessions[session_id] = seq
        for request_id in requests:
            self._wake.requests.setdefault(session_id, []).append(request_id)
        self._flush_soon()

    def changed(self, book: str) -> None:
        if book not in self._wake.books:
            self._wake.books.append(book)
        self._flush_soon()

    def replaced(self, session_id: str) -> None:
        self._wake.replaced.append(session_id)
        self._flush_soon()

    def _flush_soon(self) -> None:
        if self._timer is None and self._sending is None:
            loop = asyncio.get_running_loop()
            wait = max(0.0, self._flushed_at + FLUSH_SECONDS - loop.time())
            self._timer = loop.call_later(wait, self._flush)

    def _flush(self) -> None:
        self._timer = None
        self._flushed_at = asyncio.get_running_loop().time()
        if self._server is None:
            self._wake.everything = True  # said once the connection is there again
            return
        wake, self._wake = self._wake, Wake(self._node)
        self._sending = asyncio.create_task(self._notify(wake), name="notify the other nodes")
        self._sending.add_done_callback(self._notified)

    async def _notify(self, wake: Wake) -> None:
        try:
            await self.fetch(NOTIFY, CHANNEL, payload_of(wake))
        except StorageFailed:
            self._wake.everything = True

    def _notified(self, done: "asyncio.Task[None]") -> None:
        self._sending = None
        if not done.cancelled() and (self._wake.sessions or self._wake.books or self._wake.replaced):
            self._flush_soon()

    # The connection

    async def _serve(self) -> None:
        self._over.clear()
        self._server = server = await self._connect()
        server.add_termination_listener(self._ended)
        async with self._in_use:  # asyncpg does one thing at a time, and others may ask something already
            await server.add_listener(CHANNEL, self._heard)
        self.connected += 1
        self._wake.everything = self.connected > 1  # nobody knows what they missed of us
        await self._look(True)
        if self._wake.everything:
            self._flush_soon()
        while not self._over.is_set():
            await self._pause()
            if not self._over.is_set():
                await self._look(False)
        raise ConnectionResetError("the connection was lost")

    async def _pause(self) -> None:
        """About a second, unless the connection ends or somebody asks to look at once."""
        self._look_now.clear()
        waits = [asyncio.ensure_future(one.wait()) for one in (self._over, self._look_now)]
        try:
            await asyncio.wait(waits, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()

    async def _connect(self) -> Any:
        settings = {"application_name": "bascule bus", "search_path": SCHEMA}
        if self._role is not None:
            settings["role"] = self._role
        return await asyncpg.connect(
            self._url, timeout=CONNECT_SECONDS, command_timeout=ANSWER_SECONDS, server_settings=settings
        )

    def _drop(self, why: str) -> None:
        server, self._server = self._server, None
        if server is not None and not server.is_closed():
            server.terminate()
        if why:
            self._lost(why)

    def _ended(self, connection: object) -> None:
        self._over.set()

    def _heard(self, connection: object, pid: int, channel: str, payload: object) -> None:
        with contextlib.suppress(msgspec.DecodeError):  # of a newer version: the look finds what it meant
            wake = _wakes.decode(str(payload))
            if wake.node != self._node:
                self._woken(wake)


def payload_of(wake: Wake) -> str:
    data = msgspec.json.encode(wake)
    if len(data) > MAX_PAYLOAD:
        data = msgspec.json.encode(Wake(wake.node, books=wake.books, everything=True))
    return data.decode()
