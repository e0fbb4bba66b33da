"""Every read of a database: each on a read-only connection and its thread, inside one transaction."""

from collections.abc import Callable
from typing import TypeVar

from bascule.model.errors import StoreDamaged
from bascule.model.records import RequestRecord, SessionRecord
from bascule.store import audit, device_audit, edits, found, listing, reader, replicas, replication
from bascule.store.audit import SentRecord
from bascule.store.base import (
    ALL_SESSIONS,
    AuditCheck,
    Conversation,
    Devices,
    Edited,
    FoundSession,
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
from bascule.store.device_audit import DeviceChain
from bascule.store.examining import examined
from bascule.store.reader import Readers
from bascule.store.replication import OwnLog, Replica
from bascule.store.search import search
from bascule.store.transaction import REPLY_SECONDS
from bascule.store.usage import usage

MAX_AUDIT_ROWS = 1000  # that are sent to a hub at a time
MAX_DAMAGED = 100  # damaged rows that are remembered, for those who ask

T = TypeVar("T")


class DatabaseReads:
    """The reading half of a store."""

    def __init__(self, readers: Readers, clock: Callable[[], float]) -> None:
        self._readers = readers
        self.clock = clock
        self.damaged: dict[str, StoreDamaged] = {}
        self.damaged_sessions: dict[str, str] = {}

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

    async def query(self, work: Callable[[Connection], T]) -> T:
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
