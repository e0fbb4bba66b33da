"""Opens a database only if it is ours, intact and not in use; a damaged one is quarantined, not deleted."""

import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from bascule.model.errors import StorageFailed, StoreDamaged, StoreRefused
from bascule.store.lock import Lock
from bascule.store.rows import lenient_text
from bascule.store.schema import APPLICATION_ID, VERSION, migrate, version_of
from bascule.store.sqlite_errors import in_our_words, storage_fault

MAGIC = b"SQLite format 3\x00"
HEADER = 100
BUSY_SECONDS = 5
# Without these nothing can be served. Damage in the others is found when a session is read, and named there.
ESSENTIAL = ("meta", "sessions", "requests", "outbox", "replies", "grants")
ESSENTIAL_SINCE_0007 = ("pending", "driver_states")


def open_sound(
    path: Path, lock: Lock, clock: Callable[[], float]
) -> tuple[sqlite3.Connection, StorageFailed | None]:
    """The connection that will write, and what keeps it from writing (a full disk), if anything does.

    Raises `StoreDamaged` (the file was put aside), `StoreRefused` (it was left alone), or `StorageFailed`.
    """
    try:
        _examine_files(path, lock)
        if not path.exists():
            _create(path)
        path.chmod(0o600)
        connection = _connect(path)
        try:
            _examine_contents(path, connection)
            migrate(connection)
            problem = _begin_wal(connection, path)
        except BaseException:
            connection.close()
            raise
        if _wal(path).exists():
            lock.opened()
        return connection, problem
    except sqlite3.Error as error:
        raise in_our_words(error) from error
    except _Unsound as unsound:
        moved = quarantine(path, clock())
        raise StoreDamaged(
            f"The database {path} {unsound}. It was moved to {moved}; the next start begins empty.",
            moved_to=str(moved),
        ) from unsound


class _Unsound(Exception):
    """The file is damaged; the message completes a sentence that begins with its name."""


def _wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def sidecars(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in ("-wal", "-shm", "-journal")]


def quarantine(path: Path, now: float) -> Path:
    """Move the database and its side files to a name nobody uses."""
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    target, n = path.with_name(f"{path.name}.corrupt-{stamp}"), 1
    while any(one.exists() for one in (target, *sidecars(target))):
        n += 1
        target = path.with_name(f"{path.name}.corrupt-{stamp}-{n}")
    for source, goal in zip((path, *sidecars(path)), (target, *sidecars(target)), strict=True):
        if source.exists():
            source.rename(goal)
    _sync_directory(path.parent)
    return target


def quarantined(path: Path) -> list[Path]:
    """Quarantined databases of earlier starts."""
    return sorted(path.parent.glob(f"{path.name}.corrupt-*"))


def _examine_files(path: Path, lock: Lock) -> None:
    wal = _wal(path)
    if not path.exists():
        if wal.exists() and wal.stat().st_size:
            raise _Unsound(f"is gone, though its write-ahead log {wal.name} is still there")
        return
    with path.open("rb") as file:
        header = file.read(HEADER)
    _examine_header(path, header, wal)
    if lock.left_open and not wal.exists():
        raise StoreRefused(
            f"{wal} is missing, though the last run did not close the database. Put it back; or, if another "
            f"program folded it in or its last commits may be lost, delete {lock.path} and start again."
        )


def _examine_header(path: Path, header: bytes, wal: Path) -> None:
    if not header:
        raise _Unsound("is empty (0 bytes)")
    if not header.startswith(MAGIC) or len(header) < HEADER:
        raise _Unsound("does not begin as an SQLite database does")
    if int.from_bytes(header[68:72]) != APPLICATION_ID:
        raise StoreRefused(f"{path} is a database of another program; it was left as it is.")
    _check_version(path, int.from_bytes(header[60:64]))
    page_size = int.from_bytes(header[16:18])
    needed = int.from_bytes(header[28:32]) * (65536 if page_size == 1 else page_size)
    size = path.stat().st_size
    # With a write-ahead log a file may be shorter for a while: a checkpoint was cut off and will be repeated.
    if size < needed and not (wal.exists() and wal.stat().st_size):
        raise _Unsound(f"is cut off ({size} of {needed} bytes)")


def _check_version(path: Path, version: int) -> None:
    if version > VERSION:
        raise StoreRefused(
            f"{path} was written by a newer Bascule (schema {version}, this one knows {VERSION}); "
            "it was left as it is. Update Bascule to open it."
        )


def _create(path: Path) -> None:
    """Made under another name, then renamed: a half-made database is never taken for a damaged one."""
    draft = path.with_name(f"{path.name}.new")
    for leftover in (draft, *sidecars(draft)):
        leftover.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    os.fchmod(descriptor, 0o600)
    os.close(descriptor)
    connection = _connect(draft)
    # A draft that a crash cut off is made again, so its thirteen transactions need no journal and no flush.
    connection.execute("PRAGMA journal_mode = MEMORY")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA auto_vacuum = NONE")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
    migrate(connection)
    connection.close()
    _sync(draft)
    draft.rename(path)
    _sync_directory(path.parent)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
    connection.text_factory = lenient_text
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _examine_contents(path: Path, connection: sqlite3.Connection) -> None:
    try:
        version = version_of(connection)
        _check_version(path, version)
        if version == 0:
            raise _Unsound("says that it has no tables")
        for table in ESSENTIAL + (ESSENTIAL_SINCE_0007 if version >= 7 else ()):
            found = [row[0] for row in connection.execute(f"PRAGMA quick_check('{table}')")]
            if found != ["ok"]:
                raise _Unsound(f"is damaged in its table {table} ({found[0]})")
    except sqlite3.DatabaseError as error:
        if storage_fault(error) is not None:
            raise StoreRefused(f"{path} can't be opened ({error}); it was left as it is.") from error
        raise _Unsound(f"is damaged ({error})") from error


def _begin_wal(connection: sqlite3.Connection, path: Path) -> StorageFailed | None:
    """From here on the write-ahead log is there, for good: a run that ends without it has lost it."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA journal_size_limit = 67108864")
    connection.execute("PRAGMA synchronous = FULL")
    try:
        connection.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('opened', zeroblob(0))")
    except sqlite3.Error as error:
        problem = storage_fault(error)
        if problem is None:
            raise
        return problem  # what is stored can still be read
    _sync_directory(path.parent)
    return None


def _sync_directory(folder: Path) -> None:
    _sync(folder, os.O_DIRECTORY)


def _sync(path: Path, flags: int = 0) -> None:
    descriptor = os.open(path, os.O_RDONLY | flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
