"""A machine with a history of years: it starts, lists and opens its sessions as fast as on its first day."""

import asyncio
import time
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.machines.scale import scaled
from tests.waiting import MUCH_PATIENCE, within

from bascule.model.codec import timestamp
from bascule.model.events import (
    AnyEvent,
    EntryClosed,
    EntryOpened,
    SessionEnded,
    SessionStarted,
    TextAppended,
)
from bascule.state_folder import prepare
from bascule.store.base import Batch
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

ROWS = scaled(12_000, 1_000_000)  # of the longest session
SESSIONS = scaled(100, 10_000)
STEP = 3_000  # rows in one batch; three make an entry
LONG = "long"


async def write_history(data: Path, cwd: str) -> None:
    prepare(data)
    store = SqliteStore.open(data / "bascule.db", clock=time.time, loop=asyncio.get_running_loop())
    try:
        for number in range(SESSIONS):
            await store.append(
                Batch(f"s{number}", 1, timestamp(time.time()), [started(cwd), SessionEnded("closed")])
            )
        await store.append(Batch(LONG, 1, timestamp(time.time()), [started(cwd)]))
        for seq in range(2, 2 + ROWS, STEP):
            rows = [row for number in range(seq, seq + STEP, 3) for row in entry(number)]
            await store.append(Batch(LONG, seq, timestamp(time.time()), rows))
    finally:
        await store.close()


def started(cwd: str) -> SessionStarted:
    return SessionStarted(agent="demo", driver="stream_json", cwd=cwd, by="test")


def entry(number: int) -> list[AnyEvent]:
    name = f"e{number}"
    return [EntryOpened(name, "assistant"), TextAppended(name, "assistant", said(number)), EntryClosed(name)]


def said(number: int) -> str:
    return f"sentence {number}, as an agent says it, neither short nor long"


@pytest.mark.row("REL-39")
async def test_a_long_history_delays_neither_a_start_nor_a_list_nor_the_end_of_its_longest_session(
    short_dir: Path,
) -> None:
    server = LiveServer(short_dir)
    await asyncio.wait_for(write_history(server.data, str(server.work)), MUCH_PATIENCE)
    for _ in range(2):  # the first start may have something to make up for
        with within(2):
            await server.start()
        try:
            with within(0.3):
                listed = (await server.http.get("/api/sessions")).json()["sessions"]
            assert len(listed) > 10
            with within(0.5):
                last = (await server.http.get(f"/api/sessions/{LONG}/entries")).json()["entries"][-1]
            assert last["text"] == said(last["first_seq"])
            assert last["last_seq"] > ROWS
        finally:
            await server.stop()
    await server.end_keeper()
