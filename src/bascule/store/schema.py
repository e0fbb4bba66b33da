"""Schema migrations: numbered SQL files. `user_version` counts those a database has had."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from bascule.store.rows import checksum

APPLICATION_ID = 0x42617363  # "Basc", in the header of every database of ours
_FILES = sorted((Path(__file__).parent / "migrations").glob("[0-9]*.sql"))
VERSION = len(_FILES)


def version_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database to this version, each numbered file in a transaction of its own."""
    add_functions(connection)
    for number in range(version_of(connection) + 1, VERSION + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in _statements(_FILES[number - 1].read_text("utf-8")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number:d}")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def add_functions(connection: sqlite3.Connection) -> None:
    """What the numbered files use and SQLite does not have."""
    connection.create_function("resume_crc_0001", 7, _resume_crc_0001, deterministic=True)
    connection.create_function("resume_crc_0007", 7, _resume_crc_0007, deterministic=True)


def _statements(script: str) -> Iterator[str]:
    """One at a time, because `executescript` commits by itself."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _resume_crc_0001(
    session_id: str, seq: int, folded: int, out: int, err: int, parked: bytes, state: bytes | None
) -> int:
    """The checksum of what a session resumes from, in databases before 0007."""
    numbers = b"%d %d %d %d" % (folded, out, err, len(parked))
    return crc32(state or b"", crc32(parked, checksum(session_id, seq, numbers)))


def _resume_crc_0007(
    session_id: str, seq: int, folded: int, out: int, err: int, parked: bytes, state: bytes | None
) -> int:
    state_offset = out if state is not None else 0
    row = (folded, out, err, state_offset, crc32(parked), crc32(state or b""))
    return checksum(session_id, seq, b"%d %d %d %d %d %d" % row)
