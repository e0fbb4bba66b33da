"""Maps PostgreSQL's errors to ours: it is away, it is full, or what it holds is damaged."""

from bascule.model.errors import BasculeError, StorageFailed, StorageFull, StoreDamaged
from bascule.store.postgres.asyncpg_module import asyncpg

FULL = "The disk of the database is full: nothing is stored until there is room again."
READ_ONLY = "The database takes no changes ({why}); nothing is stored until it does again."
AWAY = "The database can't be reached ({why}); nothing is stored until it is back."
# Classes of SQLSTATE: connection, authentication, no such database, read-only, transaction rolled back,
# insufficient resources, operator intervention, system error.
_PASSING = ("08", "28", "3D", "25", "40", "53", "57", "58")
_DAMAGE = "XX"


def storage_fault(error: BaseException) -> StorageFailed | None:
    """The error as a problem that may pass, and then the same step succeeds."""
    if isinstance(error, StorageFailed):
        return error
    if isinstance(error, asyncpg.DiskFullError):
        return StorageFull(FULL)
    if isinstance(error, OSError | TimeoutError):
        return StorageFailed(AWAY.format(why=str(error) or "no answer"))
    if is_read_only(error):
        return StorageFailed(READ_ONLY.format(why=str(error)))
    if _class_of(error) in _PASSING:
        return StorageFailed(AWAY.format(why=str(error)))
    return None


def is_read_only(error: BaseException) -> bool:
    """It became a standby, or its owner closed it for changes, as many do before a disk is full."""
    return isinstance(error, asyncpg.ReadOnlySQLTransactionError)


def in_our_words(error: Exception, session_id: str | None = None) -> Exception:
    """The error as one of ours where it means something, else as it is."""
    if isinstance(error, BasculeError):
        return error
    fault = storage_fault(error)
    if fault is not None:
        return fault
    if _class_of(error) == _DAMAGE:
        where = f"where session {session_id} is stored" if session_id else "in a place that was read"
        return StoreDamaged(f"The database is damaged {where} ({error}).", session_id=session_id)
    return error


def _class_of(error: BaseException) -> str:
    """The class of its SQLSTATE; empty when the server said nothing."""
    return str(getattr(error, "sqlstate", None) or "")[:2] if isinstance(error, asyncpg.PostgresError) else ""
