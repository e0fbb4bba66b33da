"""The store as the daemon sees it: the sessions of its own machine, and no other's.

A hub in the same process keeps copies of other machines' logs in the same database. To this machine they do
not exist: nothing is resumed, answered, renamed or forgotten here that runs elsewhere.
"""

import asyncio
from collections.abc import Callable

from bascule.model.records import RequestRecord, SessionRecord
from bascule.store.base import (
    ALL_SESSIONS,
    AuditCheck,
    AuditRecord,
    Batch,
    Committed,
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
from bascule.store.protocols import DaemonStore


class OwnLogs(DaemonStore):
    """Sessions whose log names no machine are older, and of this one."""

    def __init__(self, store: DaemonStore, device: str) -> None:
        self._store = store
        self._devices = own_devices(device)
        self.epoch = store.epoch
        self.behind = store.behind

    @property
    def link_name(self) -> str:
        return self._store.link_name

    def owns(self, record: SessionRecord) -> bool:
        return record.device in self._devices

    # Of this machine only

    async def session(self, session_id: str) -> SessionRecord | None:
        record = await self._store.session(session_id)
        return record if record is not None and self.owns(record) else None

    async def resume_point(self, session_id: str) -> ResumePoint | None:
        point = await self._store.resume_point(session_id)
        return point if point is not None and self.owns(point.record) else None

    async def request(self, session_id: str, request_id: str) -> RequestRecord | None:
        if await self.session(session_id) is None:
            return None
        return await self._store.request(session_id, request_id)

    async def sessions(self, *, archived: bool = False) -> list[SessionRecord]:
        return self._own(await self._store.sessions(archived=archived))

    async def list_sessions(
        self, where: SessionFilter = ALL_SESSIONS, *, limit: int = 50, cursor: str | None = None
    ) -> SessionPage:
        where = SessionFilter(
            archived=where.archived,
            live=where.live,
            folder=where.folder,
            below=where.below,
            devices=self._devices,
        )
        return await self._store.list_sessions(where, limit=limit, cursor=cursor)

    async def live_sessions(self) -> list[SessionRecord]:
        return self._own(await self._store.live_sessions())

    async def orphans(self) -> list[SessionRecord]:
        return self._own(await self._store.orphans())

    async def sessions_of(self, conversation: Conversation) -> list[SessionRecord]:
        return self._own(await self._store.sessions_of(conversation))

    async def found(self) -> list[FoundSession]:
        return [one for one in await self._store.found() if self.owns(one.record)]

    async def recent_folders(self, limit: int, devices: Devices = None) -> list[tuple[str, str]]:
        return await self._store.recent_folders(limit, self._devices)

    async def conversations(
        self, agent: str | None = None, devices: Devices = None
    ) -> dict[Conversation, str]:
        return await self._store.conversations(agent, self._devices)

    async def forget(self, session_id: str) -> bool:
        """False also for another machine's, which is not ours to forget."""
        return await self.session(session_id) is not None and await self._store.forget(session_id)

    def listen(self, listener: Listener) -> Callable[[], None]:
        def own(committed: Committed) -> None:
            if self.owns(committed.record):
                listener(committed)

        return self._store.listen(own)

    async def open_requests(self) -> list[RequestRecord]:
        own = {session.session_id for session in await self.live_sessions()}
        return [request for request in await self._store.open_requests() if request.session_id in own]

    def _own(self, records: list[SessionRecord]) -> list[SessionRecord]:
        return [record for record in records if self.owns(record)]

    # The same for every machine, or of a session that was looked up before

    @property
    def damaged_sessions(self) -> dict[str, str]:  # type: ignore[override]
        return self._store.damaged_sessions

    @property
    def storage_problem(self) -> str | None:
        return self._store.storage_problem

    def watch_storage(self, changed: Callable[[], None]) -> Callable[[], None]:
        return self._store.watch_storage(changed)

    async def writable(self) -> None:
        await self._store.writable()

    async def examine(self) -> None:
        await self._store.examine()

    def append(self, batch: Batch) -> "asyncio.Future[None]":
        return self._store.append(batch)

    async def read(self, session_id: str, after: int, limit: int = 1000) -> list[Row]:
        return await self._store.read(session_id, after, limit)

    async def page(
        self,
        session_id: str,
        limit: int = 50,
        before: int | None = None,
        *,
        after: int | None = None,
        around: int | None = None,
    ) -> Page:
        return await self._store.page(session_id, limit, before, after=after, around=around)

    async def search(
        self, text: str, *, limit: int = 20, session_id: str | None = None, only_found: bool = False
    ) -> SearchResult:
        return await self._store.search(text, limit=limit, session_id=session_id, only_found=only_found)

    async def edited(self, session_id: str) -> list[Edited]:
        return await self._store.edited(session_id)

    async def session_counts(self, *, archived: bool = False) -> SessionCounts:
        return await self._store.session_counts(archived=archived)

    async def usage(self, costliest: int) -> Usage:
        return await self._store.usage(costliest)

    async def stored_reply(self, key: str) -> StoredReply | None:
        return await self._store.stored_reply(key)

    async def audit(self, records: list[AuditRecord]) -> None:
        await self._store.audit(records)

    async def verify_audit(self) -> AuditCheck:
        return await self._store.verify_audit()

    async def audit_lines(self, after: int = 0, limit: int = 1000) -> list[bytes]:
        return await self._store.audit_lines(after, limit)

    async def close(self) -> None:
        await self._store.close()


def own_devices(device: str) -> tuple[str, ...]:
    """The names under which this machine's sessions stand in the log."""
    return (device, "")
