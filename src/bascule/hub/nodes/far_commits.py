"""What other nodes commit, for the pages of this one: rows for those who watch, records for lists.

A wake only names sessions; what is new is read here, once for all pages.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

from bascule.hub.live.feed import Feed
from bascule.model.errors import BasculeError
from bascule.model.records import RequestRecord, SessionRecord
from bascule.store.base import Committed
from bascule.store.connection import Connection
from bascule.store.protocols import HubDatabase

log = logging.getLogger("bascule.hub")

RECORD_SECONDS = 0.25  # at most one record of a session for lists in this time
AT_ONCE = 4  # sessions that are read side by side
HEADS_AT_ONCE = 200
MAX_KNOWN = 5000
HEADS = "SELECT session_id, max(seq) FROM events WHERE session_id IN ({}) GROUP BY session_id"
REQUESTS = """
SELECT request_id, state FROM requests WHERE session_id = ? ORDER BY seq DESC LIMIT 50
"""


class FarCommits:
    """`spawn` makes a task that ends with the server."""

    def __init__(self, store: HubDatabase, feed: Feed, spawn: Callable[..., "asyncio.Task[None]"]) -> None:
        self._store, self._feed, self._spawn = store, feed, spawn
        self._moved: dict[str, int] = {}  # sessions that have to be read on
        self._reading: set[str] = set()
        self._records: set[str] = set()  # whose record is read in a moment
        self._requests: dict[str, dict[str, str]] = {}  # the state of each that was open when last seen
        self._known: dict[str, SessionRecord] = {}

    def moved(self, sessions: dict[str, int]) -> None:
        watched = set(self._feed.watched())
        for session_id, seq in sessions.items():
            self._feed.moved(session_id, seq)
            if session_id in watched:
                self._moved[session_id] = seq
            self._record_soon(session_id)
        self._read()

    def _read(self) -> None:
        for session_id in list(self._moved):
            if len(self._reading) >= AT_ONCE:
                return
            if session_id not in self._reading:
                del self._moved[session_id]
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

    # Records, for lists

    def _record_soon(self, session_id: str) -> None:
        self._feed.records.forget(session_id)
        if self._feed.listeners and session_id not in self._records:
            self._records.add(session_id)
            wait = RECORD_SECONDS if session_id in self._known else 0.0
            asyncio.get_running_loop().call_later(wait, self._read_record, session_id)

    def _read_record(self, session_id: str) -> None:
        self._spawn(self._record(session_id), f"record of {session_id}")

    async def _record(self, session_id: str) -> None:
        self._records.discard(session_id)
        try:
            record = await self._store.session(session_id)
            if record is None or record.found:
                return
            is_new = session_id not in self._known and record.seq < 50
            rows = await self._store.read(session_id, 0, 1) if is_new else []
            requests = await self._changed_requests(record)
        except BasculeError as error:
            log.info("session %s can't be read: %s", session_id, error.message)
            return
        self._known.pop(session_id, None)
        self._known[session_id] = record
        if len(self._known) > MAX_KNOWN:
            self._known.pop(next(iter(self._known)))
        self._feed.committed_elsewhere(Committed(record, rows, requests, True, True))

    async def _changed_requests(self, record: SessionRecord) -> list[RequestRecord]:
        """Those that are open now, and those that were when this session was last looked at."""
        before = self._requests.get(record.session_id, {})
        if not before and not record.open_requests:
            return []

        def read(connection: Connection) -> dict[str, str]:
            return dict(connection.execute(REQUESTS, (record.session_id,)).fetchall())

        states = await self._store.query(read)
        self._requests[record.session_id] = {one: "open" for one, state in states.items() if state == "open"}
        if not self._requests[record.session_id]:
            del self._requests[record.session_id]
        changed = [
            one
            for one, state in states.items()
            if (state == "open" and one not in before) or (state != "open" and one in before)
        ]
        found = [await self._store.request(record.session_id, one) for one in changed]
        return [one for one in found if one is not None]

    # Without a wake

    async def look(self) -> None:
        """Compare where the sessions end that somebody watches: a wake may have been lost."""
        watched = self._feed.watched()
        for start in range(0, len(watched), HEADS_AT_ONCE):
            heads = await self._store.query(_heads(watched[start : start + HEADS_AT_ONCE]))
            behind = {name: seq for name, seq in heads.items() if self._feed.lacks(name, seq)}
            self.moved(behind)

    async def everything(self) -> None:
        """Nobody knows what was missed."""
        self._feed.records.clear()
        await self.look()
        if self._feed.listeners:
            for record in await self._store.live_sessions():
                self._record_soon(record.session_id)


def _heads(names: Iterable[str]) -> Callable[[Connection], dict[str, int]]:
    values = tuple(names)
    statement = HEADS.format(", ".join("?" for _ in values))
    return lambda connection: dict(connection.execute(statement, values).fetchall())
