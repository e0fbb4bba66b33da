"""Maps SQLite's errors to ours: a full disk, or a damaged file."""

import sqlite3

from bascule.model.errors import BasculeError, StorageFailed, StorageFull, StoreDamaged

_PRIMARY = 0xFF  # SQLite's extended codes keep the plain code in the low byte
_DISK = {
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_PERM,
}
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _code(error: BaseException) -> int:
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY


def storage_fault(error: BaseException) -> StorageFailed | None:
    """The error as a problem of the disk, if it is one: it may pass, and then the same step succeeds."""
    if isinstance(error, StorageFailed):
        return error
    if not isinstance(error, sqlite3.Error):
        return None
    code = _code(error)
    if code == sqlite3.SQLITE_FULL:
        return StorageFull("The disk is full: nothing is stored until there is room again.")
    if code in _DISK:
        return StorageFailed(f"The database file can't be used right now ({error}).")
    return None


def in_our_words(error: Exception, session_id: str | None = None) -> Exception:
    """The error as one of ours where it means something, else as it is."""
    if isinstance(error, BasculeError):
        return error
    fault = storage_fault(error)
    if fault is not None:
        return fault
    if isinstance(error, sqlite3.DatabaseError) and _code(error) in _DAMAGE:
        where = f"where session {session_id} is stored" if session_id else "in a place that was read"
        return StoreDamaged(f"The database is damaged {where} ({error}).", session_id=session_id)
    return error
