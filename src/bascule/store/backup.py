"""Backups of a SQLite database: one file, made while the server runs, that opens nothing by itself.

A backup is a database of ours without grants and without stored replies, which may hold a new token. What
else belongs to the server and stands in small files (its id, its limits) is in the row `backup` of `meta`.
Keys, tokens, channels of notifications and recordings of terminals are left out.
"""

import os
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from bascule.model.codec import encode, timestamp
from bascule.model.errors import AlreadyRunning, BasculeError, InvalidInput, StorageFailed, StoreRefused
from bascule.store import restores
from bascule.store.audit import verify
from bascule.store.base import AuditRecord
from bascule.store.health import sidecars
from bascule.store.lock import Lock
from bascule.store.reader import connect_read_only
from bascule.store.rows import lenient_text
from bascule.store.schema import APPLICATION_ID, VERSION, migrate, version_of
from bascule.store.sqlite_errors import in_our_words
from bascule.store.transaction import Transaction

FILES = ("device", "limits.json")  # what belongs to a server and lets nobody in
DEVICE = FILES[0]
JOINED = "hub.json"
MAX_FILE_BYTES = 1024 * 1024
STEP_PAGES = 2048

KEEP = "INSERT OR REPLACE INTO meta (name, value) VALUES ('backup', ?)"
READ = "SELECT value FROM meta WHERE name = 'backup'"
DROP = "DELETE FROM meta WHERE name = 'backup'"
KEEP_EPOCH = "INSERT OR REPLACE INTO meta (name, value) VALUES ('epoch', ?)"
SESSIONS = "SELECT count(*) FROM sessions WHERE found = 0"
OPENING = ("grants", "replies")  # tables whose rows let somebody in
DETAIL = (
    "A backup of {at} was restored. What was made after it is gone, and links made before then no longer "
    "work."
)

Progress = Callable[[int, int], None]  # bytes that are copied, and all


class About(Struct, frozen=True):
    """What a backup says of itself."""

    at: str
    version: str
    files: dict[str, str] = {}


class Backup(NamedTuple):
    """What a backup holds. `aside`: where the database is that a restore has replaced."""

    at: str
    sessions: int
    records: int  # of the audit log
    aside: Path | None = None


def back_up(
    database: Path, target: Path, version: str, clock: Callable[[], float], progress: Progress
) -> Backup:
    """Copy a database, which a server may be writing to, to a new file. Raises a `BasculeError`."""
    draft = target.with_name(f"{target.name}.part")
    try:
        _create(draft)
    except OSError as error:
        raise StorageFailed(f"{draft} can't be made ({error.strerror}). Name another FILE.") from error
    try:
        about = About(timestamp(clock()), version, _files_of(database.parent))
        with closing(connect_read_only(database)) as source, closing(_connect(draft)) as copy:
            _copy(source, copy, progress)
            _shut(copy)
            copy.execute(KEEP, (encode(about),))
            made = _examined(copy, about.at)
        _put(draft, target)
    except sqlite3.Error as error:
        raise in_our_words(error) from error
    except OSError as error:
        raise StorageFailed(f"{target} can't be written ({error.strerror}). Name another FILE.") from error
    finally:
        for one in (draft, *sidecars(draft)):
            one.unlink(missing_ok=True)
    return made


def restore(
    file: Path, database: Path, clock: Callable[[], float], progress: Progress, *, replace: bool = False
) -> Backup:
    """Put a backup where nobody uses a database. Raises a `BasculeError`; then nothing has changed."""
    try:
        about = _about(file)
    except sqlite3.Error as error:
        raise _no_backup(file, str(error)) from error
    folder = database.parent
    before = sorted(one.name for one in folder.iterdir())
    try:
        lock = Lock(database)
    except AlreadyRunning as error:
        raise AlreadyRunning(
            f"Bascule runs with {folder} (pid {error.fields.get('pid')}). Stop it first: bascule daemon stop"
        ) from error
    try:
        if before and not replace:
            if lock.path.name not in before:
                lock.path.unlink()
            raise InvalidInput(
                f"{folder} is not empty ({', '.join(before[:3])}). Name an empty folder with --data, or use "
                "--replace: the database there is then set aside, not deleted."
            )
        made = _restore(file, database, about, clock, progress)
        lock.closed()
        return made
    except sqlite3.Error as error:
        raise in_our_words(error) from error
    except OSError as error:
        raise StorageFailed(f"{folder} can't be written ({error.strerror}).") from error
    finally:
        lock.release()


def _restore(
    file: Path, database: Path, about: About, clock: Callable[[], float], progress: Progress
) -> Backup:
    draft = database.with_name(f"{database.name}.part")
    for one in (draft, *sidecars(draft)):
        one.unlink(missing_ok=True)
    _create(draft)
    try:
        with closing(connect_read_only(file)) as source, closing(_connect(draft)) as copy:
            _copy(source, copy, progress)
            _check(file, copy)
            migrate(copy)
            _shut(copy)
            _begin_anew(copy, about, clock)
            made = _examined(copy, about.at)
        _sync(draft)
        aside = _set_aside(database, clock()) if database.exists() else None
        for one in (*sidecars(database), database.with_name(f"{database.name}.heads")):
            one.unlink(missing_ok=True)  # marks of another history: the copy is no damaged one
        _write_files(database.parent, about.files)
        draft.rename(database)
        _sync(database.parent)
    finally:
        for one in (draft, *sidecars(draft)):
            one.unlink(missing_ok=True)
    return made._replace(aside=aside)


