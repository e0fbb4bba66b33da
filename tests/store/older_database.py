"""A database as an earlier version made it, with the rows of a new one."""

import sqlite3
from contextlib import closing
from pathlib import Path

from bascule.store import schema
from bascule.store.rows import checksum

FILES = sorted((Path(schema.__file__).parent / "migrations").glob("*.sql"))
TABLES = ("meta", "sessions", "events", "entries", "requests", "outbox", "replies", "audit", "grants")
# What a session resumes from was in its own row, and an event's checksum was of its body alone.
BEFORE_0007 = {
    "parked": "coalesce((SELECT body FROM source.pending WHERE session_id = sessions.session_id), x'7b7d')",
    "driver_state": "(SELECT state FROM source.driver_states WHERE session_id = sessions.session_id)",
}
OLD_CHECKSUMS = (
    """
    UPDATE sessions SET resume_crc =
        resume_crc_0001(session_id, seq, folded_seq, out_offset, err_offset, parked, driver_state)
    """,
    "DROP TRIGGER events_are_never_changed",
    "UPDATE events SET crc = checksum(session_id, seq, body)",
    """
    CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END
    """,
)


def old_database(source: Path, target: Path, version: int) -> None:
    """The same rows in tables as that version made them. Rows of sessions must not be behind their logs."""
    with closing(sqlite3.connect(target, isolation_level=None)) as made:
        made.create_function("checksum", 3, checksum)
        made.execute(f"PRAGMA application_id = {schema.APPLICATION_ID:d}")
        made.execute("PRAGMA user_version = 0")
        _make_tables(made, version)
        made.execute("ATTACH ? AS source", (str(source),))
        made.execute("DELETE FROM meta")
        for table in TABLES:
            _copy(made, table, version)
        if version >= 2:
            made.execute("INSERT INTO search_owed SELECT session_id, 0 FROM sessions")
            made.execute("INSERT INTO search_owed SELECT session_id, first_seq FROM entries WHERE open = 0")
        if version >= 7:
            made.execute("INSERT INTO main.pending SELECT * FROM source.pending")
            made.execute("INSERT INTO main.driver_states SELECT * FROM source.driver_states")
        else:
            for statement in OLD_CHECKSUMS:
                made.execute(statement)
        if version < 5:
            made.execute("DELETE FROM main.meta WHERE name = 'epoch'")
        if version < 15:
            made.execute("DELETE FROM main.meta WHERE name = 'tokenizer'")
        made.execute("DETACH source")
    target.chmod(0o600)


def _make_tables(made: sqlite3.Connection, version: int) -> None:
    schema.add_functions(made)
    for file in FILES[:version]:
        made.executescript(file.read_text())
    made.execute(f"PRAGMA user_version = {version:d}")


def _copy(made: sqlite3.Connection, table: str, version: int) -> None:
    columns = [row[1] for row in made.execute(f"PRAGMA main.table_info({table})")]
    values = [BEFORE_0007.get(one, one) if version < 7 else one for one in columns]
    made.execute(
        f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM source.{table}"
    )
