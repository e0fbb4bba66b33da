"""The SQLite store, held to the suite every engine is held to."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.store.conformance import Open, StoreConformance
from tests.store.conftest import Clock, Opener
from tests.store.logs import AT, encoded, folded, random_log, step

from bascule.model.codec import Logged
from bascule.model.errors import StoreConflict
from bascule.model.events import AnyEvent
from bascule.model.records import Parked, SessionRecord, advance
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


class TestSqliteStore(StoreConformance):
    @pytest.fixture
    def opener(self, open_store: Opener) -> Open:
        return open_store


@given(
    log=random_log,
    cuts=st.lists(st.integers(1, 12), min_size=1),
    reopen=st.booleans(),
    limit=st.integers(1, 70),
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
async def test_a_page_equals_folding_everything_from_scratch_at_any_cut(
    log: list[AnyEvent], cuts: list[int], reopen: bool, limit: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, clock, loop = Path(folder) / "bascule.db", Clock(), asyncio.get_running_loop()
        store = SqliteStore.open(path, clock=clock, loop=loop)
        done = n = 0
        while done < len(log):
            size = cuts[n % len(cuts)]
            await store.append(step(done + 1, *log[done : done + size]))
            done, n = min(done + size, len(log)), n + 1
            if reopen and n % 3 == 0:
                await store.close()
                store = SqliteStore.open(path, clock=clock, loop=loop)
            whole = encoded(folded(log[:done]))
            page = await store.page("s1", limit)
            assert page.seq == done
            assert page.entries == whole[-limit:]
            assert (page.before is None) == (len(whole) <= limit)
        assert await _all_pages(store, 3) == encoded(folded(log))
        record, parked = _recorded(log)
        point = await store.resume_point("s1")
        assert point is not None
        assert (point.record, point.parked) == (record, parked)
        with pytest.raises(StoreConflict):
            await store.append(step(done, *log[:1]))
        await store.close()


async def _all_pages(store: SqliteStore, size: int) -> list[bytes]:
    page = await store.page("s1", size)
    entries = page.entries
    while page.before is not None:
        page = await store.page("s1", size, page.before)
        entries = page.entries + entries
    return entries


def _recorded(log: list[AnyEvent]) -> tuple[SessionRecord, Parked]:
    record, parked = SessionRecord("s1"), Parked()
    for seq, event in enumerate(log, 1):
        advance(record, parked, Logged(seq, AT, event))
    return record, parked
