"""The checkpointer: what is committed reaches the database file without the writer doing it."""

import sqlite3
from pathlib import Path

import pytest

from bascule.store.checkpoint import EVERY_BYTES, Checkpointer


@pytest.fixture
def writer(tmp_path: Path):
    """A connection with a megabyte in its write-ahead log, which will not checkpoint by itself."""
    connection = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("CREATE TABLE things (body BLOB)")
    connection.execute("INSERT INTO things VALUES (zeroblob(1048576))")
    yield connection
    connection.close()


def test_enough_written_is_moved_into_the_file(writer: sqlite3.Connection, tmp_path: Path):
    checkpointer = Checkpointer(tmp_path / "log.db")
    checkpointer.wrote(EVERY_BYTES)
    checkpointer.close()
    assert (tmp_path / "log.db").stat().st_size > 1048576


def test_a_little_written_stays_in_the_log(writer: sqlite3.Connection, tmp_path: Path):
    before = (tmp_path / "log.db").stat().st_size
    checkpointer = Checkpointer(tmp_path / "log.db")
    checkpointer.wrote(EVERY_BYTES - 1)
    checkpointer.close()
    assert (tmp_path / "log.db").stat().st_size == before


def test_it_does_not_wait_for_an_open_transaction(writer: sqlite3.Connection, tmp_path: Path):
    writer.execute("BEGIN IMMEDIATE")
    checkpointer = Checkpointer(tmp_path / "log.db")
    checkpointer.wrote(EVERY_BYTES)
    checkpointer.close()
    writer.execute("COMMIT")
    assert (tmp_path / "log.db").stat().st_size > 1048576


def test_a_file_that_is_gone_stops_nothing_and_is_not_made_anew(tmp_path: Path):
    checkpointer = Checkpointer(tmp_path / "log.db")
    checkpointer.wrote(EVERY_BYTES)
    checkpointer.wrote(EVERY_BYTES)
    checkpointer.close()
    assert not (tmp_path / "log.db").exists()
