"""Schema migrations: numbered SQL files. `user_version` counts those a database has had."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

APPLICATION_ID = 0x42617363  # "Basc", in the header of every database of ours
_FILES = sorted((Path(__file__).parent / "migrations").glob("[0-9]*.sql"))
VERSION = len(_FILES)


def version_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database to this version, each numbered file in a transaction of its own."""
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


def _statements(script: str) -> Iterator[str]:
    """One at a time, because `executescript` commits by itself."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
