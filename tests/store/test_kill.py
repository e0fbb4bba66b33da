"""What was promised survives `kill -9`, whenever it comes."""

import asyncio
import random
import sys
from pathlib import Path

import pytest
from tests.store.appender import event
from tests.store.conftest import Opener
from tests.store.logs import encoded, folded, numbers
from tests.waiting import PATIENCE

from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

KILLS = 10


async def _append_until_killed(database: Path, promises: int) -> tuple[int, int]:
    """Kill the appender after this many promises: the head it found, the last number it was promised."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("appender.py")),
        str(database),
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            head = promised = int(await child.stdout.readline())
            for _ in range(promises):
                promised = int(await child.stdout.readline())
    finally:
        child.kill()
    async with asyncio.timeout(PATIENCE):
        rest = (await child.stdout.read()).split(b"\n")[:-1]  # whatever it had said when it died
        await child.wait()
    return head, int(rest[-1]) if rest else promised


async def test_every_promised_row_survives_kill_9_contiguous_unique_and_sound(
    database: Path, open_store: Opener
) -> None:
    chance = random.Random(7)
    found = 0
    for _ in range(KILLS):
        head, promised = await _append_until_killed(database, chance.randrange(0, 400))
        assert head >= found
        assert promised >= head
        found = promised
    store = await open_store()
    record = await store.session("s1")
    assert record is not None
    assert record.seq >= found
    assert numbers(await store.read("s1", 0, 1 << 30)) == list(range(1, record.seq + 1))
    await _agrees_with_its_log(store, record.seq)


async def _agrees_with_its_log(store: SqliteStore, head: int) -> None:
    point = await store.resume_point("s1")
    assert point is not None
    assert point.out_offset == head
    page = await store.page("s1", 1 << 30)
    expected = encoded(folded([event(seq) for seq in range(1, head + 1)]))
    assert len(page.entries) == len(expected)
    # The appender's times are real, the fold's are not: compare all but the time.
    assert [_timeless(one) for one in page.entries] == [_timeless(one) for one in expected]


def _timeless(entry: bytes) -> bytes:
    before, _, rest = entry.partition(b'"at":"')
    return before + rest[rest.index(b'"') :]
