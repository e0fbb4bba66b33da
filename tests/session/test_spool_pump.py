"""The spool pump, by itself."""

import asyncio

from tests.waiting import PATIENCE

from bascule.session.spool_pump import SpoolPump


class Spool:
    """`data` is what the process has written so far."""

    def __init__(self, data: bytes = b"", offset: int = 0) -> None:
        self.data = data
        self.taken: list[bytes] = []
        self.waits = asyncio.Event()
        self.pump = SpoolPump(self._read, 4, offset)

    def _read(self, offset: int, limit: int) -> bytes:
        chunk = self.data[offset : offset + limit]
        if not chunk:
            self.waits.set()
        return chunk

    async def take(self, chunk: bytes) -> None:
        self.taken.append(chunk)

    def runs(self) -> "asyncio.Task[None]":
        return asyncio.create_task(self.pump.run(self.take))

    async def until_it_waits(self) -> None:
        self.waits.clear()
        await asyncio.wait_for(self.waits.wait(), PATIENCE)


async def test_it_reads_on_from_its_offset_in_chunks() -> None:
    spool = Spool(b"0123456789", offset=2)
    spool.pump.end_at(10)
    await asyncio.wait_for(spool.runs(), PATIENCE)
    assert spool.taken == [b"2345", b"6789"]
    assert spool.pump.offset == 10


async def test_the_offset_counts_a_chunk_when_it_is_taken() -> None:
    spool = Spool(b"012345")
    seen: list[int] = []

    async def take(chunk: bytes) -> None:
        seen.append(spool.pump.offset)

    spool.pump.end_at(6)
    await asyncio.wait_for(spool.pump.run(take), PATIENCE)
    assert seen == [4, 6]


async def test_what_comes_later_is_read_when_it_is_woken() -> None:
    spool = Spool()
    running = spool.runs()
    await spool.until_it_waits()
    spool.data = b"abc"
    spool.pump.wake()
    await spool.until_it_waits()
    assert spool.taken == [b"abc"]
    spool.pump.end_at(3)
    await asyncio.wait_for(running, PATIENCE)


async def test_an_end_is_not_reached_before_its_last_byte() -> None:
    spool = Spool(b"ab")
    running = spool.runs()
    spool.pump.end_at(4)
    await spool.until_it_waits()
    assert not running.done()
    spool.data = b"abcd"
    spool.pump.wake()
    await asyncio.wait_for(running, PATIENCE)
    assert b"".join(spool.taken) == b"abcd"
