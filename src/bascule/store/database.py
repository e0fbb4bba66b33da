"""A store in a database: one thread writes, a few read; each commit is reported to the event loop.

What differs between databases is in their `Engine` and their connections; everything here is the same.
"""

import asyncio
import secrets
from collections.abc import Callable
from typing import TypeVar

from bascule.model.codec import timestamp, vocabulary
from bascule.model.errors import StorageFailed
from bascule.store import device_audit, found, replicas, taking_in
from bascule.store.audit import SentRecord
from bascule.store.base import AuditRecord, Batch, Committed, Listener
from bascule.store.database_reads import DatabaseReads
from bascule.store.device_audit import TakenAudit
from bascule.store.engine import Engine
from bascule.store.reader import Readers
from bascule.store.rebuild import rebuild
from bascule.store.replication import TakenIn
from bascule.store.search_index import Filler
from bascule.store.taking_in import Incoming
from bascule.store.transaction import Transaction
from bascule.store.writer import AppendStep, Outcome, Step, TakeInStep, WorkStep, Writer

NEW_BARRIER = "INSERT OR REPLACE INTO meta (name, value) VALUES ('barrier', ?)"

T = TypeVar("T")


class DatabaseStore(DatabaseReads):
    """Belongs to one event loop, and all its methods are called there."""

    def __init__(
        self,
        engine: Engine,
        readers: Readers,
        epoch: str,
        problem: StorageFailed | None,
        clock: Callable[[], float],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(readers, clock)
        self.epoch = epoch
        self.opening = secrets.token_hex(8)
        self._loop = loop
        self._listeners: dict[object, Listener] = {}
        self._storage_watchers: dict[object, Callable[[], None]] = {}
        self._audit_watchers: dict[object, Callable[[], None]] = {}
        self._problem = problem
        self._writable = asyncio.Event()
        if problem is None:
            self._writable.set()
        self._closing: asyncio.Task[None] | None = None
        self._writer = Writer(engine, problem, clock, self._report)
        self._filler = Filler(self, loop)

    @property
    def link_name(self) -> str:
        """Names this store on a link. Both ends say the same only when they use this very object: the epoch
        alone is also that of a cloned disk, whose rows a hub would otherwise never ask for."""
        return f"{self.epoch}.{self.opening}"

    @property
    def storage_problem(self) -> str | None:
        return self._problem.message if self._problem else None

    def watch_storage(self, changed: Callable[[], None]) -> Callable[[], None]:
        name = object()
        self._storage_watchers[name] = changed
        return lambda: self._storage_watchers.pop(name, None) and None

    async def writable(self) -> None:
        await self._writable.wait()

    def append(self, batch: Batch) -> "asyncio.Future[None]":
        promise: asyncio.Future[None] = self._loop.create_future()
        step = AppendStep(promise, batch)
        outcome = self._writer.commit_here(step) if self._closing is None else None
        if outcome is None:
            self._put(step, promise)
        else:
            # Its owner has not got the promise yet, and listeners may ask for more.
            self._loop.call_soon(self._deliver, outcome)
        return promise

    def transact(self, work: Callable[[Transaction], T], *, sync: bool = True) -> "asyncio.Future[T]":
        """Queue any other change. It runs on the writer's thread; if it raises, nothing of it is kept."""
        promise: asyncio.Future[T] = self._loop.create_future()
        self._put(WorkStep(promise, sync, work), promise)
        return promise

    def take_in(
        self, device: str, session_id: str, first: int, rows: list[bytes], skew: float = 0.0
    ) -> "asyncio.Future[TakenIn]":
        promise: asyncio.Future[TakenIn] = self._loop.create_future()
        self._put(TakeInStep(promise, Incoming(device, session_id, first, rows, skew)), promise)
        return promise

    def barrier(self) -> "asyncio.Future[None]":
        # A commit that changes nothing would not wait for the disk.
        return self._execute(NEW_BARRIER, (secrets.token_bytes(8),), sync=True)

    def set_aside(self, device: str, session_id: str) -> "asyncio.Future[str | None]":
        now = self.clock()
        return self.transact(
            lambda transaction: taking_in.set_aside(transaction, device, session_id, now), sync=False
        )

    def forget_copy(self, device: str, session_id: str) -> "asyncio.Future[bool]":
        return self.transact(
            lambda transaction: taking_in.forget_copy(transaction, device, session_id), sync=False
        )

    def found_again(self, device: str) -> "asyncio.Future[None]":
        return self._execute(replicas.NOT_GONE, (device,))

    async def refold(self) -> list[str]:
        """Fold those copies again that hold rows another version did not know. Gives their names."""
        names = await self.query(lambda connection: replicas.not_understood(connection, vocabulary()))
        for name in names:
            await self.transact(
                lambda transaction, name=name: taking_in.refold(transaction, name), sync=False
            )
        return names

    async def need_synced_rows(self) -> Callable[[], None]:
        self._writer.sync_rows += 1
        needed = True

        def release() -> None:
            nonlocal needed
            self._writer.sync_rows -= needed
            needed = False

        try:
            await self.barrier()  # what was written before
        except BaseException:
            release()
            raise
        return release

    def note_acknowledged(self, hub: str, rows: int) -> "asyncio.Future[None]":
        return self._execute(replicas.NOTE_ACKNOWLEDGED, (hub, rows))

    def _execute(
        self, statement: str, values: tuple[str | int | bytes, ...], *, sync: bool = False
    ) -> "asyncio.Future[None]":
        def work(transaction: Transaction) -> None:
            transaction.connection.execute(statement, values)

        return self.transact(work, sync=sync)

    def _put(self, step: Step, promise: "asyncio.Future[T]") -> None:
        if self._closing is None:
            self._writer.put(step)
        else:
            promise.set_exception(StorageFailed("The store is closed; nothing of this was stored."))

    async def audit(self, records: list[AuditRecord]) -> None:
        await self.transact(lambda transaction: transaction.audit(records))

    def watch_audit(self, changed: Callable[[], None]) -> Callable[[], None]:
        name = object()
        self._audit_watchers[name] = changed
        return lambda: self._audit_watchers.pop(name, None) and None

    def take_in_audit(
        self, device: str, first: int, rows: list[SentRecord], *, anew: bool = False
    ) -> "asyncio.Future[TakenAudit]":
        at = timestamp(self.clock())
        return self.transact(
            lambda transaction: device_audit.take_in(
                transaction.connection, device, first, rows, at, anew=anew
            )
        )

    def _report(self, outcome: Outcome) -> None:
        self._loop.call_soon_threadsafe(self._deliver, outcome)

    def _deliver(self, outcome: Outcome) -> None:
        self._writer.delivered(len(outcome.steps))
        before, self._problem = self.storage_problem, outcome.problem
        if self.storage_problem != before:
            for changed in list(self._storage_watchers.values()):
                changed()
        if outcome.problem is None:
            self._writable.set()
        else:
            self._writable.clear()
        self._filler.sessions_wrote(sum(len(commit.rows) for commit in outcome.committed))
        if outcome.owed:
            self._filler.wake()
        for commit in outcome.committed:
            self._tell(commit)
        if outcome.audited:
            for changed in list(self._audit_watchers.values()):
                changed()
        for step in outcome.steps:
            _settle(step)

    def _tell(self, commit: Committed) -> None:
        for listener in list(self._listeners.values()):
            try:
                listener(commit)
            except Exception as error:  # noqa: BLE001 - one listener's fault is not the others'
                self._loop.call_exception_handler(
                    {"message": "A listener of the store failed", "exception": error}
                )

    def listen(self, listener: Listener) -> Callable[[], None]:
        name = object()
        self._listeners[name] = listener
        return lambda: self._listeners.pop(name, None) and None

    async def searchable(self) -> None:
        """Wait until everything that is folded can be found."""
        await self._filler.up_to_date()

    async def rebuild(self, session_id: str) -> None:
        """Make a session's entries, edits and search again from its log."""
        await self.transact(lambda transaction: rebuild(transaction, session_id), sync=False)

    async def forget(self, session_id: str) -> bool:
        return await self.transact(lambda transaction: found.forget(transaction, session_id), sync=False)

    # Closing ------------------------------------------------------------------------------------------

    async def close(self) -> None:
        if self._closing is None:
            self._closing = self._loop.create_task(self._close(), name="close the store")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await self._filler.close()
        await self._readers.close()  # first: the last connection to close is the one that may tidy up
        await asyncio.wrap_future(self._writer.close())


def _settle(step: Step) -> None:
    promise = step.promise
    if promise.done():
        return
    if step.error is None:
        promise.set_result(step.result)
    else:
        promise.set_exception(step.error)
