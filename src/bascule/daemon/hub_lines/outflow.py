"""Outflow: sends this machine's logs to a hub with a store of its own, each from where the hub's copy ends.

The log itself is the queue: memory holds only how far each log was sent and acknowledged, so a slow hub costs
no memory and no agent waits for it. What was acknowledged is never sent again, whatever is cut.
"""

import asyncio
import logging
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Raw

from bascule.link.frames import (
    Ack,
    Fetch,
    Resume,
    SessionDiverged,
    SessionForgotten,
    SessionHead,
    SessionOutput,
    UpFrame,
    Watching,
    Welcome,
)
from bascule.model.errors import BasculeError
from bascule.model.lifecycle import LIVE
from bascule.store.base import Committed, Row
from bascule.store.replication import OwnLog, SourceStore

log = logging.getLogger(__name__)

STEP = 64 * 1024  # bytes of rows in one frame, unless a single row is larger
FIRST_STEP = 4 * 1024  # in the first frame of a line
WINDOW = 4 * 1024 * 1024
MAX_WINDOW = 16 * 1024 * 1024  # whatever the hub allows: so much may wait in the line's memory
LIVE_PRIORITY, REPLAY_PRIORITY = 2, 4
AT_ONCE = 4  # logs that catch up side by side, besides those that are live or watched
EVERY = 4  # one step in so many is theirs, however busy the live ones are
FEW_ROWS = 512  # that a live log may be behind and still be sent as live
NOTE_SECONDS = 5.0  # between two notes of what the hub has acknowledged

Send = Callable[[UpFrame, int], None]


class _Unacked(NamedTuple):
    last: int
    size: int
    priority: int


class _Log:
    """How far one log is written, sent and acknowledged."""

    def __init__(self, session_id: str, head: int) -> None:
        self.session_id = session_id
        self.head = head
        self.sent = 0
        self.wanted = True  # a found session only after the hub asked for it
        self.live = False
        self.updated_at = ""
        self.unacked: deque[_Unacked] = deque()
        self.slow = 0  # of them: sent as a replay, which live rows would overtake
        self.queued = False
        self.named = False  # the hub knows how far this catch-up goes
        self.broken = False  # it can't be read

    @property
    def behind(self) -> bool:
        return self.wanted and not self.broken and self.sent < self.head


