"""Found sessions in the store: listed apart from ours, deleted when their files are gone."""

from collections.abc import Iterator
from datetime import datetime

from bascule.model.errors import StoreDamaged
from bascule.store.base import FoundSession
from bascule.store.connection import Connection
from bascule.store.reader import FOUND
from bascule.store.rows import (
    SESSION_COLUMNS,
    SESSION_TABLES,
    SessionRow,
    decode_entry,
    decode_session,
    entry_body,
)
from bascule.store.search_text import text_of
from bascule.store.transaction import Transaction
from bascule.store.words import words_of

IS_FOUND = f"SELECT {SESSION_COLUMNS} FROM {SESSION_TABLES} WHERE session_id = ? AND found = 1"
NUMBER = "SELECT n, title FROM search_sessions WHERE session_id = ?"
INDEXED = """
SELECT first_seq, body, crc FROM entries WHERE session_id = ? AND open = 0 AND NOT EXISTS
    (SELECT 1 FROM search_owed WHERE session_id = entries.session_id AND first_seq = entries.first_seq)
"""
# The session's own row goes last: while it is there, its log may be deleted.
TABLES = (
    *("events", "entries", "requests", "outbox", "edits", "search_owed", "search_sessions"),
    *("pending", "driver_states", "session_index", "sessions"),
)

NEXT = "SELECT coalesce(max(n), 0) + 1 FROM search_sessions WHERE n > 0"
TAKEN = "SELECT 1 FROM search_sessions WHERE n = ?"
WHEN = "SELECT updated_at FROM sessions WHERE session_id = ? AND found = 1"
LOWEST = -(1 << 31)  # a number and a place in a log share 64 bits


def found_sessions(connection: Connection) -> tuple[list[FoundSession], list[StoreDamaged]]:
    """Found sessions with their import state, newest first; and the damaged ones."""
    sound: list[FoundSession] = []
    damaged: list[StoreDamaged] = []
    for values in connection.execute(FOUND):
        try:
            row = decode_session(values)
            check_found(row)
        except StoreDamaged as damage:
            damaged.append(damage)
        else:
            sound.append(FoundSession(row.record, row.pending, row.driver_state))
    return sound, damaged


def check_found(row: SessionRow) -> None:
    """The mark in its row is not under the checksum: one changed bit of it must not get a log deleted."""
    if not row.record.found:
        session_id, seq = row.record.session_id, row.record.seq
        raise StoreDamaged(
            f"Session {session_id}: its row says it was found, its record does not.",
            session_id=session_id,
            seq=seq,
        )


def forget(transaction: Transaction, session_id: str) -> bool:
    """Delete a found session, also from the search. False, and nothing done, for any other."""
    connection = transaction.connection
    values = connection.execute(IS_FOUND, (session_id,)).fetchone()
    if values is None:
        return False
    check_found(decode_session(values))
    delete(transaction, session_id)
    return True


def delete(transaction: Transaction, session_id: str) -> None:
    """Delete a session with all that is folded from it. The log itself refuses where it must be kept."""
    connection = transaction.connection
    drop_text(connection, session_id)
    number = connection.execute(NUMBER, (session_id,)).fetchone()
    if number is not None and number[1]:
        words_of(connection).drop_title(connection, *number)
    transaction.forget(session_id)
    for table in TABLES:
        connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))


def drop_text(connection: Connection, session_id: str) -> None:
    """Take what a session says out of the search index; called while its entries are there."""
    number = connection.execute(NUMBER, (session_id,)).fetchone()
    if number is not None:
        for first_seq, words in _indexed(connection, session_id):
            words_of(connection).drop(connection, number[0] << 32 | first_seq, words)


def _indexed(connection: Connection, session_id: str) -> Iterator[tuple[int, str]]:
    """What the index holds no copy of, and needs again to drop it."""
    for values in connection.execute(INDEXED, (session_id,)).fetchall():
        try:
            text = text_of(decode_entry(entry_body(session_id, *values)))
        except StoreDamaged:
            continue  # it could not be indexed either
        if text.strip():
            yield values[0], text


def search_number(connection: Connection, session_id: str) -> int:
    """A session's place in search results: ours in the order they come, the found below them by their age."""
    when = connection.execute(WHEN, (session_id,)).fetchone()
    if when is None:
        return int(connection.execute(NEXT).fetchone()[0])
    number = LOWEST + int(datetime.fromisoformat(when[0]).timestamp() // 60)
    while connection.execute(TAKEN, (number,)).fetchone() is not None:
        number += 1
    return number
