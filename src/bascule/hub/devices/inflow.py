"""Inflow: takes the logs that one device sends into this hub's store, and acknowledges what is on the disk.

Rows are committed at once, so that viewers see them, and synced together now and then; only then they are
acknowledged. While the store can't write nothing is acknowledged, so the device stops sending; afterwards it
learns again where the copies end.
"""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial

from bascule.link.frames import (
    Ack,
    DownFrame,
    Fetch,
    Resume,
    SessionDiverged,
    SessionForgotten,
    SessionHead,
    SessionOutput,
)
from bascule.model.errors import (
    CallerError,
    DeviceOffline,
    Diverged,
    SessionNotFound,
    StorageFailed,
    StoreConflict,
)
from bascule.store.replication import ReplicaStore, TakenIn
from bascule.store.taking_in import MAX_BATCH_BYTES

log = logging.getLogger(__name__)

WINDOW = 4 * 1024 * 1024
BARRIER_SECONDS = 0.2
BARRIER_BYTES = 1024 * 1024
RETRY_SECONDS = 0.25
FETCH_SECONDS = 20.0
CATCH_UP_SECONDS = 2.0  # that the answer to a command waits for the rows it wrote
MAX_VIOLATIONS = 3  # then the line is closed
PAGE = 1000  # heads in one `Resume`
PRIORITY = 2  # as live rows: acknowledgements are small, and the device waits for them

OFFLINE = "The device is no longer connected."

Send = Callable[[DownFrame, int], None]
Close = Callable[[str], None]


def _nobody(session_id: str, aside: str | None) -> None:
    """For a hub whose viewers need no notice."""