class Outflow:
    """One line's sender. `send` takes a frame and its priority, and never blocks; `close` ends the line."""

    def __init__(self, store: SourceStore, send: Send, close: Callable[[str], None]) -> None:
        self._store = store
        self._send = send
        self._close = close
        self._window = WINDOW
        self._hub = ""
        self._logs: dict[str, _Log] = {}
        self._watched: frozenset[str] = frozenset()
        self._urgent: deque[_Log] = deque()
        self._catching_up: deque[_Log] = deque()
        self._rest: list[_Log] = []  # the newest last
        self._unacked = self._replayed = 0  # bytes
        self._sent = 0  # bytes, by this line
        self._turn = 0
        self._ready = False
        self._inbox: deque[Resume | Fetch] = deque()
        self._work = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stop: list[Callable[[], None]] = []
        self._acked_rows: int | None = None
        self._noted_at = float("-inf")

    async def start(self, welcome: Welcome) -> int:
        """Begin, unless the hub uses this very store. Returns how many rows the hub had and has lost.

        More than none are lost when the hub was restored from an older copy; they are sent again.
        """
        if welcome.store == self._store.link_name:
            return 0
        self._hub, self._window = welcome.hub, min(max(welcome.window, 2 * STEP), MAX_WINDOW)
        self._stop.append(self._store.listen(self._committed))
        self._stop.append(await self._store.need_synced_rows())
        for own in await self._store.own_logs():
            self._know(own)
        lost = await self._store.acknowledged(self._hub) - welcome.rows
        self._task = asyncio.get_running_loop().create_task(self._run(), name="outflow")
        self._task.add_done_callback(self._ended)
        return max(lost, 0)

    async def close(self) -> None:
        """The line is gone. The next one begins where the hub's copies end."""
        for stop in self._stop:
            stop()
        self._stop.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._acked_rows is not None:
            await asyncio.gather(self._note(), return_exceptions=True)

    # From the hub -------------------------------------------------------------------------------------

    def receive(self, frame: Resume | Ack | Watching | Fetch) -> None:
        match frame:
            case Ack():
                self._acknowledge(frame)
            case Watching():
                self._watched = frozenset(frame.sessions)
                for session_id in frame.sessions:
                    self._queue(self._logs.get(session_id))
            case Resume() | Fetch():
                self._inbox.append(frame)
        self._work.set()

    def _acknowledge(self, ack: Ack) -> None:
        for session_id, seq in ack.heads.items():
            known = self._logs.get(session_id)
            while known is not None and known.unacked and known.unacked[0].last <= seq:
                self._settle(known, known.unacked.popleft())
        self._acked_rows = ack.rows
        now = asyncio.get_running_loop().time()
        if now - self._noted_at >= NOTE_SECONDS:
            self._noted_at = now
            self._note().add_done_callback(_note_failed)

    def _note(self) -> "asyncio.Future[None]":
        rows, self._acked_rows = self._acked_rows or 0, None
        return self._store.note_acknowledged(self._hub, rows)

    def _settle(self, known: _Log, sent: _Unacked) -> None:
        self._unacked -= sent.size
        if sent.priority == REPLAY_PRIORITY:
            self._replayed -= sent.size
            known.slow -= 1

    async def _take(self, frame: Resume | Fetch) -> None:
        if isinstance(frame, Fetch):
            await self._fetch(frame.session_id)
            return
        seqs = {session_id: seq for session_id, (seq, _) in frame.heads.items()}
        ours = await self._store.checksums_at(seqs)
        for session_id, (seq, crc) in frame.heads.items():
            self._place(session_id, seq, seq == 0 or ours.get(session_id) == crc)
        if frame.last and not self._ready:
            self._begin()

    def _begin(self) -> None:
        """The hub has said where it is in all logs it knows: the others are sent from their first row."""
        self._ready = True
        for known in sorted(self._logs.values(), key=_age):
            self._queue(known)

    async def _fetch(self, session_id: str) -> None:
        own = await self._store.own_log(session_id)
        if own is None:
            self._send(SessionForgotten(session_id), LIVE_PRIORITY)
            return
        known = self._know(own)
        known.wanted = True
        self._send(SessionHead(session_id, known.head), LIVE_PRIORITY)  # also where the hub has all of it
        self._queue(known)

    def _place(self, session_id: str, seq: int, same: bool) -> None:
        """The hub's copy of a log ends at `seq`. Go on from there, or from the first row if it is another."""
        known = self._logs.get(session_id)
        if known is None:
            self._send(SessionForgotten(session_id), LIVE_PRIORITY)
            return
        known.wanted = True
        if not same:
            self._send(SessionDiverged(session_id, known.head), LIVE_PRIORITY)
        self._rewind(known, seq if same else 0)

    def _rewind(self, known: _Log, seq: int) -> None:
        while known.unacked:
            self._settle(known, known.unacked.pop())
        known.sent, known.named = seq, False
        self._queue(known)

    # From the store -----------------------------------------------------------------------------------

    def _know(self, own: OwnLog) -> _Log:
        known = self._logs.get(own.session_id)
        if known is None:
            known = self._logs[own.session_id] = _Log(own.session_id, own.seq)
            known.wanted = not own.found
        known.head = max(known.head, own.seq)
        known.live, known.updated_at = own.live, own.updated_at
        return known

    def _committed(self, commit: Committed) -> None:
        if commit.taken_in:
            return
        record, rows = commit.record, commit.rows
        known = self._logs.get(record.session_id)
        if known is None:
            known = self._logs[record.session_id] = _Log(record.session_id, 0)
            known.wanted = not record.found
        elif record.found and rows[0].seq == 1 and known.head > 0:
            self._begun_again(known)
        # What was read from the store may be ahead of the commits reported here.
        known.head, known.live = max(known.head, rows[-1].seq), record.phase in LIVE
        known.wanted = known.wanted or not record.found
        known.updated_at = record.updated_at
        if self._ready and known.wanted and not known.broken:
            self._send_live(known, rows)

    def _begun_again(self, known: _Log) -> None:
        """A found session whose file was written anew has a new log."""
        if known.wanted and self._ready:
            self._send(SessionDiverged(known.session_id, known.head), LIVE_PRIORITY)
        known.head = 0
        self._rewind(known, 0)

    def forgotten(self, session_id: str) -> None:
        """A found session is no longer on this machine."""
        known = self._logs.pop(session_id, None)
        if known is None:
            return
        if known.wanted and self._ready:
            self._send(SessionForgotten(session_id), LIVE_PRIORITY)
        known.wanted = False
        self._rewind(known, 0)

    def _send_live(self, known: _Log, rows: list[Row]) -> None:
        """Rows of a log that is sent up to here need not be read again. What finds no room is sent later."""
        for some in _in_steps(rows, self._step_bytes):
            priority = LIVE_PRIORITY if known.slow == 0 else REPLAY_PRIORITY
            if known.sent != some[0].seq - 1 or not self._has_room(priority):
                break
            self._send_rows(known, some, priority)
        self._queue(known)

    # Catching up --------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            while self._inbox:
                await self._take(self._inbox.popleft())
            while self._ready and not self._inbox and (known := self._next()) is not None:
                await self._step(known)

    def _ended(self, done: "asyncio.Task[None]") -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            log.error("the logs are not sent to the hub", exc_info=error)
            self._close(f"The logs can't be read: {error}")

    def _is_urgent(self, known: _Log) -> bool:
        return known.live or known.session_id in self._watched

    def _queue(self, known: _Log | None) -> None:
        """Let a log that is behind have its turn."""
        if known is None or not self._ready or not known.behind:
            return
        if self._is_urgent(known):
            if known not in self._urgent:
                self._urgent.append(known)
        elif not known.queued:
            insort(self._rest, known, key=_age)
            known.queued = True
        self._work.set()

    def _next(self) -> _Log | None:
        """The log whose turn it is, if there is room to send something of it."""
        while len(self._catching_up) < AT_ONCE and self._rest:
            self._catching_up.append(self._rest.pop())
        for ring in (self._urgent, self._catching_up):
            for known in [one for one in ring if not one.behind or self._moved(ring, one)]:
                ring.remove(known)
                known.queued = known.queued and ring is self._urgent
        self._turn += 1
        rings = [self._urgent, self._catching_up]
        if self._turn % EVERY == 0:
            rings.reverse()
        for ring in rings:
            known = next((one for one in ring if self._has_room(self._priority(one))), None)
            if known is not None:
                ring.remove(known)
                known.queued = known.queued and ring is self._urgent
                return known
        return None

    def _moved(self, ring: "deque[_Log]", known: _Log) -> bool:
        """It waits among the urgent ones by now."""
        return ring is self._catching_up and known in self._urgent

    def _has_room(self, priority: int) -> bool:
        """A replay leaves room for live rows, and they leave a little for a replay."""
        if priority == REPLAY_PRIORITY:
            return self._replayed + STEP <= self._window * 3 // 4 and self._unacked + STEP <= self._window
        kept = self._window // 8 if self._catching_up or self._rest else 0
        return self._unacked + STEP <= max(self._window - kept, STEP)

    def _priority(self, known: _Log) -> int:
        """A live log that is a little behind goes as live, unless its rows would overtake others of it."""
        few = known.head - known.sent <= FEW_ROWS
        return LIVE_PRIORITY if known.slow == 0 and few and self._is_urgent(known) else REPLAY_PRIORITY

    @property
    def _step_bytes(self) -> int:
        """Frames begin small and grow with what was sent. One that is cut off was sent for nothing: on a line
        that is cut again and again, at least half of what passes is whole frames."""
        return min(STEP, max(FIRST_STEP, self._sent))

    async def _step(self, known: _Log) -> None:
        """Send the next rows of a log that is behind, then let others have their turn."""
        start = known.sent
        try:
            rows = await self._store.read_some(known.session_id, start, self._step_bytes)
        except BasculeError as error:
            log.warning("session %s is not sent to the hub: %s", known.session_id, error.message)
            known.broken = True
            return
        if known.sent == start and self._logs.get(known.session_id) is known:
            if rows:
                self._send_rows(known, rows, self._priority(known))
            else:
                known.head = start  # it was forgotten; the one who did so reports it
        self._queue(known)

    def _send_rows(self, known: _Log, rows: Sequence[Row], priority: int) -> None:
        known.head = max(known.head, rows[-1].seq)
        if priority == REPLAY_PRIORITY and not known.named:
            known.named = True
            self._send(SessionHead(known.session_id, known.head), LIVE_PRIORITY)
        size = sum(len(row.body) for row in rows)
        known.unacked.append(_Unacked(rows[-1].seq, size, priority))
        self._unacked += size
        self._sent += size
        if priority == REPLAY_PRIORITY:
            self._replayed += size
            known.slow += 1
        known.sent = rows[-1].seq
        known.named = known.named and known.behind
        bodies = tuple([Raw(row.body) for row in rows])
        self._send(SessionOutput(known.session_id, rows[0].seq, bodies), priority)


def _age(known: _Log) -> tuple[str, str]:
    return known.updated_at, known.session_id


def _in_steps(rows: Iterable[Row], most: int) -> Iterator[list[Row]]:
    some: list[Row] = []
    size = 0
    for row in rows:
        if some and size + len(row.body) > most:
            yield some
            some, size = [], 0
        some.append(row)
        size += len(row.body)
    if some:
        yield some


def _note_failed(done: "asyncio.Future[None]") -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        log.warning("what the hub has acknowledged could not be noted: %s", error)
