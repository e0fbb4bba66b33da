"""The SQLite store: one thread writes, a few read; the event loop is told of each commit."""

import asyncio
import secrets
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from bascule.model.codec import timestamp, vocabulary
from bascule.model.errors import StorageFailed, StoreDamaged
from bascule.model.records import RequestRecord, SessionRecord
from bascule.store import audit, device_audit, edits, found, listing, reader, replicas, replication, taking_in
from bascule.store.audit import SentRecord
from bascule.store.base import (
    ALL_SESSIONS,
    AuditCheck,
    AuditRecord,
    Batch,
    Committed,
    Conversation,
    Devices,
    Edited,
    EventStore,
    FoundSession,
    Listener,
    Page,
    ResumePoint,
    Row,
    SearchResult,
    SessionCounts,
    SessionFilter,
    SessionPage,
    StoredReply,
    Usage,
)
from bascule.store.continuity import go_on
from bascule.store.device_audit import DeviceChain, TakenAudit
from bascule.store.examining import examined
from bascule.store.heads import Heads
from bascule.store.health import open_sound, quarantined
from bascule.store.lock import Lock
from bascule.store.reader import Readers
from bascule.store.rebuild import rebuild
from bascule.store.replication import OwnLog, Replica, ReplicaStore, SourceStore, TakenIn
from bascule.store.search import search
from bascule.store.search_index import Filler
from bascule.store.taking_in import Incoming
from bascule.store.transaction import REPLY_SECONDS, Transaction
from bascule.store.usage import usage
from bascule.store.writer import AppendStep, Outcome, Step, TakeInStep, WorkStep, Writer

BARRIER = "INSERT OR REPLACE INTO meta (name, value) VALUES ('barrier', randomblob(8))"
MAX_AUDIT_ROWS = 1000  # that are sent to a hub at a time
MAX_DAMAGED = 100  # damaged rows that are remembered, for those who ask

T = TypeVar("T")