class Inflow:
    """One line's receiver. `send` takes a frame and its priority; `close` ends the line and says why.

    `set_aside` is called when a session's log was begun again, with the id of its earlier copy: positions in
    the log mean nothing any more to those who view it.
    """

    def __init__(
        self,
        store: ReplicaStore,
        device: str,
        send: Send,
        close: Close,
        *,
        window: int = WINDOW,
        set_aside: Callable[[str, str | None], None] = _nobody,
        skew: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._store = store
        self._device = device
        self._send = send
        self._close = close
        self._on_set_aside = set_aside
        self._skew = skew
        self._most = window + MAX_BATCH_BYTES
        self._loop = asyncio.get_running_loop()
        self._received = 0  # bytes that are neither acknowledged nor given up
        self._stored = 0  # of them: committed, not yet synced
        self._heads: dict[str, int] = {}  # to be acknowledged
        self._rows = 0
        self._reached: dict[str, int] = {}  # rows of the logs that the device has now
        self._waiting: defaultdict[str, list[tuple[int, asyncio.Future[None]]]] = defaultdict(list)
        self._fetching: defaultdict[str, list[asyncio.Future[int | None]]] = defaultdict(list)
        self._asked: set[str] = set()  # the device knows where these end; what does not follow is older
        self._lost: set[str] = set()  # with rows that could not be stored
        self._begun_again: set[str] = set()
        self._violations = 0
        self._timer: asyncio.TimerHandle | None = None
        self._syncing = False
        self._recovery: asyncio.Task[None] | None = None
        self._open = True

    async def start(self) -> None:
        """Tell the device how far the copies of its logs reach."""
        await self._store.found_again(self._device)
        after, more = "", True
        while more:
            heads = await self._store.heads_of(self._device, after, PAGE)
            more = len(heads) == PAGE
            after = max(heads, default="")
            self._reached.update({session_id: seq for session_id, (seq, _) in heads.items()})
            self._say(Resume(heads, last=not more))

    async def stop(self) -> None:
        """The line is gone. What was taken in stays; waiters for more get the error."""
        self._open = False
        if self._timer is not None:
            self._timer.cancel()
        if self._recovery is not None:
            self._recovery.cancel()
            await asyncio.gather(self._recovery, return_exceptions=True)
        for waiting in self._waiting.values():
            for _, promise in waiting:
                if not promise.done():
                    promise.set_exception(DeviceOffline(OFFLINE))
        self._waiting.clear()
        for promises in self._fetching.values():
            for promise in promises:
                promise.cancel()

    def receive(self, frame: SessionOutput | SessionHead | SessionDiverged | SessionForgotten) -> None:
        if not self._open:
            return
        match frame:
            case SessionOutput():
                self._take_in(frame)
            case SessionHead():
                self._note_head(frame.session_id, frame.seq)
            case SessionDiverged():
                self._set_aside(frame.session_id)
            case SessionForgotten():
                self._note_head(frame.session_id, None)
                forgetting = self._store.forget_copy(self._device, frame.session_id)
                forgetting.add_done_callback(partial(self._forgotten, frame.session_id))

    # What others ask ----------------------------------------------------------------------------------

    async def waits_for(self, session_id: str, seq: int) -> None:
        """Return once this hub has the row. Raises `DeviceOffline` when the line goes first."""
        promise: asyncio.Future[None] = self._loop.create_future()
        waiting = self._waiting[session_id]
        waiting.append((seq, promise))
        try:
            if await self._reached_in(session_id) < seq:
                if not self._open and not promise.done():
                    raise DeviceOffline(OFFLINE)
                await promise
        finally:
            promise.cancel()
            self._waiting[session_id] = [one for one in self._waiting[session_id] if one[1] is not promise]
            if not self._waiting[session_id]:
                del self._waiting[session_id]

    async def _reached_in(self, session_id: str) -> int:
        """How far this hub's copy of the device's log goes. A copy of another log does not count."""
        reached = self._reached.get(session_id)
        if reached is None:
            record = await self._store.session(session_id)
            return 0 if record is None else record.seq
        return reached

    async def catches_up(self, session_id: str, seq: int) -> None:
        """Wait a little while for the row of a log of which this hub has a copy."""
        if self._reached.get(session_id, seq) < seq:
            with contextlib.suppress(TimeoutError, DeviceOffline):
                async with asyncio.timeout(CATCH_UP_SECONDS):
                    await self.waits_for(session_id, seq)

    async def fetch(self, session_id: str) -> None:
        """Have the device send a found session, too, and return once it is here. Raises `SessionNotFound`."""
        promise: asyncio.Future[int | None] = self._loop.create_future()
        self._fetching[session_id].append(promise)
        self._say(Fetch(session_id))
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                head = await promise
                if head is None:
                    raise SessionNotFound(session_id)
                await self.waits_for(session_id, head)
        except TimeoutError:
            raise DeviceOffline("The machine did not send this session in time; try again.") from None

    def _note_head(self, session_id: str, seq: int | None) -> None:
        for promise in self._fetching.pop(session_id, ()):
            if not promise.done():
                promise.set_result(seq)

    # Taking in ----------------------------------------------------------------------------------------

    def _take_in(self, frame: SessionOutput) -> None:
        if frame.session_id in self._lost:
            return  # it is asked for again when there is room
        rows = [bytes(row) for row in frame.rows]
        size = sum(map(len, rows))
        self._received += size
        if self._received > self._most:
            self._end("The device sent more than it may before an acknowledgement.")
            return
        taking = self._store.take_in(self._device, frame.session_id, frame.first, rows, self._skew())
        taking.add_done_callback(partial(self._taken, frame.session_id, size))

    def _taken(self, session_id: str, size: int, done: "asyncio.Future[TakenIn]") -> None:
        error = done.exception()
        if error is not None:
            self._received -= size
            self._refused(session_id, error)
            return
        head, _, self._rows = done.result()
        self._asked.discard(session_id)
        self._stored += size
        self._heads[session_id] = head
        self._reach(session_id, head)
        self._sync_soon()

    def _reach(self, session_id: str, head: int) -> None:
        self._reached[session_id] = head
        for seq, promise in self._waiting.get(session_id, ()):
            if seq <= head and not promise.done():
                promise.set_result(None)

    def _refused(self, session_id: str, error: BaseException) -> None:
        match error:
            case StorageFailed():
                self._lose(session_id)
            case Diverged():
                if session_id not in self._asked:
                    self._asked.add(session_id)
                    self._set_aside(session_id, ask=True)
            case StoreConflict():
                if session_id not in self._asked:
                    self._violation(str(error))
                    self._ask([session_id])
            case CallerError():
                self._violation(str(error))
            case _:
                log.error("rows of session %s can't be taken in: %s", session_id, error)

    def _violation(self, what: str) -> None:
        self._violations += 1
        log.warning("device %s: %s", self._device, what)
        if self._violations >= MAX_VIOLATIONS:
            self._end(f"The device sent what it may not: {what}")

    def _end(self, reason: str) -> None:
        if self._open:
            self._open = False
            self._close(reason)

    def _forgotten(self, session_id: str, done: "asyncio.Future[bool]") -> None:
        error = done.exception()
        if error is not None:
            self._refused(session_id, error)
            return
        if done.result():
            self._reached.pop(session_id, None)
        else:  # kept, but the device has no such log: one that it begins with this id is another
            self._reached[session_id] = 0

    def _set_aside(self, session_id: str, *, ask: bool = False) -> None:
        if session_id in self._begun_again:
            self._violation(f"Session {session_id} was begun again twice.")
            return
        self._begun_again.add(session_id)
        self._heads.pop(session_id, None)
        self._reached[session_id] = 0
        setting = self._store.set_aside(self._device, session_id)
        setting.add_done_callback(partial(self._was_set_aside, session_id, ask))

    def _was_set_aside(self, session_id: str, ask: bool, done: "asyncio.Future[str | None]") -> None:
        error = done.exception()
        if error is not None:
            self._begun_again.discard(session_id)
            self._refused(session_id, error)
            return
        if done.result() is None:  # nothing was kept, as of a found session: it may be begun again
            self._begun_again.discard(session_id)
        self._on_set_aside(session_id, done.result())
        if ask:
            self._say(Resume({session_id: (0, 0)}))

    # Acknowledging ------------------------------------------------------------------------------------

    def _sync_soon(self) -> None:
        if self._syncing or not self._open:
            return
        if self._stored >= BARRIER_BYTES:
            self._sync()
        elif self._timer is None:
            self._timer = self._loop.call_later(BARRIER_SECONDS, self._sync)

    def _sync(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._syncing = True
        self._store.barrier().add_done_callback(self._synced)

    def _synced(self, done: "asyncio.Future[None]") -> None:
        """All rows whose result has been seen by now were committed with the barrier or before it."""
        self._syncing = False
        error = done.exception()
        if error is not None:
            log.warning("nothing is acknowledged to device %s: %s", self._device, error)
            self._lose()
            return
        heads, self._heads = self._heads, {}
        self._received -= self._stored
        self._stored = 0
        if heads:
            self._say(Ack(heads, self._rows))

    def _lose(self, *sessions: str) -> None:
        """The store can't write: wait until it can, then ask for what was lost."""
        self._lost.update(sessions)
        if self._recovery is None and self._open:
            self._recovery = self._loop.create_task(self._recover(), name=f"inflow of {self._device}")

    async def _recover(self) -> None:
        await asyncio.sleep(RETRY_SECONDS)  # a store that is closing fails at once, every time
        await self._store.writable()
        lost, self._lost, self._recovery = self._lost, set(), None
        self._ask(lost)
        if self._heads:
            self._sync_soon()

    def _ask(self, sessions: Iterable[str]) -> None:
        """Have the device send these logs again from where their copies end."""
        names = [*sessions]
        if not names or not self._open:
            return
        self._asked.update(names)
        task = self._loop.create_task(self._ask_again(names), name=f"resume of {self._device}")
        task.add_done_callback(self._was_asked)

    async def _ask_again(self, names: list[str]) -> None:
        for start in range(0, len(names), PAGE):
            some = names[start : start + PAGE]
            self._say(Resume({name: await self._store.head_of(name) for name in some}))

    def _was_asked(self, done: "asyncio.Future[None]") -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            self._end(f"The hub's store can't be read: {error}")

    def _say(self, frame: DownFrame) -> None:
        if self._open:
            self._send(frame, PRIORITY)
