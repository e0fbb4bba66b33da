"""The writer thread: commits all queued steps as one group and reports the result."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from msgspec import Struct

from bascule.model.codec import Logged, encode_log
from bascule.model.errors import BasculeError, StorageFailed
from bascule.store.base import Batch, Committed
from bascule.store.engine import Engine
from bascule.store.replication import TakenIn
from bascule.store.taking_in import Incoming, take_in
from bascule.store.transaction import Transaction

MAX_GROUP_STEPS = 1024
MAX_GROUP_EVENTS = 2048  # longer ones would keep the interpreter from the event loop
MAX_GROUP_BYTES = 4 * 1024 * 1024
PROBE_SECONDS = 0.25  # between looks at a disk that would not take more
# What is committed on the event loop's thread, in no more than a fraction of a millisecond.
MAX_HERE_EVENTS = 4
MAX_HERE_BYTES = 16 * 1024
SLOW_SECONDS = 0.02  # a commit there that took longer: something holds up the disk
REST_SECONDS = 1.0  # in which every commit is the writer's own after that
PAGE_BYTES = 4096


class Step:
    """A queued write and its future."""

    def __init__(self, promise: "asyncio.Future[Any]", sync: bool) -> None:
        self.promise = promise
        self.sync = sync
        self.result: object = None
        self.error: Exception | None = None


class RowsStep(Step):
    """Adds rows to one session's log."""

    def __init__(self, promise: "asyncio.Future[Any]", sync: bool, session_id: str) -> None:
        super().__init__(promise, sync)
        self.session_id = session_id
        self.prepared = False
        self.bodies: list[bytes] = []
        self.size = 0

    def prepare(self) -> None:
        """Do what needs no transaction. What it raises fails this step alone."""
        raise NotImplementedError

    def run(self, transaction: Transaction) -> object:
        """Raises a `BasculeError` before it has changed anything."""
        raise NotImplementedError


class AppendStep(RowsStep):
    def __init__(self, promise: "asyncio.Future[Any]", batch: Batch) -> None:
        super().__init__(promise, batch.sync, batch.session_id)
        self.batch = batch
        self.log: list[Logged] = []

    def prepare(self) -> None:
        """The only time an event is encoded: these bytes go to the database, the link and the browser."""
        self.log = self.batch.log()
        self.bodies = encode_log(self.log)
        self.size = sum(map(len, self.bodies))

    def run(self, transaction: Transaction) -> None:
        transaction.append(self.batch, self.log, self.bodies)


class TakeInStep(RowsStep):
    def __init__(self, promise: "asyncio.Future[Any]", incoming: Incoming) -> None:
        super().__init__(promise, False, incoming.session_id)
        self.incoming = incoming

    def prepare(self) -> None:
        self.bodies = self.incoming.rows
        self.size = sum(map(len, self.bodies))
        self.incoming.check(self.size)

    def run(self, transaction: Transaction) -> TakenIn:
        return take_in(transaction, self.incoming)


class WorkStep(Step):
    """Any other change, as a function of the transaction."""

    def __init__(
        self, promise: "asyncio.Future[Any]", sync: bool, work: Callable[[Transaction], object]
    ) -> None:
        super().__init__(promise, sync)
        self.work = work


class Outcome(Struct):
    """The result of a group, reported to the event loop in one call."""

    steps: list[Step]
    committed: list[Committed]
    problem: StorageFailed | None
    owed: bool = False  # there is more to put into the search index
    audited: bool = False  # audit records were added


