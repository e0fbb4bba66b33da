"""Two hub nodes on one PostgreSQL; one reaches it through a relay that can keep notifications from it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from tests.live import LIMITS
from tests.machines.machines import Hub, Machine
from tests.machines.relay import Passage, Relay, relay
from tests.store.postgres_server import Server
from tests.waiting import PATIENCE

BUS = b"application_name\0bascule bus\0"  # in the first message of a node's connection that listens
NOTIFICATION = b"A"  # the kind of PostgreSQL's message


class Notices:
    """What passes of PostgreSQL's messages: all of them, but for notifications while these are swallowed."""

    def __init__(self) -> None:
        self.are_swallowed = False
        self.swallowed = 0

    def sieve(self) -> "_Sieve":
        return _Sieve(self)


class _Sieve:
    def __init__(self, notices: Notices) -> None:
        self._notices, self._rest = notices, b""

    def __call__(self, data: bytes) -> bytes:
        self._rest += data
        passed: list[bytes] = []
        while len(self._rest) >= 5:
            size = 1 + int.from_bytes(self._rest[1:5], "big")
            if len(self._rest) < size:
                break
            message, self._rest = self._rest[:size], self._rest[size:]
            if message[:1] == NOTIFICATION and self._notices.are_swallowed:
                self._notices.swallowed += 1
            else:
                passed.append(message)
        return b"".join(passed)


class Pair(NamedTuple):
    """`deaf` is the node behind the relay `wire`; the laptop reaches either of them by `line`."""

    hearing: Hub
    deaf: Hub
    laptop: Machine
    line: Relay
    wire: Relay
    notices: Notices

    async def attach(self, node: Hub) -> int:
        """The laptop connects to this node anew, as if it had never been cut off; its epoch there."""
        known = [(await node.devices())["d-laptop"]["epoch"] for node in (self.hearing, self.deaf)]
        self.line.target = node.url
        await self.laptop.join(self.hearing, self.line.url)
        epoch = await self.newer(max(known))
        async with asyncio.timeout(PATIENCE):
            while sum(not one.is_half_open for one in self.line.passages) > 1:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        return epoch

    async def newer(self, epoch: int) -> int:
        """Wait until both nodes know a newer connection of the laptop than this one; its epoch."""
        found = epoch
        for node in (self.hearing, self.deaf):
            async with asyncio.timeout(PATIENCE):
                while True:
                    status = (await node.devices())["d-laptop"]
                    if status["online"] and status["epoch"] > epoch:
                        found = status["epoch"]
                        break
                    await asyncio.sleep(0.02)
        return found


@contextlib.asynccontextmanager
async def running_pair(folder: Path, postgres: Server) -> AsyncIterator[Pair]:
    store = await asyncio.to_thread(postgres.new_database)
    async with contextlib.AsyncExitStack() as closing:
        line, wire = [await closing.enter_async_context(relay()) for _ in range(2)]
        notices = Notices()
        wire.sieves = notices.sieve
        nodes: list[Hub] = []
        for name, url in (("h", store), ("d", through(wire, store))):
            (folder / name).mkdir(mode=0o700)
            config = f'allowed_hosts = ["{line.host}"]\n{LIMITS}'
            node = Hub(folder / name, config=config, env={"BASCULE_STORE": url})
            nodes.append(await closing.enter_async_context(node))
        hearing, deaf = nodes
        deaf.token = hearing.token
        line.target = hearing.url
        (folder / "l").mkdir(mode=0o700)
        laptop = Machine(folder / "l", "d-laptop")
        await laptop.join(hearing, line.url)
        await closing.enter_async_context(laptop)
        for node in nodes:
            await node.until_device("d-laptop", online=True)
        yield Pair(hearing, deaf, laptop, line, wire, notices)


def through(wire: Relay, store: str) -> str:
    """The same database by TCP, through the relay, without TLS: it has to understand what passes."""
    parts = urlsplit(store)
    given = {name: values[0] for name, values in parse_qs(parts.query).items()}
    folder = given.pop("host", "")
    port = int(given.pop("port", parts.port or 5432))
    wire.target = f"{folder}/.s.PGSQL.{port}" if folder else f"tcp://{parts.hostname}:{port}"
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    query = urlencode({**given, "sslmode": "disable"})
    return urlunsplit(parts._replace(netloc=f"{user}{wire.host}", query=query))


async def until_heard(passage: Passage, words: bytes) -> None:
    """Wait until the far side of a connection that is half open has said this."""
    async with asyncio.timeout(PATIENCE):
        while words not in passage.heard:  # noqa: ASYNC110 - the relay reads it
            await asyncio.sleep(0.02)
