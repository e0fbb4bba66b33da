"""A follower reads the log when it must, and only then."""

import asyncio

import pytest
from tests.waiting import PATIENCE

from bascule.model.records import SessionRecord
from bascule.store.base import Committed, Row
from bascule.store.follow import MAX_LIVE_ROWS, Followers

pytestmark = pytest.mark.anyio


class Log:
    """A log in memory that counts how often it is read, and can commit while it is being read."""

    def __init__(self, count: int) -> None:
        self.rows = [Row(seq, b"x") for seq in range(1, count + 1)]
        self.reads = 0
        self.during_read = 0
        self.followers = Followers(self.read_some)

    async def read_some(self, session_id: str, after: int) -> tuple[list[Row], bool]:
        self.reads += 1
        rows = self.rows[after : after + 100]
        more = len(self.rows) > after + 100
        if self.during_read:
            self.commit(self.during_read)
            self.during_read = 0
        await asyncio.sleep(0)
        return rows, more

    def commit(self, count: int) -> None:
        head = len(self.rows)
        rows = [Row(seq, b"x") for seq in range(head + 1, head + count + 1)]
        self.rows += rows
        self.followers.committed(Committed(SessionRecord("s1"), rows))


async def _next(stream: object) -> list[int]:
    async with asyncio.timeout(PATIENCE):
        return [row.seq for row in await anext(stream)]  # type: ignore[call-overload]


async def test_live_rows_come_without_reading() -> None:
    log = Log(3)
    stream = log.followers.follow("s1", 0)
    assert await _next(stream) == [1, 2, 3]
    for seq in range(4, 50):
        log.commit(1)
        assert await _next(stream) == [seq]
    assert log.reads == 1
    await stream.aclose()


async def test_what_is_committed_during_the_read_comes_once_and_without_another_read() -> None:
    log = Log(3)
    log.during_read = 2
    stream = log.followers.follow("s1", 0)
    assert await _next(stream) == [1, 2, 3]
    assert await _next(stream) == [4, 5]
    assert log.reads == 1
    await stream.aclose()


async def test_rows_that_were_read_and_heard_come_once() -> None:
    log = Log(150)
    log.during_read = 20
    stream = log.followers.follow("s1", 0)
    assert await _next(stream) == list(range(1, 101))
    assert await _next(stream) == list(range(101, 171))
    log.commit(1)
    assert await _next(stream) == [171]
    await stream.aclose()


async def test_a_follower_that_fell_behind_reads_the_log_again() -> None:
    log = Log(1)
    stream = log.followers.follow("s1", 0)
    assert await _next(stream) == [1]
    waiting = asyncio.ensure_future(_next(stream))
    await asyncio.sleep(0)
    log.commit(1)
    assert await waiting == [2]
    log.commit(MAX_LIVE_ROWS + 1)
    assert await _next(stream) == list(range(3, 103))
    assert log.reads == 2
    await stream.aclose()


async def test_a_gap_in_what_is_heard_is_filled_from_the_log() -> None:
    log = Log(1)
    stream = log.followers.follow("s1", 0)
    assert await _next(stream) == [1]
    waiting = asyncio.ensure_future(_next(stream))
    await asyncio.sleep(0)
    log.rows.append(Row(2, b"never heard"))
    log.commit(1)
    assert await waiting == [2, 3]
    await stream.aclose()


async def test_following_from_a_number_that_is_not_there_yet_waits_for_the_next() -> None:
    log = Log(1)
    stream = log.followers.follow("s1", 3)
    waiting = asyncio.ensure_future(_next(stream))
    await asyncio.sleep(0)
    log.commit(2)
    log.commit(2)
    assert await waiting == [4, 5]
    await stream.aclose()
