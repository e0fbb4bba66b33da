"""Copies of other machines' logs: which there are, how far they reach, and what each hub has of ours."""

from typing import Any

from bascule.store.connection import Connection
from bascule.store.replication import Heads, OwnLog, Replica
from bascule.store.rows import LIVE_PHASES, checksum

COLUMNS = "session_id, device, copy_of, gone, fold_version, generation"
ANY = "SELECT 1 FROM replicas LIMIT 1"
ONE = f"SELECT {COLUMNS} FROM replicas WHERE session_id = ?"
PUT = f"INSERT OR REPLACE INTO replicas ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
DROP = "DELETE FROM replicas WHERE session_id = ?"
HEADS = """
SELECT replicas.session_id, events.seq, events.crc FROM replicas JOIN events
ON events.session_id = replicas.session_id
    AND events.seq = (SELECT max(seq) FROM events WHERE session_id = replicas.session_id)
WHERE device = ? AND copy_of IS NULL AND replicas.session_id > ? ORDER BY replicas.session_id LIMIT ?
"""
HEAD = "SELECT seq, crc FROM events WHERE session_id = ? ORDER BY seq DESC LIMIT 1"
GONE = "SELECT session_id FROM replicas WHERE device = ? AND copy_of IS NULL AND gone = 1 ORDER BY session_id"
NOT_GONE = "UPDATE replicas SET gone = 0 WHERE device = ? AND copy_of IS NULL AND gone = 1"
COPIES = "SELECT count(*) FROM replicas WHERE copy_of = ?"
NOT_UNDERSTOOD = "SELECT session_id FROM replicas WHERE fold_version IS NOT NULL AND fold_version <> ?"
COUNT = """
INSERT INTO replica_rows (device, rows) VALUES (?, ?)
ON CONFLICT (device) DO UPDATE SET rows = replica_rows.rows + excluded.rows RETURNING rows
"""
COUNTED = "SELECT rows FROM replica_rows WHERE device = ?"
CRCS = "SELECT crc FROM events WHERE session_id = ? AND seq BETWEEN ? AND ? ORDER BY seq"
# The row of a session that is over is exact; that of a live one may be behind its log.
OWN = f"""
SELECT session_id, CASE WHEN live AND NOT found
    THEN max(seq, coalesce((SELECT max(seq) FROM events WHERE session_id = own.session_id), 0)) ELSE seq END,
    live, found, updated_at
FROM (SELECT session_id, seq, phase IN ({LIVE_PHASES}) AS live, found, updated_at FROM sessions
      WHERE session_id NOT IN (SELECT session_id FROM replicas)) AS own
"""
ONE_OWN = f"{OWN} WHERE session_id = ?"
BODY = "SELECT body FROM events WHERE session_id = ? AND seq = ?"
ACKNOWLEDGED = "SELECT rows FROM links WHERE hub = ?"
NOTE_ACKNOWLEDGED = "INSERT OR REPLACE INTO links (hub, rows) VALUES (?, ?)"


def any_replica(connection: Connection) -> bool:
    return connection.execute(ANY).fetchone() is not None


def replica(connection: Connection, session_id: str) -> Replica | None:
    values = connection.execute(ONE, (session_id,)).fetchone()
    if values is None:
        return None
    name, device, copy_of, gone, fold_version, generation = values
    return Replica(name, device, copy_of, bool(gone), fold_version, generation)


def put(connection: Connection, one: Replica) -> None:
    connection.execute(PUT, one)


def heads_of(connection: Connection, device: str, after: str, limit: int) -> Heads:
    return {name: (seq, crc) for name, seq, crc in connection.execute(HEADS, (device, after, limit))}


def head_of(connection: Connection, session_id: str) -> tuple[int, int]:
    values = connection.execute(HEAD, (session_id,)).fetchone()
    return (0, 0) if values is None else (values[0], values[1])


def gone_sessions(connection: Connection, device: str) -> list[str]:
    return [name for (name,) in connection.execute(GONE, (device,))]


def not_understood(connection: Connection, vocabulary: str) -> list[str]:
    """Sessions with rows that another version did not know: this one may."""
    return [name for (name,) in connection.execute(NOT_UNDERSTOOD, (vocabulary,))]


def count_rows(connection: Connection, device: str, new: int) -> int:
    return int(connection.execute(COUNT, (device, new)).fetchall()[0][0])


def rows_of(connection: Connection, device: str) -> int:
    return _number(connection.execute(COUNTED, (device,)).fetchone())


def checksums(connection: Connection, session_id: str, first: int, last: int) -> list[int]:
    """Those of the stored rows `first` to `last`."""
    return [crc for (crc,) in connection.execute(CRCS, (session_id, first, last))]


def own_logs(connection: Connection) -> list[OwnLog]:
    return [_own(values) for values in connection.execute(OWN)]


def own_log(connection: Connection, session_id: str) -> OwnLog | None:
    values = connection.execute(ONE_OWN, (session_id,)).fetchone()
    return None if values is None else _own(values)


def _own(values: tuple[Any, ...]) -> OwnLog:
    session_id, seq, live, found, updated_at = values
    return OwnLog(session_id, seq, bool(live), bool(found), updated_at)


def checksums_at(connection: Connection, positions: dict[str, int]) -> dict[str, int]:
    """Of each row's bytes alone, as a hub stores it: ours also covers how far the agent's output was read."""
    found: dict[str, int] = {}
    for session_id, seq in positions.items():
        values = connection.execute(BODY, (session_id, seq)).fetchone()
        if values is not None:
            found[session_id] = checksum(session_id, seq, values[0])
    return found


def acknowledged(connection: Connection, hub: str) -> int:
    return _number(connection.execute(ACKNOWLEDGED, (hub,)).fetchone())


def _number(values: tuple[Any, ...] | None) -> int:
    return 0 if values is None else int(values[0])
