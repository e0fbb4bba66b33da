"""Interfaces of a store for its two owners: a hub, which serves people, and a daemon, which writes logs.

Both keep an append-only log per session, with the records and entries folded from it (`Log`). A hub's store
also takes in copies of other machines' logs, and may be a PostgreSQL that several hubs share; a daemon's is
its own SQLite file. `tests/store/conformance.py` and `replica_conformance.py` test any implementation.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeVar

from bascule.model.errors import StoreDamaged
from bascule.model.records import RequestRecord, SessionRecord
from bascule.store.base import (
    ALL_SESSIONS,
    AuditCheck,
    AuditRecord,
    Batch,
    Conversation,
    Devices,
    Edited,
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
from bascule.store.connection import Connection
from bascule.store.replication import ReplicaStore
from bascule.store.transaction import Transaction

T = TypeVar("T")


class Log(Protocol):
    """What both owners do with it."""

    epoch: str  # names this history: numbers of events mean the same only within one epoch
    damaged_sessions: dict[str, str]  # those of ours that were found damaged, and what is wrong with each

    @property
    def link_name(self) -> str:
        """Names this store on a link: both ends say the same only when they share it."""
        ...

    @property
    def storage_problem(self) -> str | None:
        """Why nothing can be stored right now (a full disk, for example), or None."""
        ...

    def watch_storage(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` when `storage_problem` changes. The returned function stops it."""
        ...

    async def writable(self) -> None:
        """Wait until the store can write."""
        ...

    def append(self, batch: Batch) -> "asyncio.Future[None]":
        """Queue one atomic step. Steps of a session commit in the order they were queued.

        The future fails with `StorageFull` when the disk is full (nothing of the step is kept), with
        `StorageFailed` when it can't be written otherwise, with `StoreConflict` when `first_seq` does not
        follow the head or the reply's key is taken, and with `StoreDamaged` when the session can't be read.
        """
        ...

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every commit from now on. The returned function stops it."""
        ...

    async def read(self, session_id: str, after: int, limit: int = 1000) -> list[Row]: ...

    async def page(
        self,
        session_id: str,
        limit: int = 50,
        before: int | None = None,
        *,
        after: int | None = None,
        around: int | None = None,
    ) -> Page:
        """Entries whose `first_seq` is below `before` (all when None), the newest `limit` of them.

        Or the oldest above `after`; or some above and some below the entry that begins `around`. Raises
        `SessionNotFound`. Give a page's `before` or `after` to reach the entries next to it.
        """
        ...

    async def search(
        self, text: str, *, limit: int = 20, session_id: str | None = None, only_found: bool = False
    ) -> SearchResult:
        """Messages and titles that hold all these words, the last one also as a beginning; newest first.

        Archived sessions are searched too. Raises `InvalidInput` when `text` holds no word.
        """
        ...

    async def edited(self, session_id: str) -> list[Edited]:
        """The files its tools changed, the newest change first. Raises `SessionNotFound`."""
        ...

    async def session(self, session_id: str) -> SessionRecord | None: ...

    async def sessions(self, *, archived: bool = False) -> list[SessionRecord]:
        """Newest activity first."""
        ...

    async def list_sessions(
        self, where: SessionFilter = ALL_SESSIONS, *, limit: int = 50, cursor: str | None = None
    ) -> SessionPage:
        """A page, newest activity first, after a cursor: `next` of the page before.

        A session that becomes active between two pages moves above the cursor: it is in neither page, or in
        the first one already. Raises `InvalidInput` when `cursor` is none.
        """
        ...

    async def live_sessions(self) -> list[SessionRecord]:
        """Those whose agent runs or is being started, as far as the log says; archived ones included."""
        ...

    async def session_counts(self, *, archived: bool = False) -> SessionCounts:
        """How many sessions there are in each folder, and in all."""
        ...

    async def recent_folders(self, limit: int, devices: Devices = None) -> list[tuple[str, str]]:
        """The folders, each with its device, of the newest thousand sessions; the latest activity first."""
        ...

    async def usage(self, costliest: int) -> Usage:
        """What all sessions of ours took and cost, archived ones included."""
        ...

    async def found(self) -> list[FoundSession]:
        """The sessions begun outside Bascule, the newest activity first. `sessions` has the others."""
        ...

    async def resume_point(self, session_id: str) -> ResumePoint | None: ...

    async def request(self, session_id: str, request_id: str) -> RequestRecord | None: ...

    async def open_requests(self) -> list[RequestRecord]:
        """Of all sessions, oldest first."""
        ...

    async def audit(self, records: list[AuditRecord]) -> None:
        """Chain records that belong to no session step; returns once they would survive a power cut."""
        ...

    async def verify_audit(self) -> AuditCheck:
        """Walk the audit chain from its first record."""
        ...

    async def audit_lines(self, after: int = 0, limit: int = 1000) -> list[bytes]:
        """Audit records numbered above `after`, as lines of the export."""
        ...

    async def close(self) -> None:
        """Commit what is queued and close the files."""
        ...


class HubStore(Log, ReplicaStore, Protocol):
    """The hub's: it also takes in copies of other machines' logs."""


class DaemonStore(Log, Protocol):
    """The daemon's: it also resumes what runs on this machine, and remembers what it answered."""

    behind: dict[str, int]  # logs that had got further when they were last open, and how far

    async def examine(self) -> None:
        """Look at every session of ours, so that `damaged_sessions` has all there are."""
        ...

    async def orphans(self) -> list[SessionRecord]:
        """Those whose agent went away, or could not be started again; archived ones are left out."""
        ...

    async def conversations(
        self, agent: str | None = None, devices: Devices = None
    ) -> dict[Conversation, str]:
        """The session of each of the agents' own conversations, archived ones included."""
        ...

    async def sessions_of(self, conversation: Conversation) -> list[SessionRecord]:
        """Those of ours that are this conversation of an agent, archived ones included."""
        ...

    async def forget(self, session_id: str) -> bool:
        """Delete a found session, whose history can be read again. False for any other: those are kept."""
        ...

    async def stored_reply(self, key: str) -> StoredReply | None: ...


class BookStore(Protocol):
    """What books (grants, devices, projects, prompts, …) keep their rows in, whatever the engine."""

    @property
    def clock(self) -> Callable[[], float]: ...

    @property
    def link_name(self) -> str: ...

    def transact(self, work: Callable[[Transaction], T], *, sync: bool = True) -> "asyncio.Future[T]":
        """Queue a change; if `work` raises, nothing of it is kept. With `sync` it survives a power cut."""
        ...

    async def query(self, work: Callable[[Connection], T]) -> T:
        """A read that sees one moment of the database."""
        ...

    def remember(self, damaged: list[StoreDamaged]) -> None:
        """Remember damaged rows, to report them. The others are still served."""
        ...


class HubDatabase(HubStore, BookStore, Protocol):
    """Everything that a hub keeps, in one database."""

    async def refold(self) -> list[str]:
        """Fold those copies again that hold rows another version did not know. Gives their names."""
        ...
