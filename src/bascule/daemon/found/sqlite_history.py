"""Reads conversations from an agent's SQLite database: three tables, read-only.

The same database may hold credentials, so every other table is refused by the authorizer. While the agent
runs, what it wrote last is in the write-ahead log: then it is read as one more reader that has its shared
memory read-only. When there is no such log, the file alone is the whole truth and nothing beside it is made.
"""

import os
import sqlite3
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from urllib.parse import quote

from msgspec import Struct

from bascule.daemon.found.places import Spotted
from bascule.drivers.history import opencode
from bascule.drivers.history.builder import History
from bascule.model.errors import HostError

TABLES = frozenset({"session", "message", "part", "sqlite_master"})
MAX_SESSIONS = 5000
MAX_MESSAGES = 50_000
MAX_CELL = 16 * 1024 * 1024
BUSY_SECONDS = 2.0

SESSIONS = "SELECT id, time_updated FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC LIMIT ?"
SESSION = "SELECT id, directory, title, version, time_created, parent_id FROM session WHERE id = ?"
MESSAGES = "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT ?"
PARTS = "SELECT id, data FROM part WHERE message_id = ? ORDER BY id LIMIT 10000"


class DatabaseTrouble(HostError):
    """The agent's database is not as expected, or busy."""


class Listed(Struct, frozen=True):
    session_id: str
    updated: int


def stamp(home: str, spotted: Spotted) -> str:
    """Changes with the database and with its write-ahead log."""
    log = _identity(os.path.join(home, spotted.path + "-wal"))
    return f"{spotted.stamp} {log.st_size}:{log.st_mtime_ns}" if log else spotted.stamp


def sessions(home: str, spotted: Spotted) -> list[Listed]:
    with _open(home, spotted) as database:
        found = database.execute(SESSIONS, (MAX_SESSIONS,)).fetchall()
    return [
        Listed(one, updated) for one, updated in found if isinstance(one, str) and isinstance(updated, int)
    ]


def read(home: str, spotted: Spotted, session_id: str) -> History:
    with _open(home, spotted) as database:
        row = database.execute(SESSION, (session_id,)).fetchone()
        if row is None:
            raise DatabaseTrouble(f"{spotted.path} no longer holds the session {session_id[:60]}.")
        known, directory, title, version, created, parent = row
        session = opencode.Session(
            str(known), str(directory or ""), str(title or ""), str(version or ""), _whole(created), parent
        )
        return opencode.read(session, _messages(database, session_id))


def _messages(database: sqlite3.Connection, session_id: str) -> Iterator[opencode.Row]:
    for message_id, created, data in database.execute(MESSAGES, (session_id, MAX_MESSAGES)):
        parts = tuple(
            (str(part_id), _bytes(part))
            for part_id, part in database.execute(PARTS, (message_id,)).fetchall()
        )
        yield opencode.Row(str(message_id), _whole(created), _bytes(data), parts)


@contextmanager
def _open(home: str, spotted: Spotted) -> Generator[sqlite3.Connection, None, None]:
    path = os.path.join(home, spotted.path)
    log = _identity(path + "-wal")
    shared = _identity(path + "-shm")
    how = "mode=ro&readonly_shm=1" if log is not None and log.st_size else "mode=ro&immutable=1"
    for info in (_identity(path), log, shared):
        if info is not None and not stat.S_ISREG(info.st_mode):
            raise DatabaseTrouble(f"{spotted.path} or a file of its is a link or no plain file.")
    try:
        connection = sqlite3.connect(
            f"file:{quote(path)}?{how}", uri=True, isolation_level=None, timeout=BUSY_SECONDS
        )
    except sqlite3.Error as error:
        raise DatabaseTrouble(f"{spotted.path} can't be opened: {error}.") from error
    try:
        connection.text_factory = _lenient
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CELL)
        connection.set_authorizer(_may)
        connection.execute("BEGIN")
        yield connection
    except sqlite3.Error as error:
        raise DatabaseTrouble(f"{spotted.path} can't be read: {error}.") from error
    finally:
        connection.close()


def _may(action: int, first: str | None, second: str | None, database: str | None, source: str | None) -> int:
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ and first in TABLES:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _identity(path: str) -> os.stat_result | None:
    try:
        return os.stat(path, follow_symlinks=False)
    except OSError:
        return None


def _lenient(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _bytes(cell: object) -> bytes:
    return cell.encode(errors="replace") if isinstance(cell, str) else b""


def _whole(cell: object) -> int:
    return cell if isinstance(cell, int) else 0
