"""How long another session takes to answer, alone and while something heavy happens."""

import asyncio
import time
from collections.abc import Awaitable
from statistics import median
from typing import TypeVar

from tests.live import LiveServer
from tests.waiting import stretched

from bascule.model.events import TurnEnded

T = TypeVar("T")


class Pulse:
    """A session of its own that answers at once, asked again and again."""

    def __init__(self, server: LiveServer, session: str) -> None:
        self._server, self._session, self._seen = server, session, 0

    @classmethod
    async def of(cls, server: LiveServer) -> "Pulse":
        pulse = cls(server, await server.create(agent="well-behaved"))
        await pulse.beat()
        return pulse

    async def beat(self) -> float:
        began = time.monotonic()
        await self._server.send(self._session, "hello")
        row = await self._server.wait_for(self._session, TurnEnded, self._seen)
        self._seen = row.seq
        return time.monotonic() - began

    async def during(self, work: Awaitable[T]) -> tuple[T, list[float]]:
        """What came of the work, and the beats while it was done: some at least, however short it was."""
        task = asyncio.ensure_future(work)
        beats: list[float] = []
        while not task.done() or len(beats) < 10:
            beats.append(await self.beat())
        return await task, beats

    async def undisturbed_by(self, work: Awaitable[T]) -> T:
        """The work, if others answered meanwhile about as they do alone (this machine may be busy)."""
        alone = median([await self.beat() for _ in range(5)])
        with stretched() as seen:
            result, beats = await self.during(work)
        busy = max(seen)
        assert median(beats) < 20 * alone + 0.5 * busy, (busy, alone, beats)
        assert max(beats) < 50 * alone + 10 * busy, (busy, alone, beats)
        return result
