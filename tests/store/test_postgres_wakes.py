"""Other nodes are woken by the commit itself, on a real server: before anybody who watches at this one."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest
from tests.store.conftest import Clock
from tests.store.copies import BEGUN, LAPTOP, as_rows
from tests.store.logs import text
from tests.store.postgres_server import reason_to_skip
from tests.store.postgres_store import open_at
from tests.waiting import PATIENCE

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(reason_to_skip() is not None, reason=reason_to_skip() or ""),
]


@pytest.fixture
async def heard(url: str) -> AsyncIterator["asyncio.Queue[dict[str, object]]"]:
    """Every wake on the channel, as another node's connection gets it."""
    import asyncpg

    wakes: asyncio.Queue[dict[str, object]] = asyncio.Queue()
    server = await asyncpg.connect(url)
    await server.add_listener("bascule", lambda *news: wakes.put_nowait(msgspec.json.decode(news[3])))
    yield wakes
    await server.close()


@pytest.mark.row("X11")
async def test_a_commit_wakes_the_other_nodes_with_the_last_row_of_each_log(
    url: str, clock: Clock, heard: "asyncio.Queue[dict[str, object]]"
) -> None:
    store = await open_at(url, clock)
    try:
        await store.take_in(LAPTOP, "s1", 1, as_rows([BEGUN, text("a")], 1))
        async with asyncio.timeout(PATIENCE):
            assert await heard.get() == {"node": store.shared.node, "sessions": {"s1": 2}}
        assert store.announced("s1", 2)
        assert not store.announced("s1", 3)
        assert not store.announced("s2", 1)
    finally:
        await store.close()


@pytest.mark.row("X11")
async def test_commits_that_follow_at_once_are_left_to_the_bus_which_gathers_them(
    url: str, clock: Clock, heard: "asyncio.Queue[dict[str, object]]", monkeypatch: pytest.MonkeyPatch
) -> None:
    from bascule.store.postgres import engine

    monkeypatch.setattr(engine, "FLUSH_SECONDS", 3600.0)
    store = await open_at(url, clock)
    try:
        await store.take_in(LAPTOP, "s1", 1, as_rows([BEGUN], 1))
        await store.take_in(LAPTOP, "s1", 2, as_rows([text("a")], 2))
        monkeypatch.setattr(engine, "FLUSH_SECONDS", 0.0)
        await store.take_in(LAPTOP, "s1", 3, as_rows([text("b")], 3))
        async with asyncio.timeout(PATIENCE):
            assert [(await heard.get())["sessions"] for _ in range(2)] == [{"s1": 1}, {"s1": 3}]
    finally:
        await store.close()


@pytest.mark.row("X11")
async def test_what_was_not_committed_wakes_nobody(
    url: str, clock: Clock, heard: "asyncio.Queue[dict[str, object]]", monkeypatch: pytest.MonkeyPatch
) -> None:
    from bascule.store.postgres import engine

    monkeypatch.setattr(engine, "FLUSH_SECONDS", 0.0)
    store = await open_at(url, clock)
    try:
        await store.take_in(LAPTOP, "s1", 1, as_rows([BEGUN], 1))
        async with asyncio.timeout(PATIENCE):
            await heard.get()
        await store.query(lambda connection: connection.execute("SELECT 1").fetchall())
        await store.transact(lambda transaction: None)
        await store.take_in(LAPTOP, "s2", 1, as_rows([BEGUN], 1))
        async with asyncio.timeout(PATIENCE):
            assert (await heard.get())["sessions"] == {"s2": 1}
        assert heard.empty()
    finally:
        await store.close()