def _copy(source: sqlite3.Connection, copy: sqlite3.Connection, progress: Progress) -> None:
    # SQLite begins a copy again whenever another process has written, unless the reader keeps its snapshot.
    source.execute("BEGIN")
    source.execute("SELECT count(*) FROM meta").fetchone()
    size = int(source.execute("PRAGMA page_size").fetchone()[0])

    def copied(_status: int, left: int, pages: int) -> None:
        progress((pages - left) * size, pages * size)

    source.backup(copy, pages=STEP_PAGES, progress=copied, sleep=0.0)
    source.execute("COMMIT")
    copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a write-ahead log beside it


def _shut(copy: sqlite3.Connection) -> None:
    """Take out what lets somebody in; the freed space is overwritten."""
    copy.execute("PRAGMA secure_delete = ON")
    for table in OPENING:
        copy.execute(f"DELETE FROM {table}")


def _begin_anew(copy: sqlite3.Connection, about: About, clock: Callable[[], float]) -> None:
    """Another history begins here: a new epoch, a note for people, and a record in the audit log."""
    transaction = Transaction(copy, clock)
    transaction.begin()
    copy.execute(KEEP_EPOCH, (secrets.token_hex(8).encode(),))
    copy.execute(DROP)
    restores.keep(copy, restores.Restore(timestamp(clock()), backup_at=about.at))
    transaction.audit([AuditRecord("restored", "this machine", detail=DETAIL.format(at=about.at))])
    transaction.commit()


def _examined(copy: sqlite3.Connection, at: str) -> Backup:
    check = verify(copy)
    if check.bad is not None or check.fault:
        raise StoreRefused(
            f"The audit log is broken after record {check.checked}: {check.fault}. Nothing was changed. "
            "Keep a copy of the state folder, and look at: bascule audit verify"
        )
    return Backup(at, int(copy.execute(SESSIONS).fetchone()[0]), check.checked)


def _about(file: Path) -> About:
    if not file.is_file():
        raise InvalidInput(f"There is no backup at {file}.")
    with closing(connect_read_only(file)) as connection:
        if int(connection.execute("PRAGMA application_id").fetchone()[0]) != APPLICATION_ID:
            raise _no_backup(file, "it is not a database of Bascule")
        if (version := version_of(connection)) > VERSION:
            raise StoreRefused(
                f"{file} was made by a newer Bascule (schema {version}, this one knows {VERSION}). "
                "Update Bascule to restore it."
            )
        row = connection.execute(READ).fetchone()
    if row is None:
        raise _no_backup(file, "it was not made by `bascule backup`")
    try:
        about = msgspec.json.decode(bytes(row[0]), type=About)
        datetime.fromisoformat(about.at)
    except ValueError as error:  # msgspec's errors are such
        raise _no_backup(file, "what it says of itself can't be read") from error
    return about


def _no_backup(file: Path, why: str) -> BasculeError:
    return StoreRefused(f"{file} can't be restored: {why}. Nothing was changed.")


def _check(file: Path, copy: sqlite3.Connection) -> None:
    found = [str(row[0]) for row in copy.execute("PRAGMA quick_check(1)")]
    if found != ["ok"]:
        raise _no_backup(file, f"it is damaged ({found[0]})")


def _files_of(folder: Path) -> dict[str, str]:
    found = {name: folder / name for name in FILES if (folder / name).is_file()}
    return {name: path.read_text() for name, path in found.items() if path.stat().st_size <= MAX_FILE_BYTES}


def _write_files(folder: Path, files: dict[str, str]) -> None:
    device = folder / DEVICE
    was = device.read_text() if device.exists() else None
    for name in FILES:
        if name in files:
            draft = folder / f"{name}.new"
            draft.unlink(missing_ok=True)
            _create(draft)
            draft.write_text(files[name])
            _sync(draft)
            draft.rename(folder / name)
    if was is not None and was != files.get(DEVICE, was):
        (folder / JOINED).unlink(missing_ok=True)  # the token was another machine's


def _set_aside(database: Path, now: float) -> Path:
    """Give it another name, with its write-ahead log, so that what the backup lacks can still be read."""
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    target, n = database.with_name(f"{database.name}.before-restore-{stamp}"), 1
    while target.exists():
        n += 1
        target = database.with_name(f"{database.name}.before-restore-{stamp}-{n}")
    for source, goal in zip((database, *sidecars(database)), (target, *sidecars(target)), strict=True):
        if source.exists():
            source.rename(goal)
    return target


def _create(path: Path) -> None:
    """Empty, for this user's eyes."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)
    os.close(descriptor)


def _put(draft: Path, target: Path) -> None:
    """Under its name only when it is whole, and never over another file."""
    _sync(draft)
    if target.exists():
        raise InvalidInput(f"{target} exists already. Name another FILE.")
    draft.rename(target)
    _sync(target.parent)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.text_factory = lenient_text
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