class Writer:
    """The only one that writes. `report` is called on its thread, once for each group.

    One small step may be committed by the event loop's own thread (`commit_here`), which saves two switches
    between threads. Only that thread puts steps, so while nothing it put is undelivered, the writer's thread
    waits for the queue and has no part in the database.
    """

    def __init__(
        self,
        engine: Engine,
        problem: StorageFailed | None,
        clock: Callable[[], float],
        report: Callable[[Outcome], None],
    ) -> None:
        self._engine = engine
        self._report = report
        self._audited: int | None = None
        self._queue: SimpleQueue[Step | None] = SimpleQueue()
        self._transaction = Transaction(engine.connection, clock)
        self._problem = problem
        self._probed_at = 0.0
        self._undelivered = 0  # steps that were put; counted by the loop's thread alone
        self._not_here_before = 0.0
        self.sync_rows = 0  # how many are notified of rows only once these are on the disk
        self._ended: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="store writer", daemon=True)
        self._thread.start()

    def put(self, step: Step) -> None:
        self._undelivered += 1
        self._queue.put(step)

    def delivered(self, steps: int) -> None:
        """So many of the steps that were put, or committed here, have been reported to their owners."""
        self._undelivered -= steps

    def commit_here(self, step: AppendStep) -> Outcome | None:
        """Commit a small step on the caller's thread. None when it has to be `put` instead: it is too large,
        might have to wait for the disk, or would overtake another one."""
        if self._undelivered or self._problem or not self._is_small(step.batch):
            return None
        began = monotonic()
        if began < self._not_here_before or not self._engine.is_quick():
            return None
        self._prepare(step)
        if step.error is not None or step.size > MAX_HERE_BYTES:
            return None
        try:
            committed = self._commit([step], patient=False)
        except Exception as error:  # noqa: BLE001 - the writer's thread tries again, and deals with faults
            self._undo(error)
            step.error = None
            return None
        self._undelivered += 1
        outcome = Outcome([step], committed, None, self._transaction.take_owed())
        self._engine.wrote(_bytes_in(outcome.steps))
        if monotonic() - began > SLOW_SECONDS:
            self._not_here_before = began + REST_SECONDS
        return outcome

    def _is_small(self, batch: Batch) -> bool:
        """Whether it only adds a few rows to a log whose session is in memory."""
        few = 0 < len(batch.events) <= MAX_HERE_EVENTS
        more = batch.driver_state is not None or batch.writes or batch.delivered or batch.audit or batch.reply
        synced = batch.sync or self.sync_rows
        return few and not more and not synced and self._transaction.is_at_hand(batch.session_id)

    def close(self) -> Future[None]:
        """Write what is queued and close the database."""
        self._queue.put(None)
        return self._ended

    def _run(self) -> None:
        try:
            while self._serve_one_group():
                pass
            self._engine.close()
            self._ended.set_result(None)
        except BaseException as error:  # noqa: BLE001 - `close` reports it
            self._ended.set_exception(error)

    def _serve_one_group(self) -> bool:
        try:
            step = self._queue.get(timeout=PROBE_SECONDS if self._problem else None)
        except Empty:
            self._probe()
            if self._problem is None:
                self._report(Outcome([], [], None))
            return True
        group, go_on = self._gather(step)
        if group:
            before = self._audited
            committed = self._commit_group(group)
            owed, audited = self._transaction.take_owed(), self._audited != before
            self._engine.wrote(_bytes_in(group))
            self._report(Outcome(group, committed, self._problem, owed, audited))
        return go_on

    def _gather(self, step: Step | None) -> tuple[list[Step], bool]:
        group: list[Step] = []
        size = events = 0
        while step is not None:
            group.append(step)
            if isinstance(step, RowsStep):
                if not step.prepared:
                    self._prepare(step)
                size, events = size + step.size, events + len(step.bodies)
            if len(group) >= MAX_GROUP_STEPS or events >= MAX_GROUP_EVENTS or size >= MAX_GROUP_BYTES:
                return group, True
            try:
                step = self._queue.get_nowait()
            except Empty:
                return group, True
        return group, False

    def _prepare(self, step: RowsStep) -> None:
        step.prepared = True
        try:
            step.prepare()
        except Exception as error:  # noqa: BLE001 - its owner gets it; the others go on
            step.error = error

    def _commit_group(self, group: list[Step]) -> list[Committed]:
        if self._problem and monotonic() - self._probed_at >= PROBE_SECONDS:
            self._probe()
        if self._problem:
            self._fail(group, self._problem)
            return []
        sound = [step for step in group if step.error is None]
        try:
            return self._commit(sound)
        except Exception as error:  # noqa: BLE001 - reported to the steps' owners
            return self._after_failure(sound, self._undo(error))

    def _undo(self, error: Exception) -> Exception:
        """Roll back. The error as it is, or a worse one when even that is not possible."""
        try:
            self._transaction.rollback()
        except Exception as worse:  # noqa: BLE001 - of whatever database
            return StorageFailed(f"The database can't be written ({worse}, after {error}).")
        return error

    def _after_failure(self, steps: list[Step], error: Exception) -> list[Committed]:
        fault = self._engine.fault(error)
        if fault is not None:
            self._problem, self._probed_at = fault, monotonic()
            self._fail(steps, fault)
            return []
        if len(steps) == 1:
            step = steps[0]
            session_id = step.session_id if isinstance(step, RowsStep) else None
            step.error = self._engine.in_our_words(error, session_id)
            return []
        # One of them is at fault, and it must not take the others with it: each for itself, in order.
        committed: list[Committed] = []
        for step in steps:
            step.error = None
            committed += self._commit_group([step])
        return committed

    def _commit(self, steps: Sequence[Step], *, patient: bool = True) -> list[Committed]:
        if not steps:
            return []
        self._begin(any(step.sync for step in steps) or self._adds_rows_to_sync(steps), patient)
        for step in steps:
            if isinstance(step, RowsStep):
                try:
                    step.result = step.run(self._transaction)
                except BasculeError as error:  # raised before it changed anything
                    step.error = error
            elif isinstance(step, WorkStep):
                step.result = step.work(self._transaction)
        committed = self._transaction.commit(self._engine.committing)
        audited = self._transaction.audited
        self._engine.committed(committed, audited if audited != self._audited else None)
        self._audited = audited if audited is not None else self._audited
        return committed

    def _adds_rows_to_sync(self, steps: Sequence[Step]) -> bool:
        return self.sync_rows > 0 and any(
            isinstance(step, AppendStep) and (step.bodies or step.batch.audit) for step in steps
        )

    def _begin(self, full_sync: bool, patient: bool) -> None:
        self._engine.prepare(full_sync, patient=patient)
        self._transaction.begin()
        unchanged = self._engine.renewed()
        if unchanged is not None:
            self._transaction.forget_all(unchanged)

    def _fail(self, steps: list[Step], fault: StorageFailed) -> None:
        for step in steps:
            step.error = step.error or type(fault)(fault.message)
            if isinstance(step, RowsStep):
                self._transaction.unsaved[step.session_id] = fault

    def _probe(self) -> None:
        """See whether there is room again."""
        self._probed_at = monotonic()
        try:
            self._engine.probe()
            self._problem = None
        except Exception as error:  # noqa: BLE001 - of whatever database
            self._problem = self._engine.fault(self._undo(error)) or self._problem


def _bytes_in(group: list[Step]) -> int:
    """About what a group adds to the write-ahead log: whole pages, a few now and then for its sessions."""
    return 3 * PAGE_BYTES + 2 * sum(step.size for step in group if isinstance(step, RowsStep))
