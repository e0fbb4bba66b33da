"""Passes other nodes' commits on to this node's pages: rows of viewed sessions, records for lists, requests.

A wake only names sessions and requests; what is new is read here, once for all pages.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from bascule.hub.feed.feed import Feed
from bascule.model.errors import BasculeError, StorageFailed
from bascule.model.records import RequestRecord, SessionRecord
from bascule.notify.sent_before import open_guards
from bascule.store.base import Committed
from bascule.store.connection import Connection
from bascule.store.protocols import HubDatabase

log = logging.getLogger("bascule.hub")

RECORD_SECONDS = 0.25  # at most one record of a session for lists in this time
AT_ONCE = 4  # sessions that are read side by side
HEADS_AT_ONCE = 200
MAX_KNOWN = 5000
HEADS = "SELECT session_id, max(seq) FROM events WHERE session_id IN ({}) GROUP BY session_id"
OPEN_REQUESTS = "SELECT session_id, request_id FROM requests WHERE state = 'open'"

Key = tuple[str, str]  # a session and one of its requests, or what its guard rail asks


class FarCommits:
    """`asked` hears of requests that other nodes took in; `spawn` makes a task that ends with the server."""

    def __init__(
        self,
        store: HubDatabase,
        feed: Feed,
        asked: Callable[[Committed], None],
        spawn: Callable[..., "asyncio.Task[None]"],
    ) -> None:
        self._store, self._feed, self._asked, self._spawn = store, feed, asked, spawn
        self._moved: set[str] = set()  # sessions that have to be read on
        self._reading: set[str] = set()
        self._records: set[str] = set()  # whose record is read in a moment
        self._being_read: set[str] = set()
        self._known: dict[str, None] = {}  # sessions that this node's pages have heard of, the latest last
        self._open: set[Key] = set()  # requests of all nodes, as they were when last seen
        self._changed: dict[str, set[str]] = {}  # requests that have to be read
        self._guards: dict[str, str] = {}  # what guard rails ask, by session, as it was when last seen

    async def begin(self) -> None:
        """What is open now is no news."""
        self._open = await self._store.query(_open_requests)
        self._guards = dict(await open_guards(self._store))

    def committed(self, session_id: str, requests: Iterable[RequestRecord]) -> None:
        """This node has committed to the session, and sent that to its pages: it is no new one any more."""
        self._known.pop(session_id, None)
        self._known[session_id] = None
        if len(self._known) > MAX_KNOWN:
            self._known.pop(next(iter(self._known)))
        for request in requests:
            self._seen(request)

    def guard_changed(self, record: SessionRecord) -> list[str]:
        """What its guard rail asks since this record, or no longer asks: to be named in a wake."""
        before = self._guards.pop(record.session_id, None)
        asked = record.guard.guard_id if record.guard is not None else None
        if asked is not None:
            self._guards[record.session_id] = asked
        return [one for one in (before, asked) if one is not None] if asked != before else []

    def _seen(self, request: RequestRecord) -> None:
        key = (request.session_id, request.request_id)
        (self._open.add if request.state == "open" else self._open.discard)(key)

    def moved(self, sessions: dict[str, int], requests: Mapping[str, Sequence[str]] | None = None) -> None:
        watched = set(self._feed.watched())
        for session_id, changed in (requests or {}).items():
            self._changed.setdefault(session_id, set()).update(changed)
        for session_id, seq in sessions.items():
            self._feed.moved(session_id, seq)
            if session_id in watched:
                self._moved.add(session_id)
            self._record_soon(session_id)
        self._read()

    def _read(self) -> None:
        for session_id in list(self._moved):
            if len(self._reading) >= AT_ONCE:
                return
            if session_id not in self._reading:
                self._moved.discard(session_id)
                self._reading.add(session_id)
                self._spawn(self._read_on(session_id), f"read on {session_id}")

    async def _read_on(self, session_id: str) -> None:
        try:
            await self._feed.read_on(session_id)
        except BasculeError as error:
            log.info("session %s can't be read on: %s", session_id, error.message)  # the next look does
        finally:
            self._reading.discard(session_id)
            self._read()

    # Records and requests, for lists

    def _record_soon(self, session_id: str) -> None:
        self._feed.records.forget(session_id)
        is_wanted = bool(self._feed.listeners) or session_id in self._changed
        if is_wanted and session_id not in self._records:
            self._records.add(session_id)
            wait = RECORD_SECONDS if session_id in self._known else 0.0
            asyncio.get_running_loop().call_later(wait, self._read_record, session_id)

    def _read_record(self, session_id: str) -> None:
        """One read at a time: an older record must not be pushed after a newer one."""
        if session_id in self._being_read:
            asyncio.get_running_loop().call_later(RECORD_SECONDS, self._read_record, session_id)
            return
        self._records.discard(session_id)
        self._being_read.add(session_id)
        task = self._spawn(self._record(session_id), f"record of {session_id}")
        task.add_done_callback(lambda _: self._being_read.discard(session_id))

    async def _record(self, session_id: str) -> None:
        changed = self._changed.pop(session_id, set())
        try:
            record = await self._store.session(session_id)
            if record is None or record.found:
                return
            is_new = session_id not in self._known and record.seq < 50
            rows = await self._store.read(session_id, 0, 1) if is_new else []
            found = [await self._store.request(session_id, one) for one in sorted(changed)]
        except BasculeError as error:
            log.info("session %s can't be read: %s", session_id, error.message)
            if isinstance(error, StorageFailed):  # the next look reads them
                self._changed.setdefault(session_id, set()).update(changed)
            return
        requests = [one for one in found if one is not None]
        self.committed(session_id, requests)
        self.guard_changed(record)
        committed = Committed(record, rows, requests, True, True)
        self._feed.committed_elsewhere(committed)
        if changed:
            self._asked(committed)

    # Without a wake

    async def look(self) -> None:
        """Compare where the sessions end that a viewer watches: a wake may have been lost."""
        watched = self._feed.watched()
        for start in range(0, len(watched), HEADS_AT_ONCE):
            heads = await self._store.query(_heads(watched[start : start + HEADS_AT_ONCE]))
            behind = {name: seq for name, seq in heads.items() if self._feed.lacks(name, seq)}
            self.moved(behind)
        await self._look_at_requests()

    async def _look_at_requests(self) -> None:
        """Those that were opened or settled without a wake, or by a node that names none in its wakes."""
        before, self._open = self._open, await self._store.query(_open_requests)
        for session_id, request_id in before ^ self._open:
            self._changed.setdefault(session_id, set()).add(request_id)
        for session_id in list(self._changed):
            self._record_soon(session_id)

    async def everything(self) -> None:
        """This node cannot know what it missed."""
        self._feed.records.clear()
        for session_id, guard_id in {*self._guards.items(), *await open_guards(self._store)}:
            self._changed.setdefault(session_id, set()).add(guard_id)
        await self.look()
        if self._feed.listeners:
            for record in await self._store.live_sessions():
                self._record_soon(record.session_id)


def _heads(names: Iterable[str]) -> Callable[[Connection], dict[str, int]]:
    values = tuple(names)
    statement = HEADS.format(", ".join("?" for _ in values))
    return lambda connection: dict(connection.execute(statement, values).fetchall())


def _open_requests(connection: Connection) -> set[Key]:
    return {(session_id, request_id) for session_id, request_id in connection.execute(OPEN_REQUESTS)}
