"""The uplink: keeps this machine connected to the hub that it has joined, and says how that stands."""

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct
from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from bascule import __version__
from bascule.daemon.hub_lines.network_changes import NetworkChanges, Routes, routes
from bascule.link.frames import AnyFrame, LineRefused, Ping, Reply, Welcome
from bascule.link.ladder import Ladder
from bascule.link.line import Line
from bascule.link.liveness import Liveness
from bascule.link.pace import Pace
from bascule.link.priorities import Priority
from bascule.link.unsent import keep_little_unsent
from bascule.link.uplink import UplinkState, UplinkStatus, check_encrypted
from bascule.link.wire import AHEAD, CLIENT_ID, MAX_MESSAGE, SUBPROTOCOL, LineError, UnknownFrame
from bascule.link.wire_names import UnknownAsk
from bascule.model.errors import InvalidInput, NotSupported
from bascule.model.loopback import is_loopback

log = logging.getLogger(__name__)

OPEN_SECONDS = 15.0


class HubAddress(Struct, frozen=True):
    """Where the hub is, and what this machine shows there."""

    url: str
    token: str
    device: str
    insecure: bool = False  # the owner lets the token cross a network in the clear


class Send(Protocol):
    def __call__(self, frame: AnyFrame, priority: Priority | None = None) -> None: ...


class LineEnd(Protocol):
    """The daemon's end of one connection."""

    def receive(self, frame: AnyFrame) -> None: ...
    async def closed(self) -> None: ...


Attach = Callable[[Send, Callable[[str], None]], LineEnd]  # how to send, and how to end the connection


class Uplink:
    """One hub, connected to again and again until `run` is cancelled."""

    def __init__(
        self,
        address: HubAddress,
        attach: Attach,
        clock: Callable[[], float],
        steady: Callable[[], float],
        changed: Callable[[UplinkStatus], None],
        routes: Callable[[], Routes] = routes,
    ) -> None:
        self._address, self._attach = address, attach
        self._network = NetworkChanges(steady, routes)
        self._clock, self._steady, self._changed = clock, steady, changed
        self._ladder = Ladder()
        self._welcomed_at: float | None = None
        self.status = UplinkStatus(state="connecting", url=address.url, since=clock())

    async def run(self) -> None:
        try:
            check_encrypted(self._address.url, insecure=self._address.insecure)
        except InvalidInput as error:
            self._say("refused", error.message)
            return
        while True:
            await self._pause(self._ladder.delay(self._steady(), random.random()))
            try:
                await self._serve(await self._open())
            except InvalidStatus as error:
                self._refused(error.response.status_code)
            except LineRefusal as error:
                self._ladder.refused(self._steady(), error.refused.retry)
                self._say("refused", error.refused.message)
            except (
                OSError,
                TimeoutError,
                InvalidHandshake,
                InvalidURI,
                ConnectionClosed,
                LineError,
            ) as error:
                self._say("unreachable", _why(error))

    async def _open(self) -> ClientConnection:
        parts = urlsplit(self._address.url)
        scheme = "wss" if parts.scheme == "https" else "ws"
        nearby = is_loopback(parts.hostname or "")
        connection = await connect(
            urlunsplit((scheme, parts.netloc, "/ws/daemon", "", "")),
            additional_headers={
                "Authorization": f"Bearer {self._address.token}",
                CLIENT_ID: self._address.device,
            },
            subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
            compression=None,
            proxy=None if nearby else True,
            max_size=MAX_MESSAGE,
            open_timeout=OPEN_SECONDS,
            ping_interval=None,  # any byte is a sign of life, and the line asks for one itself
            write_limit=AHEAD,
        )
        keep_little_unsent(connection.transport)
        return connection

    async def _serve(self, connection: ClientConnection) -> None:
        nearby = is_loopback(urlsplit(self._address.url).hostname or "")
        talk = Talk(connection, self._attach, self._clock, self._steady, self._network, nearby=nearby)
        try:
            await talk.run(self._welcomed, self._heard)
        finally:
            if self._welcomed_at is not None:
                now = self._steady()
                self._ladder.lost(now, now - self._welcomed_at)
                self._welcomed_at = None

    def _welcomed(self, welcome: Welcome) -> None:
        self._welcomed_at = self._steady()
        self.status = UplinkStatus(
            state="connected", url=self._address.url, hub=welcome.name, since=self._clock()
        )
        self._heard()
        self._changed(self.status)

    def _heard(self) -> None:
        self.status = replace(self.status, heard_at=self._clock())

    def _refused(self, status: int) -> None:
        if status in (401, 403):
            self._ladder.turned_away(self._steady())
            words = "The hub does not know this machine any more. Join again: bascule daemon join"
            self._say("refused", f"{words} {self._address.url}")
        else:
            self._say("unreachable", f"The hub answers with status {status}.")

    def _say(self, state: UplinkState, message: str) -> None:
        if (self.status.state, self.status.message) != (state, message):
            log.info("hub %s: %s", self._address.url, message)
            self.status = replace(self.status, state=state, message=message, since=self._clock())
            self._changed(self.status)

    async def _pause(self, seconds: float) -> None:
        """Wait, but not longer than until the machine wakes up or its network changes."""
        while await self._network.within(seconds):
            self._ladder.woken()
            seconds = self._ladder.delay(self._steady(), random.random())


