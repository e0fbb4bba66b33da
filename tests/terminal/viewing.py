"""A headless viewer for tests: it keeps every byte by its offset, and waits for what should come."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from tests.live import LiveServer
from tests.waiting import PATIENCE

from bascule.client.address import Address, Unreachable
from bascule.client.terminal import Piece, Said, TerminalLine


class Viewer:
    def __init__(self, line: TerminalLine, *, acks: bool = False) -> None:
        self.line = line
        self.acks = acks
        self.data = bytearray()
        self.first: int | None = None
        self.next = 0
        self.said: list[Said] = []
        self.closed = self.leaving = False
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._read(), name="viewer")

    async def _read(self) -> None:
        async for one in self.line:
            if isinstance(one, Piece):
                if self.first is None:
                    self.first = self.next = one.offset
                assert one.offset == self.next, f"a gap or a repeat: {one.offset} after {self.next}"
                self.data += one.data
                self.next += len(one.data)
                if self.acks and not self.leaving:
                    await self._ack()
            else:
                self.said.append(one)
                if one.type == "skipped":
                    self.next = one.to
            self._news.set()
        self.closed = True
        self._news.set()

    async def _ack(self) -> None:
        try:
            await self.line.ack(self.next)
        except Unreachable:
            if not self.leaving:
                raise

    async def until(self, wanted: Callable[["Viewer"], Any], seconds: float = PATIENCE) -> Any:
        """Wait until `wanted` gives something true, and give it."""
        try:
            async with asyncio.timeout(seconds):
                while not (found := wanted(self)):
                    if self.closed:
                        raise AssertionError(
                            f"closed while waiting: {self.said} {bytes(self.data[-2000:])!r}"
                        )
                    self._news.clear()
                    await self._news.wait()
                return found
        except TimeoutError:
            raise AssertionError(f"nothing came: {self.said[-5:]} {bytes(self.data[-2000:])!r}") from None

    async def shows(self, text: bytes, *, after: int = 0, times: int = 1) -> None:
        await self.until(lambda one: one.data[after:].count(text) >= times)

    async def hears(self, kind: str, *, times: int = 1) -> Said:
        return (await self.until(lambda one: [s for s in one.said if s.type == kind][times - 1 :]))[0]

    async def over(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await asyncio.shield(self._task)

    async def type(self, text: str | bytes) -> None:
        await self.line.keys(text.encode() if isinstance(text, str) else text)

    async def leave(self) -> None:
        self.leaving = True
        await self.line.__aexit__(None, None, None)
        await self._task


@contextlib.asynccontextmanager
async def viewing(
    server: LiveServer,
    session: str,
    *,
    token: str | None = None,
    acks: bool = False,
    begun: bool = True,
    **query: Any,
) -> AsyncIterator[Viewer]:
    address = Address(server.url, token or server.token)
    viewer = Viewer(await TerminalLine.open(address, session, **query), acks=acks)
    try:
        if begun:
            await viewer.hears("begin")
        yield viewer
    finally:
        await viewer.leave()


async def terminal(server: LiveServer, agent: str = "shell", **body: Any) -> str:
    """Start a terminal and give its session's id."""
    command = {"agent": agent, "cwd": str(server.work), "driver": "terminal", **body}
    answer = await server.http.post("/api/sessions", json=command)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


async def grant(server: LiveServer, role: str) -> str:
    answer = await server.post("/api/grants", name=f"a {role}", role=role)
    assert answer.status_code == 200, answer.text
    return answer.json()["token"]
