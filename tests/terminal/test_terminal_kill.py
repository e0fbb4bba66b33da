"""The server is killed while a program writes: the viewer's bytes are complete and in order."""

import asyncio
import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.live import SPLIT, LiveServer
from tests.terminal.viewing import terminal, viewing
from tests.waiting import PATIENCE

from bascule.client.address import Address, Unreachable
from bascule.client.terminal import Piece, TerminalLine
from bascule.model.errors import Refused

pytestmark = pytest.mark.anyio

LAST = int(os.environ.get("TERMINAL_SEQ", "1000000"))
KILLS = 3


@contextlib.contextmanager
def back_soon() -> Iterator[None]:
    """In split mode the hub may be there again before the machine is."""
    try:
        yield
    except Refused as error:
        if not SPLIT or error.refusal().code != "DEVICE_OFFLINE":
            raise


class Faithful:
    """A viewer that reads on by offset, whatever happens to its connection."""

    def __init__(self, server: LiveServer, session: str) -> None:
        self.server, self.session = server, session
        self.data = bytearray()
        self.news = asyncio.Event()
        self.task = asyncio.create_task(self._run(), name=f"faithful viewer of {session}")
        self.task.add_done_callback(lambda _: self.news.set())

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(Unreachable), back_soon():
                address = Address(self.server.url, self.server.token)
                line = await TerminalLine.open(address, self.session, after=len(self.data), lag=0)
                async with line:
                    async for one in line:
                        if isinstance(one, Piece):
                            assert one.offset == len(self.data), (one.offset, len(self.data))
                            self.data += one.data
                            self.news.set()
                        else:
                            assert one.type != "skipped", one
            await asyncio.sleep(0.05)

    async def reaches(self, size: int) -> None:
        while len(self.data) < size:
            assert not self.task.done(), self.task
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), PATIENCE)


@pytest.mark.row("X1", "P7")
async def test_bytes_are_complete_and_in_order_over_kills_of_the_server(short_dir: Path):
    async with LiveServer(short_dir, env={"SHELL": "/bin/sh"}) as server:
        session = await terminal(server)
        async with viewing(server, session) as viewer:
            await viewer.type("PS1=; stty -echo -onlcr; echo rea''dy\r")
            await viewer.shows(b"ready\n")
            start = bytes(viewer.data).rindex(b"ready\n") + 6
        expected = "".join(f"{n}\n" for n in range(1, LAST + 1)).encode()
        faithful = Faithful(server, session)
        await faithful.reaches(start)
        async with viewing(server, session, after=start) as viewer:
            await viewer.type(f"seq 1 {LAST}\r")
            await viewer.until(lambda one: len(one.data) > 10_000)
        for number in range(1, KILLS + 1):
            await faithful.reaches(start + number * len(expected) // (KILLS + 2))
            await server.kill()
            await server.start()
        await faithful.reaches(start + len(expected))
        faithful.task.cancel()
        await asyncio.gather(faithful.task, return_exceptions=True)
        got = bytes(faithful.data[start : start + len(expected)])
        assert hashlib.sha256(got).hexdigest() == hashlib.sha256(expected).hexdigest()
        async with viewing(server, session) as viewer:
            await viewer.type("echo al''ive\r")
            await viewer.shows(b"alive\n")