class LineRefusal(Exception):
    """The hub refused this connection, in words."""

    def __init__(self, refused: LineRefused) -> None:
        super().__init__(refused.message)
        self.refused = refused


class Talk:
    """One connection to the hub, from the first frame to the end."""

    def __init__(
        self,
        connection: ClientConnection,
        attach: Attach,
        clock: Callable[[], float],
        steady: Callable[[], float],
        network: NetworkChanges,
        *,
        nearby: bool,
    ) -> None:
        self._connection = connection
        self._clock, self._steady, self._network = clock, steady, network
        self._line = Line("daemon", deflated=not nearby, pace=Pace(steady))
        self._liveness = Liveness(steady())
        self._something = asyncio.Event()
        self._end = attach(self._send, self._close)

    async def run(self, welcomed: Callable[[Welcome], None], heard: Callable[[], None]) -> None:
        """Until either side ends it. Raises what ended it."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._write(), name="uplink writer")
                group.create_task(self._watch(), name="uplink watch")
                await self._read(welcomed, heard)
                raise ConnectionResetError("The hub closed the connection.")
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the tasks of one connection end together
        finally:
            await self._end.closed()
            with contextlib.suppress(ConnectionClosed, OSError):
                await self._connection.close()

    def _send(self, frame: AnyFrame, priority: Priority | None = None) -> None:
        try:
            self._line.send(frame, priority)
        except LineError as error:
            if not isinstance(frame, Reply):
                raise
            self._line.send(Reply(frame.ask, refusal=NotSupported(error.message).refusal()))
        self._something.set()

    def _close(self, why: str) -> None:
        log.warning("the connection to the hub is ended: %s", why)
        self._connection.transport.abort()

    async def _read(self, welcomed: Callable[[Welcome], None], heard: Callable[[], None]) -> None:
        async for message in self._connection:
            self._liveness.heard(self._steady())
            heard()
            for frame in self._line.receive(message):
                match frame:
                    case Welcome():
                        welcomed(frame)
                        self._end.receive(frame)
                    case LineRefused():
                        raise LineRefusal(frame)
                    case UnknownFrame():
                        log.info("the hub sent %s, which this version does not know", frame.type)
                    case UnknownAsk():
                        words = (
                            f"Bascule {__version__} on this machine does not know {frame.type}; update it."
                        )
                        self._send(Reply(frame.ask, refusal=NotSupported(words).refusal()))
                    case _:
                        self._end.receive(frame)
            if any(self._line.waiting):
                self._something.set()

    async def _write(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._line.quiet_for):
                    await self._something.wait()
            self._something.clear()
            while messages := self._line.take(AHEAD):
                for message in messages:
                    await self._connection.send(message)

    async def _watch(self) -> None:
        while True:
            now = self._steady()
            look = self._liveness.look(now)
            if look.state == "dead":
                self._connection.transport.abort()
                silent = self._liveness.silence(now)
                raise ConnectionResetError(f"The hub has not been heard for {silent:.0f} seconds.")
            if look.ping is not None:
                self._send(Ping(look.ping, self._clock()))
            if await self._network.within(look.again - self._steady()):
                # The other end may not be reached any more from where this machine is now.
                self._send(Ping(self._liveness.doubt(self._steady()), self._clock()))


def _why(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "It does not answer."
    return str(error) or type(error).__name__
