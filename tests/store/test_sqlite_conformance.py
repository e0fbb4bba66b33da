"""The SQLite store, held to the suite every engine is held to."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.store.conformance import DaemonConformance, Open
from tests.store.conftest import Clock, Opener
from tests.store.logs import AT, encoded, folded, opened, random_log, step, text
from tests.store.search_conformance import SearchConformance

from bascule.model.codec import Logged
from bascule.model.errors import StoreConflict
from bascule.model.events import AnyEvent, EntryClosed
from bascule.model.records import Pending, SessionRecord
from bascule.model.session_fold import SessionFold
from bascule.store import projection
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


class TestSqliteStore(DaemonConformance):
    @pytest.fixture
    def opener(self, open_store: Opener) -> Open:
        return open_store


class TestSqliteSearch(SearchConformance):
    @pytest.fixture
    def opener(self, open_store: Opener) -> Opener:
        return open_store


@given(
    log=random_log,
    cuts=st.lists(st.integers(1, 12), min_size=1),
    reopen=st.booleans(),
    limit=st.integers(1, 70),
    lag=st.sampled_from([1, 3, 512]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
async def test_a_page_equals_folding_everything_from_scratch_at_any_cut(
    log: list[AnyEvent], cuts: list[int], reopen: bool, limit: int, lag: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(projection, "MAX_LAG_EVENTS", lag)
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
        record, pending = _recorded(log)
        point = await store.resume_point("s1")
        assert point is not None
        assert (point.record, point.pending) == (record, pending)
        with pytest.raises(StoreConflict):
            await store.append(step(done, *log[:1]))
        await store.close()


async def test_an_entry_whose_name_was_taken_is_left_alone_after_opening_again(
    open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "MAX_LAG_EVENTS", 1)
    log: list[AnyEvent] = [opened("a"), text("old", "a"), opened("a"), text("new", "a"), EntryClosed("a")]
    log += [text("too late", "a"), opened("a"), text("newest", "a")]
    for seq, event in enumerate(log, 1):
        store = await open_store()
        await store.append(step(seq, event))
        assert (await store.page("s1")).entries == encoded(folded(log[:seq]))
        await store.close()


async def _all_pages(store: SqliteStore, size: int) -> list[bytes]:
    page = await store.page("s1", size)
    entries = page.entries
    while page.before is not None:
        page = await store.page("s1", size, page.before)
        entries = page.entries + entries
    return entries


def _recorded(log: list[AnyEvent]) -> tuple[SessionRecord, Pending]:
    session = SessionFold(SessionRecord("s1"), Pending())
    for seq, event in enumerate(log, 1):
        session.apply(Logged(seq, AT, event))
    return session.record, session.pending
