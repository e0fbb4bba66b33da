"""A relay between a machine and its hub, or a hub and its database: it can cut or hold up connections."""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from tests.waiting import PATIENCE

BETWEEN_CUTS = (3_000, 60_000)  # bytes that pass one way before a cut by the dice
Sieve = Callable[[bytes], bytes]  # gives what passes of the bytes that come in order


class Passage:
    """One connection through the relay: `near` is the end of who dialled, `far` that of who was reached."""

    def __init__(self, near: asyncio.StreamWriter) -> None:
        self.near = near
        self.far: asyncio.StreamWriter | None = None
        self.opening = b""  # what was sent first
        self.heard = b""  # from the far side, while it is half open
        self.far_ended = asyncio.Event()
        self.passing, self.answers_pass = asyncio.Event(), asyncio.Event()
        self.passing.set()
        self.answers_pass.set()
        self.is_half_open = False
        self.sieve: Sieve | None = None  # for what comes from the far side

    def hold_up(self) -> None:
        self.passing.clear()
        self.answers_pass.clear()

    def leave_half_open(self) -> None:
        """One that is held up ends for who dialled; who was reached does not hear of it."""
        self.is_half_open = True
        self.answers_pass.set()
        self.near.transport.abort()

    def revive(self) -> None:
        """What was sent passes after all."""
        self.passing.set()
        self.answers_pass.set()


class Relay:
    """`target` is the hub's address, `host` the relay's own, by which the hub must let itself be called.

    A target that is a path is a unix socket.
    """

    def __init__(self) -> None:
        self.target = ""
        self.host = ""
        self.dice: random.Random | None = None  # cuts each connection somewhere in the middle of a message
        self.cuts = 0
        self._cut_by_dice = asyncio.Event()
        self.bytes_per_second = 0  # each way; 0 is as fast as it goes
        self.passed = 0  # bytes, both ways
        self.arrived: list[float] = []  # when each connection reached the hub
        self.sieves: Callable[[], Sieve] | None = None  # one for each connection
        self.holds_up = b""  # nothing passes of new connections that begin with this
        self.passages: set[Passage] = set()
        self._joining: set[asyncio.Task[None]] = set()
        self._passing = asyncio.Event()
        self._answers_pass = asyncio.Event()
        self.mend()

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def cut(self) -> None:
        """Every connection is gone at once. New ones are taken and get nowhere until `mend`."""
        self._passing.clear()
        for passage in self.passages:
            passage.near.transport.abort()
            if passage.far is not None:
                passage.far.transport.abort()

    async def until_cut(self) -> None:
        """Until the dice have cut another connection."""
        self._cut_by_dice.clear()
        async with asyncio.timeout(PATIENCE):
            await self._cut_by_dice.wait()

    def blackhole(self) -> None:
        """Nothing passes either way, and nobody hears of it, until `mend`. What is sent meanwhile waits."""
        self._passing.clear()

    def hold_up(self, opening: bytes = b"") -> list[Passage]:
        """A blackhole for those that are open now and began with this; connections that follow pass."""
        held = [one for one in self.began_with(opening) if not one.is_half_open]
        for passage in held:
            passage.hold_up()
        return held

    def began_with(self, opening: bytes) -> list[Passage]:
        return [one for one in self.passages if opening in one.opening]

    def hold_answers(self) -> None:
        """What the machine sends waits in the relay, until `mend` or for ever when the relay is `cut`."""
        self._answers_pass.clear()

    def mend(self) -> None:
        self._passing.set()
        self._answers_pass.set()
        for passage in self.passages:
            passage.revive()

    async def close(self) -> None:
        """Cut everything, and wait until it has ended."""
        self.cut()
        self.mend()
        if self._joining:
            await asyncio.wait(self._joining, timeout=PATIENCE)

    async def _upward(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, way: Passage) -> None:
        async def pass_on(data: bytes) -> None:
            if not way.opening:
                way.opening = data
                if self.holds_up and self.holds_up in data:
                    way.hold_up()
            await way.passing.wait()
            target.write(data)
            await target.drain()

        await self._copy(source, self._answers_pass, pass_on)
        if way.is_half_open:
            await way.far_ended.wait()
        raise ConnectionResetError  # one side ended: so does the other

    async def _downward(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, way: Passage
    ) -> None:
        async def pass_on(data: bytes) -> None:
            await way.answers_pass.wait()
            if way.is_half_open:
                way.heard += data
                return
            target.write(way.sieve(data) if way.sieve is not None else data)
            await target.drain()

        try:
            await self._copy(source, self._passing, pass_on)
        finally:
            way.far_ended.set()
        raise ConnectionResetError

    async def _copy(
        self, source: asyncio.StreamReader, gate: asyncio.Event, pass_on: Callable[[bytes], Awaitable[None]]
    ) -> None:
        passed, most = 0, self.dice.randrange(*BETWEEN_CUTS) if self.dice else None
        while data := await source.read(4096 if self.bytes_per_second else 65536):
            await self._passing.wait()
            await gate.wait()
            if self.bytes_per_second:
                await asyncio.sleep(len(data) / self.bytes_per_second)
            self.passed += len(data)
            passed += len(data)
            if most is not None and passed > most and self.dice is not None:
                await pass_on(data[: self.dice.randrange(len(data))])
                self.cuts += 1
                self._cut_by_dice.set()
                return
            await pass_on(data)

    async def join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._joining.add(task)
        task.add_done_callback(self._joining.discard)
        way = Passage(writer)
        way.sieve = self.sieves() if self.sieves is not None else None
        # Of a transport that is closed already uvloop says RuntimeError.
        with contextlib.suppress(OSError, RuntimeError):
            try:
                await self._passing.wait()
                there, way.far = await self._reach()
                self.arrived.append(time.monotonic())
                self.passages.add(way)
                await asyncio.gather(self._upward(reader, way.far, way), self._downward(there, writer, way))
            finally:
                self.passages.discard(way)
                writer.transport.abort()
                if way.far is not None:
                    way.far.transport.abort()

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.target.startswith("/"):
            return await asyncio.open_unix_connection(self.target)
        target = urlsplit(self.target)
        return await asyncio.open_connection(target.hostname, target.port)


@asynccontextmanager
async def relay() -> AsyncGenerator[Relay]:
    made = Relay()
    server = await asyncio.start_server(made.join, "127.0.0.1", 0)
    made.host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        made.mend()
        server.close()
        await made.close()
