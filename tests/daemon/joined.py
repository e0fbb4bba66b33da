"""A daemon's store and a hub's, joined in memory by a line that can be cut: frames are bytes on the way."""

import asyncio
import heapq
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from tests.waiting import PATIENCE

from bascule.daemon.hub_lines.outflow import WINDOW, Outflow
from bascule.hub.devices.inflow import Inflow
from bascule.link.frames import (
    Ack,
    Fetch,
    Resume,
    SessionDiverged,
    SessionForgotten,
    SessionHead,
    SessionOutput,
    Watching,
    Welcome,
)
from bascule.store.sqlite import SqliteStore

LAPTOP = "laptop"
Up = SessionOutput | SessionHead | SessionDiverged | SessionForgotten
Down = Resume | Ack | Watching | Fetch

_up = msgspec.json.Decoder[Up](Up)
_down = msgspec.json.Decoder[Down](Down)


def welcome(
    hub: SqliteStore | None = None, *, store: str = "", rows: int = 0, window: int = WINDOW
) -> Welcome:
    return Welcome(1, "hub-1", "hub", hub.link_name if hub else store, 1, 0.0, window, rows)


class Way:
    """One direction: the most urgent frame first, one at a time, until it is cut."""

    def __init__(self, decoder: Any, deliver: Callable[[Any], None]) -> None:
        self._decoder, self._deliver = decoder, deliver
        self._queue: list[tuple[int, int, bytes]] = []
        self._numbers = itertools.count()
        self._scheduled = False
        self.cut = False
        self.carried = 0
        self.most = 0  # bytes that waited at a time
        self.before_each: Callable[[], None] = lambda: None

    def send(self, frame: Any, priority: int) -> None:
        if not self.cut:
            heapq.heappush(self._queue, (priority, next(self._numbers), msgspec.json.encode(frame)))
            self.most = max(self.most, sum(len(data) for _, _, data in self._queue[-200:]))
            self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._carry_one)

    def _carry_one(self) -> None:
        self._scheduled = False
        if self._queue and not self.cut:
            _, _, data = heapq.heappop(self._queue)
            self.carried += 1
            self.before_each()
            if not self.cut:
                self._deliver(self._decoder.decode(data))
            if self._queue:
                self._schedule()


class Joined:
    """One connection between the two."""

    def __init__(self, home: SqliteStore, hub: SqliteStore, window: int = WINDOW) -> None:
        self.home, self.hub, self.window = home, hub, window
        self.closed: list[str] = []
        self.set_aside: list[tuple[str, str | None]] = []
        self.up = Way(_up, lambda frame: self.inflow.receive(frame))
        self.down = Way(_down, self._receive)
        self.acked: dict[str, int] = {}
        self._acks = asyncio.Event()
        self.outflow = Outflow(home, self.up.send, self.closed.append)
        self.inflow = Inflow(
            hub,
            LAPTOP,
            self.down.send,
            self.closed.append,
            set_aside=lambda session_id, aside: self.set_aside.append((session_id, aside)),
        )
        self.lost = 0

    def _receive(self, frame: Down) -> None:
        self.outflow.receive(frame)
        if isinstance(frame, Ack):
            self.acked.update(frame.heads)
            self._acks.set()

    async def acknowledged(self, session_id: str, seq: int) -> None:
        """Wait until the device has been told that the hub has this row on its disk."""
        async with asyncio.timeout(PATIENCE):
            while self.acked.get(session_id, 0) < seq:
                self._acks.clear()
                await self._acks.wait()

    async def connect(self) -> "Joined":
        rows = await self.hub.rows_of(LAPTOP)
        self.lost = await self.outflow.start(welcome(self.hub, rows=rows, window=self.window))
        await self.inflow.start()
        return self

    async def cut(self) -> None:
        self.up.cut = self.down.cut = True
        await self.outflow.close()
        await self.inflow.stop()

    async def level(self, sessions: Iterable[str]) -> None:
        """Wait until the hub has these logs as far as they are written now."""
        for session_id in sessions:
            own = await self.home.own_log(session_id)
            assert own is not None
            await self.inflow.waits_for(session_id, own.seq)
