"""A relay between a machine and its hub, whose connections can be cut and held up."""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

BETWEEN_CUTS = (3_000, 60_000)  # bytes that pass one way before a cut by the dice


class Relay:
    """`target` is the hub's address, `host` the relay's own, by which the hub must let itself be called."""

    def __init__(self) -> None:
        self.target = ""
        self.host = ""
        self.dice: random.Random | None = None  # cuts each connection somewhere in the middle of a message
        self.cuts = 0
        self.bytes_per_second = 0  # each way; 0 is as fast as it goes
        self.passed = 0  # bytes, both ways
        self.arrived: list[float] = []  # when each connection reached the hub
        self._passing = asyncio.Event()
        self._answers_pass = asyncio.Event()
        self.mend()
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def cut(self) -> None:
        """Every connection is gone at once. New ones are taken and get nowhere until `mend`."""
        self._passing.clear()
        for writer in self._writers:
            writer.transport.abort()

    def blackhole(self) -> None:
        """Nothing passes either way, and nobody hears of it, until `mend`. What is sent meanwhile waits."""
        self._passing.clear()

    def hold_answers(self) -> None:
        """What the machine sends waits in the relay, until `mend` or for ever when the relay is `cut`."""
        self._answers_pass.clear()

    def mend(self) -> None:
        self._passing.set()
        self._answers_pass.set()

    async def _copy(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, gate: asyncio.Event
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
                self.cuts += 1
                target.write(data[: self.dice.randrange(len(data))])
                break
            target.write(data)
            await target.drain()
        raise ConnectionResetError  # one side ended: so does the other

    async def join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = {writer}
        # Of a transport that is closed already uvloop says RuntimeError.
        with contextlib.suppress(OSError, RuntimeError):
            try:
                await self._passing.wait()
                target = urlsplit(self.target)
                there, back = await asyncio.open_connection(target.hostname, target.port)
                ends.add(back)
                self.arrived.append(time.monotonic())
                self._writers |= ends
                await asyncio.gather(
                    self._copy(reader, back, self._answers_pass), self._copy(there, writer, self._passing)
                )
            finally:
                self._writers -= ends
                for end in ends:
                    end.transport.abort()


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
        made.cut()
