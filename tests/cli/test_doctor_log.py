"""`bascule doctor` on the log: what the search index still owes is said."""

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from bascule.commands.doctor_log import log_findings
from bascule.store.search_index import MAX_OWED
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

OWE = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
INSERT INTO search_owed (session_id, first_seq) SELECT 'nobody', n FROM numbers
"""


@pytest.mark.parametrize(
    ("owed", "status", "words"),
    [
        (3, "ok", "search: 3 entries are not in the index yet"),
        (MAX_OWED + 1, "warn", f"search: more than {MAX_OWED} entries are not in the index yet"),
    ],
)
async def test_entries_that_can_not_be_found_yet_are_counted(
    tmp_path: Path, owed: int, status: str, words: str
) -> None:
    database = tmp_path / "bascule.db"
    store = SqliteStore.open(database, clock=time.time, loop=asyncio.get_running_loop())
    await store.close()
    assert [one for one in log_findings(database, []) if one.what.startswith("search")] == []
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute(OWE, (owed,))
    (said,) = [one for one in log_findings(database, []) if one.what.startswith("search")]
    assert (said.level, said.what) == (status, words)
