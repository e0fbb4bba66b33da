"""All reads from the database, and the pool of read-only connections they use.

Reads go through threads, also the small ones. A record that is in memory takes 8 µs on the event loop and
130 µs through a thread; but one that must wait for the disk would hold up every session for milliseconds, and
nobody can tell the two apart beforehand. What is live never comes from here.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from bascule.model.codec import Logged, decode_leniently, encode
from bascule.model.entries import AnyEntry, Fold
from bascule.model.errors import BasculeError, SessionNotFound, StoreDamaged
from bascule.model.records import Pending, RequestRecord, SessionRecord, Write
from bascule.model.session_fold import SessionFold
from bascule.store.base import Page, ResumePoint, Row, StoredReply
from bascule.store.connection import Connection
from bascule.store.projection import may_lag, merged
from bascule.store.rows import (
    SESSION_COLUMNS,
    SESSION_TABLES,
    SessionRow,
    checksum,
    decode_entry,
    decode_offsets,
    decode_record,
    decode_request,
    decode_session,
    entry_body,
    event_row,
    lenient_text,
)

READERS = 3
CACHE_KIB = 1024  # of pages, for each reader
NO_LIMIT = 1 << 62

SESSION = f"SELECT {SESSION_COLUMNS} FROM {SESSION_TABLES} WHERE session_id = ?"
RECORD = "SELECT session_id, seq, record, crc FROM sessions WHERE session_id = ?"
RECORDS = """
SELECT session_id, seq, record, crc FROM sessions
WHERE found = 0 AND archived = ? ORDER BY updated_at DESC, session_id
"""
FOUND = f"""
SELECT {SESSION_COLUMNS} FROM {SESSION_TABLES} WHERE found = 1 ORDER BY archived, updated_at DESC, session_id
"""
EVENTS = "SELECT seq, body, crc, offsets FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?"
ENTRIES = """
SELECT first_seq, body, crc FROM entries
WHERE session_id = ? AND first_seq < ? ORDER BY first_seq DESC LIMIT ?
"""
NEWER_ENTRIES = """
SELECT first_seq, body, crc FROM entries
WHERE session_id = ? AND first_seq > ? ORDER BY first_seq LIMIT ?
"""
OPEN_ENTRIES = """
SELECT first_seq, body, crc FROM entries WHERE session_id = ? AND open = 1 ORDER BY first_seq
"""
REQUEST = "SELECT session_id, seq, body, crc FROM requests WHERE session_id = ? AND request_id = ?"
OPEN_REQUESTS = """
SELECT session_id, seq, body, crc FROM requests WHERE state = 'open' ORDER BY opened_at, session_id, seq
"""
WAITING = """
SELECT session_id, seq, body, crc FROM requests
WHERE session_id = ? AND state IN ('open', 'answered') ORDER BY seq
"""
DELIVERED = """
SELECT session_id, seq, body, crc FROM requests
WHERE session_id = ? AND state = 'delivered' ORDER BY seq DESC LIMIT ?
"""
OUTBOX = "SELECT write_id, data, crc FROM outbox WHERE session_id = ? ORDER BY id"
REPLY = "SELECT key, body_sha256, reply FROM replies WHERE key = ? AND at >= ?"

T = TypeVar("T")
Records = tuple[list[SessionRecord], list[StoreDamaged]]


class Readers:
    """A few read-only connections, each used by one thread at a time."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        in_our_words: Callable[[Exception, str | None], Exception],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._connect = connect
        self._in_our_words = in_our_words
        self._loop = loop
        self._idle: SimpleQueue[Connection] = SimpleQueue()
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="store reader")

    async def run(self, work: Callable[[Connection], T], session_id: str | None = None) -> T:
        """Do the work on a connection, inside one read transaction: it sees one moment of the database."""
        return await self._loop.run_in_executor(self._threads, self._run, work, session_id)

    def _run(self, work: Callable[[Connection], T], session_id: str | None) -> T:
        try:
            connection = self._take()
            try:
                connection.execute("BEGIN")
                return work(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._idle.put(connection)
        except BasculeError:
            raise
        except Exception as error:
            ours = self._in_our_words(error, session_id)
            if ours is error:
                raise
            raise ours from error

    def _take(self) -> Connection:
        try:
            return self._idle.get_nowait()
        except Empty:
            return self._connect()

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._threads.shutdown()
        while not self._idle.empty():
            self._idle.get_nowait().close()


def connect_read_only(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=5,
    )
    connection.text_factory = lenient_text
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


# What is asked ----------------------------------------------------------------------------------------


def stored_row(connection: Connection, session_id: str) -> SessionRow | None:
    """Its row as it was last written."""
    values = connection.execute(SESSION, (session_id,)).fetchone()
    return None if values is None else decode_session(values)


def session_row(connection: Connection, session_id: str) -> SessionRow | None:
    """Its row as of the end of its log."""
    row = stored_row(connection, session_id)
    if row is None:
        return None
    offsets = _fold_rest(connection, row.record)
    if offsets is not None:
        row.out_offset, row.err_offset = decode_offsets(offsets)
    return row


def record(connection: Connection, session_id: str) -> SessionRecord | None:
    values = connection.execute(RECORD, (session_id,)).fetchone()
    return None if values is None else current_record(connection, values)


def current_record(connection: Connection, values: tuple[Any, ...]) -> SessionRecord:
    """The record in these values (session_id, seq, record, crc), as of the end of its log."""
    found = decode_record(*values)
    _fold_rest(connection, found)
    return found


def _fold_rest(connection: Connection, record: SessionRecord) -> bytes | None:
    """Fold what the log has beyond a stored record onto it. Gives the last offsets found there, if any."""
    offsets: bytes | None = None
    if not may_lag(record):
        return offsets
    fold = SessionFold(record, Pending())
    for row, at in _checked_log(connection, record.session_id, record.seq, NO_LIMIT):
        fold.apply(decode_leniently(row.body))
        offsets = at if at is not None else offsets
    return offsets


def current_records(connection: Connection, rows: Iterable[tuple[Any, ...]]) -> Records:
    """The sessions that can be read, and what is wrong with the others."""
    sound: list[SessionRecord] = []
    damaged: list[StoreDamaged] = []
    for values in rows:
        try:
            sound.append(current_record(connection, values))
        except StoreDamaged as damage:
            damaged.append(damage)
    return sound, damaged


def records(connection: Connection, archived: bool) -> Records:
    return current_records(connection, connection.execute(RECORDS, (int(archived),)))


def events(connection: Connection, session_id: str, after: int, limit: int) -> list[Row]:
    """Rows after `after`, each checked to follow the one before."""
    return [row for row, _ in _checked_log(connection, session_id, after, limit)]


def events_up_to(connection: Connection, session_id: str, after: int, size: int) -> list[Row]:
    """Rows after `after`, of about `size` bytes in all: at least one, and no other that would exceed it."""
    rows: list[Row] = []
    for row, _ in _checked_log(connection, session_id, after, NO_LIMIT):
        size -= len(row.body)
        if rows and size < 0:
            break
        rows.append(row)
    return rows


def _checked_log(
    connection: Connection, session_id: str, after: int, limit: int
) -> Iterator[tuple[Row, bytes | None]]:
    expected = after + 1
    for seq, body, crc, offsets in connection.execute(EVENTS, (session_id, after, limit)):
        if seq != expected:
            raise StoreDamaged(
                f"Session {session_id}: event {expected} is missing from its log.",
                session_id=session_id,
                seq=expected,
            )
        yield event_row(session_id, seq, body, crc, offsets), offsets
        expected += 1


def tail(
    connection: Connection, session_id: str, folded_seq: int, limit: int = NO_LIMIT
) -> tuple[list[Logged], int]:
    """The end of the log that the stored entries do not hold yet, and its size."""
    rows = events(connection, session_id, folded_seq, limit)
    return [decode_leniently(row.body) for row in rows], sum(len(row.body) for row in rows)


def open_entries(connection: Connection, session_id: str) -> list[AnyEntry]:
    return [
        decode_entry(entry_body(session_id, *values))
        for values in connection.execute(OPEN_ENTRIES, (session_id,))
    ]


def page(
    connection: Connection,
    session_id: str,
    limit: int,
    before: int | None,
    after: int | None = None,
    around: int | None = None,
) -> Page:
    """Stored entries, with the rest of the log folded onto them: below `before`, above `after`, or around."""
    row = session_row(connection, session_id)
    if row is None:
        raise SessionNotFound(session_id)
    near = _Nearest(connection, session_id, folded_tail(connection, session_id, row))
    if around is not None:
        newer, more_newer = near.newer(around - 1, limit - limit // 2)
        older, more_older = near.older(around, limit - len(newer))
    elif after is not None:
        newer, more_newer = near.newer(after, limit)
        older, more_older = near.older(after + 1, 0)
    else:
        older, more_older = near.older(NO_LIMIT if before is None else before, limit)
        newer, more_newer = near.newer(before - 1, 0) if before is not None else ([], False)
    chosen = older + newer
    bodies = [body for _, body in chosen]
    return Page(
        row.record.seq,
        bodies,
        chosen[0][0] if chosen and more_older else None,
        chosen[-1][0] if chosen and more_newer else None,
    )


class _Nearest:
    """The entries next to a position in the transcript, oldest first, and whether there are more."""

    def __init__(self, connection: Connection, session_id: str, fresh: dict[int, bytes]) -> None:
        self._connection, self._session_id, self._fresh = connection, session_id, fresh

    def older(self, bound: int, count: int) -> tuple[list[tuple[int, bytes]], bool]:
        found = self._stored(ENTRIES, bound, count)
        found.update({seq: body for seq, body in self._fresh.items() if seq < bound})
        chosen = sorted(found.items())
        return chosen[len(chosen) - min(count, len(chosen)) :], len(chosen) > count

    def newer(self, bound: int, count: int) -> tuple[list[tuple[int, bytes]], bool]:
        found = self._stored(NEWER_ENTRIES, bound, count)
        found.update({seq: body for seq, body in self._fresh.items() if seq > bound})
        chosen = sorted(found.items())
        return chosen[:count], len(chosen) > count

    def _stored(self, query: str, bound: int, count: int) -> dict[int, bytes]:
        return {
            values[0]: entry_body(self._session_id, *values)
            for values in self._connection.execute(query, (self._session_id, bound, count + 1))
        }


def folded_tail(connection: Connection, session_id: str, row: SessionRow) -> dict[int, bytes]:
    if row.folded_seq == row.record.seq:
        return {}
    fold = Fold(open_entries(connection, session_id))
    for logged in merged(tail(connection, session_id, row.folded_seq)[0]):
        fold.apply(logged)
    return {entry.first_seq: encode(entry) for entry in fold.take_dirty()}


def request(connection: Connection, session_id: str, request_id: str) -> RequestRecord | None:
    values = connection.execute(REQUEST, (session_id, request_id)).fetchone()
    return None if values is None else decode_request(*values)


def open_requests(connection: Connection) -> tuple[list[RequestRecord], list[StoreDamaged]]:
    sound: list[RequestRecord] = []
    damaged: list[StoreDamaged] = []
    for values in connection.execute(OPEN_REQUESTS):
        try:
            sound.append(decode_request(*values))
        except StoreDamaged as damage:
            damaged.append(damage)
    return sound, damaged


def waiting(connection: Connection, session_id: str) -> list[RequestRecord]:
    """Requests that are open, or answered and not yet delivered."""
    return [decode_request(*values) for values in connection.execute(WAITING, (session_id,))]


def delivered(connection: Connection, session_id: str, limit: int) -> list[RequestRecord]:
    """The newest requests whose answer arrived and whose tool has not moved since, oldest first."""
    rows = connection.execute(DELIVERED, (session_id, limit)).fetchall()
    return [decode_request(*values) for values in reversed(rows)]


def outbox(connection: Connection, session_id: str) -> list[Write]:
    writes: list[Write] = []
    for write_id, data, crc in connection.execute(OUTBOX, (session_id,)):
        if checksum(session_id, 0, write_id.encode() + data) != crc:
            raise StoreDamaged(
                f"Session {session_id}: the write {write_id} does not match its checksum.",
                session_id=session_id,
            )
        writes.append(Write(write_id, data))
    return writes


def resume_point(connection: Connection, session_id: str) -> ResumePoint | None:
    row = session_row(connection, session_id)
    if row is None:
        return None
    return ResumePoint(
        record=row.record,
        pending=row.pending,
        out_offset=row.out_offset,
        err_offset=row.err_offset,
        driver_state=row.driver_state,
        outbox=outbox(connection, session_id),
        requests=waiting(connection, session_id),
        state_offset=row.out_offset if row.driver_state is None else row.state_offset,
    )


def reply(connection: Connection, key: str, since: float) -> StoredReply | None:
    values = connection.execute(REPLY, (key, since)).fetchone()
    return None if values is None else StoredReply(*values)
