"""Detects a database that is not the one last closed; then starts a new epoch and logs a note."""

import logging
import secrets
import sqlite3
from collections.abc import Callable, Mapping

from bascule.model.codec import encode_logged, timestamp
from bascule.model.errors import StoreConflict, StoreDamaged
from bascule.model.events import Note
from bascule.store import restores
from bascule.store.base import AuditRecord, Batch
from bascule.store.heads import AUDIT, Heads
from bascule.store.rows import LIVE_PHASES
from bascule.store.sqlite_errors import storage_fault
from bascule.store.transaction import Transaction

log = logging.getLogger(__name__)

EPOCH = "SELECT value FROM meta WHERE name = 'epoch'"
KEEP_EPOCH = "INSERT OR REPLACE INTO meta (name, value) VALUES ('epoch', ?)"
# The row of a session that is over is exact; that of a live one may be behind its log. Copies of other
# machines' logs have no marks and get no notes: what they lost is sent again, and only their owner adds rows.
REACHED = f"""
SELECT session_id, CASE WHEN phase NOT IN ({LIVE_PHASES}) THEN seq
    ELSE max(seq, coalesce((SELECT max(seq) FROM events WHERE session_id = sessions.session_id), 0)) END
FROM sessions WHERE found = 0 AND session_id NOT IN (SELECT session_id FROM replicas)
"""
AUDITED = "SELECT coalesce(max(n), 0) FROM audit"

LOGGED = "SELECT coalesce(max(seq), 0) FROM events WHERE session_id = ?"

RESTORED = "log_restored"
TEXT = (
    "This log is older than it was: it ended at number {was} and now ends at {now}. An older copy was put "
    "back, or the last writes were lost in a power cut. What people sent, answered or changed in between is "
    "not in it; what the agent wrote is read again where it is still there. A request that shows up as "
    "withdrawn may have been answered."
)
OLDER = (
    "This database is older than it was: {logs} had got further. An older copy was put back, or the last "
    "writes were lost in a power cut. What people made or changed in between is not in it."
)
NEW = "This database is new. There was another, where {logs} had got further; what it held is not here."


def go_on(
    connection: sqlite3.Connection, heads: Heads, clock: Callable[[], float]
) -> tuple[str, dict[str, int]]:
    """The epoch, and the logs that reached further once, with how far. Called before anything is written."""
    epoch, goes_on, behind = examined(connection, heads)
    if not goes_on:
        if behind:
            log.warning("the database is older than it was: %d logs had got further", len(behind))
        epoch = secrets.token_hex(8)
        if not _begin(connection, epoch, behind, clock):
            return epoch, behind  # the marks of before stay, so the next start finds the same
    heads.begin(epoch, _reached(connection).items())
    return epoch, behind


def examined(connection: sqlite3.Connection, heads: Heads) -> tuple[str, bool, dict[str, int]]:
    """The epoch; whether it goes on, so that numbers mean the same; and the logs that had got further."""
    row = connection.execute(EPOCH).fetchone()
    epoch = bytes(row[0]).decode("ascii", "replace") if row else ""
    reached = _reached(connection)
    behind = {
        name: seq
        for name, seq in heads.marks.items()
        if reached.get(name, 0) < seq and _logged(connection, name) < seq
    }
    return epoch, epoch == heads.epoch and not behind, behind


def _reached(connection: sqlite3.Connection) -> dict[str, int]:
    reached = {str(name): int(seq) for name, seq in connection.execute(REACHED)}
    return {**reached, AUDIT: int(connection.execute(AUDITED).fetchone()[0])}


def _logged(connection: sqlite3.Connection, name: str) -> int:
    """The last number in the log itself, because the session's row may be damaged."""
    return int(connection.execute(LOGGED, (name,)).fetchone()[0])


def _begin(
    connection: sqlite3.Connection, epoch: str, behind: dict[str, int], clock: Callable[[], float]
) -> bool:
    """Store the new epoch, and say in each log that is behind what happened, in one transaction."""
    transaction = Transaction(connection, clock)
    try:
        transaction.begin()
        connection.execute(KEEP_EPOCH, (epoch.encode(),))
        reached, at = _reached(connection), timestamp(clock())
        for name, was in behind.items():
            if name in reached and name != AUDIT:
                _note(transaction, name, was, reached[name], at)
        if behind:
            say_older(transaction, behind, reached[AUDIT], at)
        transaction.commit()
    except sqlite3.Error as error:
        transaction.rollback()
        if storage_fault(error) is None:
            raise
        return False  # a full disk: what is stored can still be read
    return True


def say_older(transaction: Transaction, behind: Mapping[str, int], audited: int, at: str) -> None:
    """In the audit log, which now ends at `audited`, and to people."""
    words = (OLDER if audited else NEW).format(logs=_named(behind))
    transaction.audit([AuditRecord("restored", "this machine", detail=words)])
    # Its records are on the disk before anybody hears of them: this is no power cut.
    if AUDIT in behind and audited:
        restores.keep(transaction.connection, restores.Restore(at, records=behind[AUDIT] - audited))


def _named(behind: Mapping[str, int]) -> str:
    logs = len(behind) - (AUDIT in behind)
    words = [f"the audit log, at record {behind[AUDIT]},"] if AUDIT in behind else []
    words += [f"{logs} log{'' if logs == 1 else 's'} of sessions"] if logs else []
    return " and ".join(words)


def _note(transaction: Transaction, name: str, was: int, now: int, at: str) -> None:
    note = Note(RESTORED, TEXT.format(was=was, now=now), "warning")
    try:
        batch = Batch(name, now + 1, at, [note])
        transaction.append(batch, batch.log(), [encode_logged(now + 1, at, note)])
    except (StoreDamaged, StoreConflict) as error:  # raised before anything of it was changed
        log.warning("no note in %s: %s", name, error.message)
