"""SQLite's engine: one file, its write-ahead log, the marks beside it, and fsync only where asked for."""

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from bascule.model.errors import StorageFailed
from bascule.store.base import Committed
from bascule.store.checkpoint import BACKSTOP_PAGES, Checkpointer
from bascule.store.heads import AUDIT, Heads
from bascule.store.health import BUSY_SECONDS
from bascule.store.lock import Lock
from bascule.store.sqlite_errors import in_our_words, storage_fault

PROBE_BYTES = 64 * 1024

_PROBE = "INSERT OR REPLACE INTO meta (name, value) VALUES ('probe', zeroblob(?))"


class SqliteEngine:
    """Owns the only connection that writes."""

    def __init__(self, path: Path, connection: sqlite3.Connection, heads: Heads, lock: Lock) -> None:
        self.connection = connection
        self._path, self._file = path, _identity(path)
        self._heads = heads
        self._lock = lock
        self.full_sync: bool | None = None
        connection.execute(f"PRAGMA wal_autocheckpoint = {BACKSTOP_PAGES:d}")
        self._checkpointer = Checkpointer(path)
        self._settled = 0  # checkpoints after which a patient commit has begun
        self._patient = True

    def is_quick(self) -> bool:
        """The first commit after a checkpoint begins the log anew, and waits for the disk with its header."""
        return self._settled == self._checkpointer.asked

    def prepare(self, full_sync: bool, *, patient: bool = True) -> None:
        """SQLite would write on into a file that was deleted; what nobody can find again is not stored."""
        if patient:
            self._settled = self._checkpointer.finished
        if patient != self._patient:
            self.connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000 if patient else 0:d}")
            self._patient = patient
        if full_sync != self.full_sync:
            self.connection.execute(f"PRAGMA synchronous = {'FULL' if full_sync else 'NORMAL'}")
            self.full_sync = full_sync
        if _identity(self._path) != self._file:
            raise StorageFailed(f"{self._path} was removed or replaced while in use; nothing is stored.")

    def renewed(self) -> frozenset[str] | None:
        return None

    def committing(self, devices: frozenset[str], grown: Mapping[str, int]) -> None:
        """Nothing: the lock on the file keeps every other process out."""

    def committed(self, commits: Sequence[Committed], audited: int | None) -> None:
        """Record each log's last number."""
        for record, rows, *_, taken_in in commits:
            if not record.found and not taken_in:
                self._heads.moved(record.session_id, rows[-1].seq)
        if audited is not None:
            self._heads.moved(AUDIT, audited)

    def wrote(self, size: int) -> None:
        self._checkpointer.wrote(size)

    def fault(self, error: BaseException) -> StorageFailed | None:
        return storage_fault(error)

    def in_our_words(self, error: Exception, session_id: str | None) -> Exception:
        return in_our_words(error, session_id)

    def probe(self) -> None:
        for size in (PROBE_BYTES, 0):
            self.prepare(bool(self.full_sync))
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.execute(_PROBE, (size,))
            self.connection.execute("COMMIT")

    def close(self) -> None:
        """The lock says that all is in the file itself, unless (a full disk) some of it is still in the
        write-ahead log, for the next opening to find."""
        try:
            self._checkpointer.close()
            folded_in = self._checkpoint()
            self.connection.close()
            self._heads.close()
            if folded_in:
                self._lock.closed()
        finally:
            self._lock.release()

    def _checkpoint(self) -> bool:
        try:
            busy, _, _ = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            if storage_fault(error) is None:
                raise
            return False
        return busy == 0


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
