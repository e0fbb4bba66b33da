"""An update of the server while agents speak: the database of the version before is migrated under them."""

import asyncio
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from zlib import crc32

import pytest
from tests.live import LiveServer
from tests.store.older_database import old_database
from tests.waiting import PATIENCE

from bascule.daemon.registry.live_sessions import process_name
from bascule.drivers.stream_json import StreamJsonDriver
from bascule.model.events import AnyEvent, PermissionRequested, PromptSent, TextAppended, TextSaid, TurnEnded
from bascule.store import reader, schema
from bascule.store.rows import encode_session
from bascule.store.sqlite import SqliteStore
from bascule.store.transaction import UPSERT_SESSION, UPSERT_STATE, Transaction
from bascule.transport.spool import SpoolReader

pytestmark = pytest.mark.anyio

PIECES = 2000
BEFORE = 6  # the version that wrote the session's row, with its driver's state, in every step
DYING = Path(__file__).parents[1] / "store" / "dying_migration.py"


def numbers_in(events: list[AnyEvent]) -> list[int]:
    texts = [event.text for event in events if isinstance(event, TextAppended | TextSaid)]
    return [int(word) for word in "".join(texts).split() if word.isdigit()]


async def as_before(database: Path, keeper: Path) -> None:
    """Rewrite the database of a killed server as the version before would have left it."""
    made = SqliteStore.open(database, clock=time.time, loop=asyncio.get_running_loop())
    await made.transact(lambda transaction: bring_rows_up(transaction, keeper))
    await made.close()
    old = database.with_name("before.db")
    old_database(database, old, BEFORE)
    for side in database.parent.glob(f"{database.name}-*"):
        side.unlink()
    old.replace(database)


def bring_rows_up(transaction: Transaction, keeper: Path) -> None:
    """Each session's row at the end of its log, and its driver's state there."""
    connection = transaction.connection
    for (session,) in connection.execute("SELECT session_id FROM sessions").fetchall():
        row = reader.session_row(connection, session)
        assert row is not None
        assert row.driver_state is not None
        driver = StreamJsonDriver.restore(row.driver_state)
        spool = SpoolReader(keeper, process_name(row.record), "out")
        while row.state_offset < row.out_offset:
            chunk = spool.read(row.state_offset, row.out_offset - row.state_offset)
            assert chunk
            driver.receive(chunk)
            row.state_offset += len(chunk)
        spool.close()
        row.driver_state = driver.state()
        transaction.connection.execute(UPSERT_STATE, (session, row.state_offset, row.driver_state))
        row.state_crc = crc32(row.driver_state)
        transaction.connection.execute(UPSERT_SESSION, encode_session(row))


@pytest.mark.row("F11", "X1")
async def test_sessions_go_on_exactly_after_a_migration_that_was_killed_midway(short_dir: Path) -> None:
    async with LiveServer(short_dir) as server:
        session = await server.create(f"count {PIECES} 5")
        asking = await server.create("run")
        request = (await server.wait_for(asking, PermissionRequested)).event
        assert isinstance(request, PermissionRequested)
        await server.wait_for(session, lambda event: max(numbers_in([event]), default=0) >= 50)
        await server.kill()
        database = server.data / "bascule.db"
        await as_before(database, server.data / "keeper")
        for statement in (0, 3, 6):
            child = await asyncio.create_subprocess_exec(
                sys.executable, str(DYING), str(database), str(statement)
            )
            assert await asyncio.wait_for(child.wait(), PATIENCE) == -9
            with closing(sqlite3.connect(database)) as left:
                assert schema.version_of(left) == BEFORE
        await server.start()
        open_now = (await server.http.get("/api/requests")).json()["requests"]
        assert [one["request_id"] for one in open_now] == [request.request_id]
        await server.wait_for(session, TurnEnded)
        rows = await server.log(session)
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        assert numbers_in([row.event for row in rows]) == list(range(1, PIECES + 1))
        assert sum(isinstance(row.event, PromptSent) for row in rows) == 1
        with closing(sqlite3.connect(database)) as now:
            assert schema.version_of(now) == schema.VERSION