class SqliteStore(EventStore, SourceStore, ReplicaStore):
    """Made by `open`; belongs to one event loop, and all its methods are called there."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        problem: StorageFailed | None,
        lock: Lock,
        clock: Callable[[], float],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        heads = Heads(path)
        self.epoch, self.behind = go_on(connection, heads, clock)
        self.opening = secrets.token_hex(8)
        self.path = path
        self.clock = clock
        self.quarantined = quarantined(path)
        self.damaged: dict[str, StoreDamaged] = {}
        self.damaged_sessions: dict[str, str] = {}
        self._lock = lock
        self._loop = loop
        self._readers = Readers(path, loop)
        self._listeners: dict[object, Listener] = {}
        self._storage_watchers: dict[object, Callable[[], None]] = {}
        self._audit_watchers: dict[object, Callable[[], None]] = {}
        self._problem = problem
        self._writable = asyncio.Event()
        if problem is None:
            self._writable.set()
        self._closing: asyncio.Task[None] | None = None
        self._writer = Writer(path, connection, problem, clock, self._report, heads)
        self._filler = Filler(self, loop)

    @classmethod
    def open(
        cls, path: Path | str, *, clock: Callable[[], float], loop: asyncio.AbstractEventLoop
    ) -> "SqliteStore":
        """Open or make the database. Raises `AlreadyRunning`, `StoreDamaged`, `StoreRefused`."""
        path = Path(path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = Lock(path)
        try:
            connection, problem = open_sound(path, lock, clock)
        except BaseException:
            lock.release()
            raise
        return cls(path, connection, problem, lock, clock, loop)

    # Writing ------------------------------------------------------------------------------------------

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
        self._put(AppendStep(promise, batch), promise)
        return promise

    def transact(self, work: Callable[[Transaction], T], *, sync: bool = True) -> "asyncio.Future[T]":
        """Queue any other change. It runs on the writer's thread; if it raises, nothing of it is kept."""
        promise: asyncio.Future[T] = self._loop.create_future()
        self._put(WorkStep(promise, sync, work), promise)
        return promise

    def take_in(
        self, device: str, session_id: str, first: int, rows: list[bytes]
    ) -> "asyncio.Future[TakenIn]":
        promise: asyncio.Future[TakenIn] = self._loop.create_future()
        self._put(TakeInStep(promise, Incoming(device, session_id, first, rows)), promise)
        return promise

    def barrier(self) -> "asyncio.Future[None]":
        # A commit that changes nothing would not wait for the disk.
        return self._execute(BARRIER, (), sync=True)

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
        self, statement: str, values: tuple[str | int, ...], *, sync: bool = False
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

    # Reading ------------------------------------------------------------------------------------------

    async def read(self, session_id: str, after: int, limit: int = 1000) -> list[Row]:
        return await self._readers.run(
            lambda connection: reader.events(connection, session_id, max(after, 0), limit), session_id
        )

    async def read_some(self, session_id: str, after: int, size: int) -> list[Row]:
        return await self._readers.run(
            lambda connection: reader.events_up_to(connection, session_id, after, size), session_id
        )

    async def own_logs(self) -> list[OwnLog]:
        return await self._readers.run(replicas.own_logs)

    async def own_log(self, session_id: str) -> OwnLog | None:
        return await self._readers.run(lambda connection: replicas.own_log(connection, session_id))

    async def checksums_at(self, positions: dict[str, int]) -> dict[str, int]:
        return await self._readers.run(lambda connection: replicas.checksums_at(connection, positions))

    async def acknowledged(self, hub: str) -> int:
        return await self._readers.run(lambda connection: replicas.acknowledged(connection, hub))

    async def heads_of(self, device: str, after: str = "", limit: int = 1000) -> replication.Heads:
        return await self._readers.run(lambda connection: replicas.heads_of(connection, device, after, limit))

    async def head_of(self, session_id: str) -> tuple[int, int]:
        return await self._readers.run(lambda connection: replicas.head_of(connection, session_id))

    async def rows_of(self, device: str) -> int:
        return await self._readers.run(lambda connection: replicas.rows_of(connection, device))

    async def replica(self, session_id: str) -> Replica | None:
        return await self._readers.run(lambda connection: replicas.replica(connection, session_id))

    async def gone_sessions(self, device: str) -> list[str]:
        return await self._readers.run(lambda connection: replicas.gone_sessions(connection, device))

    async def page(
        self,
        session_id: str,
        limit: int = 50,
        before: int | None = None,
        *,
        after: int | None = None,
        around: int | None = None,
    ) -> Page:
        return await self._readers.run(
            lambda connection: reader.page(connection, session_id, limit, before, after, around), session_id
        )

    async def search(
        self, text: str, *, limit: int = 20, session_id: str | None = None, only_found: bool = False
    ) -> SearchResult:
        return await self._readers.run(
            lambda connection: search(connection, text, limit, session_id, only_found=only_found)
        )

    async def edited(self, session_id: str) -> list[Edited]:
        return await self._readers.run(lambda connection: edits.edited(connection, session_id), session_id)

    async def searchable(self) -> None:
        """Wait until everything that is folded can be found."""
        await self._filler.up_to_date()

    async def rebuild(self, session_id: str) -> None:
        """Make a session's entries, edits and search again from its log."""
        await self.transact(lambda transaction: rebuild(transaction, session_id), sync=False)

    async def session(self, session_id: str) -> SessionRecord | None:
        try:
            return await self._readers.run(
                lambda connection: reader.record(connection, session_id), session_id
            )
        except StoreDamaged as damage:
            self.remember([damage])
            raise

    async def examine(self) -> None:
        self.remember(await self._readers.run(examined))

    async def sessions(self, *, archived: bool = False) -> list[SessionRecord]:
        return self._sound(await self._readers.run(lambda connection: reader.records(connection, archived)))

    def _sound(self, read: tuple[list[SessionRecord], list[StoreDamaged]]) -> list[SessionRecord]:
        sound, damaged = read
        self.remember(damaged)
        return sound

    async def list_sessions(
        self, where: SessionFilter = ALL_SESSIONS, *, limit: int = 50, cursor: str | None = None
    ) -> SessionPage:
        page, damaged = await self._readers.run(
            lambda connection: listing.page(connection, where, limit, cursor)
        )
        self.remember(damaged)
        return page

    async def session_counts(self, *, archived: bool = False) -> SessionCounts:
        return await self._readers.run(lambda connection: listing.counts(connection, archived))

    async def live_sessions(self) -> list[SessionRecord]:
        return self._sound(await self._readers.run(listing.live))

    async def orphans(self) -> list[SessionRecord]:
        return self._sound(await self._readers.run(listing.orphans))

    async def sessions_of(self, conversation: Conversation) -> list[SessionRecord]:
        return self._sound(
            await self._readers.run(lambda connection: listing.of_conversation(connection, conversation))
        )

    async def recent_folders(self, limit: int, devices: Devices = None) -> list[tuple[str, str]]:
        return await self._readers.run(lambda connection: listing.recent_folders(connection, limit, devices))

    async def conversations(
        self, agent: str | None = None, devices: Devices = None
    ) -> dict[Conversation, str]:
        return await self._readers.run(lambda connection: listing.conversations(connection, agent, devices))

    async def usage(self, costliest: int) -> Usage:
        sums, damaged = await self._readers.run(lambda connection: usage(connection, costliest))
        self.remember(damaged)
        return sums

    async def found(self) -> list[FoundSession]:
        sound, damaged = await self._readers.run(found.found_sessions)
        self.remember(damaged)
        return sound

    async def forget(self, session_id: str) -> bool:
        return await self.transact(lambda transaction: found.forget(transaction, session_id), sync=False)

    async def resume_point(self, session_id: str) -> ResumePoint | None:
        return await self._readers.run(
            lambda connection: reader.resume_point(connection, session_id), session_id
        )

    async def request(self, session_id: str, request_id: str) -> RequestRecord | None:
        return await self._readers.run(
            lambda connection: reader.request(connection, session_id, request_id), session_id
        )

    async def open_requests(self) -> list[RequestRecord]:
        found, damaged = await self._readers.run(reader.open_requests)
        self.remember(damaged)
        return found

    async def stored_reply(self, key: str) -> StoredReply | None:
        since = self.clock() - REPLY_SECONDS
        return await self._readers.run(lambda connection: reader.reply(connection, key, since))

    async def verify_audit(self) -> AuditCheck:
        return await self._readers.run(audit.verify)

    async def audit_lines(self, after: int = 0, limit: int = 1000) -> list[bytes]:
        return await self._readers.run(lambda connection: audit.lines(connection, after, limit))

    async def audit_rows(self, after: int, size: int) -> list[SentRecord]:
        return await self._readers.run(
            lambda connection: audit.rows_after(connection, after, MAX_AUDIT_ROWS, size)
        )

    async def audit_hash(self, n: int) -> str | None:
        return await self._readers.run(lambda connection: audit.hash_at(connection, n))

    async def audit_copy(self, device: str) -> DeviceChain | None:
        return await self._readers.run(lambda connection: device_audit.last_chain(connection, device))

    async def audit_copies(self) -> list[DeviceChain]:
        return await self._readers.run(device_audit.chains)

    async def copied_audit_lines(
        self, device: str, chain: int | None = None, after: int = 0, limit: int = 1000
    ) -> list[bytes]:
        return await self._readers.run(
            lambda connection: device_audit.lines(connection, device, chain, after, limit)
        )

    async def verify_audit_copy(self, chain: DeviceChain) -> AuditCheck:
        return await self._readers.run(lambda connection: device_audit.verify(connection, chain))

    async def audit_parted_at(self, chain: DeviceChain) -> int | None:
        return await self._readers.run(lambda connection: device_audit.parted_at(connection, chain))

    async def query(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Any other read, on a read-only connection and its thread."""
        return await self._readers.run(work)

    def remember(self, damaged: list[StoreDamaged]) -> None:
        """Remember damaged rows, to report them. The others are still served."""
        for damage in damaged:
            if len(self.damaged) < MAX_DAMAGED:
                self.damaged[damage.message] = damage
                session_id = damage.fields.get("session_id")
                if isinstance(session_id, str):
                    self.damaged_sessions[session_id] = damage.message

    # Closing ------------------------------------------------------------------------------------------

    async def close(self) -> None:
        if self._closing is None:
            self._closing = self._loop.create_task(self._close(), name="close the store")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await self._filler.close()
        await self._readers.close()  # first: the last connection to close is the one that may tidy up
        try:
            if await asyncio.wrap_future(self._writer.close()):
                self._lock.closed()
        finally:
            self._lock.release()


def _settle(step: Step) -> None:
    promise = step.promise
    if promise.done():
        return
    if step.error is None:
        promise.set_result(step.result)
    else:
        promise.set_exception(step.error)
