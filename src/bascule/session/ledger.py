"""The ledger of a session: numbers events, folds them at once, and commits them to the store in order.

State changes the moment something is logged, before anything is awaited; that is what makes the first
answer win. One step is on its way to the store at a time; what is logged meanwhile joins the next step.
A failing disk holds the step back and tries it again: nothing is dropped, nothing later overtakes it.
The caller gets that refusal at once (`answer`), and need not wait until there is room.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from bascule.model.codec import Logged, timestamp
from bascule.model.errors import StorageFailed
from bascule.model.events import AnyEvent
from bascule.model.lifecycle import LIVE
from bascule.model.records import Pending, RequestRecord, RequestState, SessionRecord, Write
from bascule.model.session_fold import NO_RECORD_CHANGE, SessionFold
from bascule.store.base import AuditRecord, Batch, ResumePoint, StoredReply
from bascule.store.protocols import DaemonStore

SETTLED: frozenset[RequestState] = frozenset({"delivered", "confirmed", "withdrawn"})
SETTLED_KEPT = 256  # settled requests remembered, to tell a second answer who was first
RETRY_SECONDS = 0.5
DONE_LATER = "It is done as soon as there is room: free some space, and do not ask for it again."


class _Step:
    """One batch on its way to the store, and a future for each caller who waits for it."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._waiting: list[asyncio.Future[None]] = []

    def promise(self) -> asyncio.Future[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # A step that no caller waits for must not complain when the server stops under it.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._waiting.append(future)
        return future

    def settle(self, error: BaseException | None) -> None:
        for future in self._waiting:
            if future.done():
                continue
            if error is None:
                future.set_result(None)
            elif isinstance(error, asyncio.CancelledError):
                future.cancel()
            else:
                future.set_exception(error)


class Ledger:
    """`once`: a disk that refuses the first step makes it fail, and it is not tried again.

    That is for a session that is only begun: nothing of it is stored, and the ledger is of no use any more.
    """

    def __init__(
        self, store: DaemonStore, point: ResumePoint, clock: Callable[[], float], *, once: bool = False
    ) -> None:
        self._fold = SessionFold(point.record, point.pending, point.requests)
        self.record = self._fold.record
        self.pending = self._fold.pending
        self.requests = self._fold.requests
        self.storage_full = False
        self._store = store
        self._clock = clock
        self._once = once
        self._steps: deque[_Step] = deque()
        self._asking: set[asyncio.Future[StorageFailed]] = set()

    @classmethod
    def new(
        cls, store: DaemonStore, session_id: str, clock: Callable[[], float], *, once: bool = False
    ) -> "Ledger":
        record = SessionRecord(session_id=session_id)
        return cls(store, ResumePoint(record, Pending(), 0, 0, None, [], []), clock, once=once)

    @property
    def live(self) -> bool:
        return self.record.phase in LIVE

    def open_requests(self) -> list[RequestRecord]:
        return [request for request in self.requests.values() if request.state == "open"]

    def log(
        self,
        events: Sequence[AnyEvent],
        *,
        out_offset: int | None = None,
        err_offset: int | None = None,
        driver_state: bytes | None = None,
        writes: Sequence[Write] = (),
        delivered: Sequence[str] = (),
        audit: Sequence[AuditRecord] = (),
        reply: StoredReply | None = None,
        sync: bool = False,
    ) -> asyncio.Future[None]:
        """Make these facts true now and durable soon; the future says when.

        `driver_state` is the driver's state at `out_offset`. A step that only read on may leave it out: the
        driver is brought there again by the same output.
        """
        at = timestamp(self._clock())
        step = self._step_to_join(at, reply)
        batch = step.batch
        self._apply(events, at)
        batch.events.extend(events)
        if out_offset is not None:
            batch.out_offset = out_offset
        if err_offset is not None:
            batch.err_offset = err_offset
        if driver_state is not None:
            batch.driver_state, batch.state_offset = driver_state, out_offset
        if writes:
            batch.writes.extend(write for write in writes if write.data)
        if delivered:
            batch.delivered.extend(delivered)
        if audit:
            batch.audit.extend(audit)
        batch.reply = reply or batch.reply
        batch.sync = batch.sync or sync
        if len(self._steps) == 1:
            self._send()
        return step.promise()

    def _apply(self, events: Sequence[AnyEvent], at: str) -> None:
        seq = self.record.seq
        for event in events:
            seq += 1
            # Nearly all only move the number, which is set below.
            if type(event) in NO_RECORD_CHANGE or self._fold.only_moves(event):
                continue
            if self._fold.apply(Logged(seq, at, event)):
                self._fold.forget(SETTLED, SETTLED_KEPT)
        if events:
            self.record.seq, self.record.updated_at = seq, at

    async def settled(self) -> None:
        """Wait until everything logged so far is durable."""
        if self._steps:
            await self._steps[-1].promise()

    async def answer(self, committed: asyncio.Future[None]) -> None:
        """Wait for a commit on behalf of the caller.

        Raises `StorageFailed` as soon as the disk refuses it. The step is kept and tried again all the same.
        """
        refused: asyncio.Future[StorageFailed] = asyncio.get_running_loop().create_future()
        self._asking.add(refused)
        try:
            await asyncio.wait([committed, refused], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._asking.discard(refused)
        if not committed.done():
            error = refused.result()
            raise type(error)(f"{error.message} {DONE_LATER}")
        committed.result()

    def holds_reply(self, key: str | None) -> bool:
        """Whether the command of this key is done and still on its way to the store."""
        return key is not None and any(
            step.batch.reply and step.batch.reply.key == key for step in self._steps
        )

    def _step_to_join(self, at: str, reply: StoredReply | None) -> "_Step":
        # The first step is in the writer's hands already; only the ones behind it are still open.
        if len(self._steps) > 1 and not (self._steps[-1].batch.reply and reply):
            return self._steps[-1]
        step = _Step(Batch(self.record.session_id, self.record.seq + 1, at, []))
        self._steps.append(step)
        return step

    def _send(self) -> None:
        self._store.append(self._steps[0].batch).add_done_callback(self._stored)

    def _stored(self, stored: asyncio.Future[None]) -> None:
        error = asyncio.CancelledError() if stored.cancelled() else stored.exception()
        if isinstance(error, StorageFailed) and not self._once:
            self._hold_back(error)
            return
        self.storage_full = False
        if error is not None:
            self._fail(error)
            return
        self._once = False
        self._steps.popleft().settle(None)
        if self._steps:
            self._send()

    def _hold_back(self, error: StorageFailed) -> None:
        self.storage_full = True
        for asking in self._asking:
            if not asking.done():
                asking.set_result(error)
        asyncio.get_running_loop().call_later(RETRY_SECONDS, self._send)

    def _fail(self, error: BaseException) -> None:
        """The store failed: fails every waiting future."""
        while self._steps:
            self._steps.popleft().settle(error)
