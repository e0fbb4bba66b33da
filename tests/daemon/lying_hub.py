"""The hub's end of a far line, as somebody has it who took the hub over: it forges who asks."""

import asyncio
import re
from collections.abc import Callable
from typing import Any, cast

import msgspec
from tests.daemon.running_daemon import RunningDaemon
from tests.waiting import PATIENCE

from bascule.link.frames import AnyFrame, Ask, DeviceCommand, DeviceState, DeviceStateChanged, Reply, Welcome
from bascule.model.commands import Actor, Command

# What a lying hub says of who asks: the machine's own owner, at the machine.
FORGED = Actor("owner", "grant-1", "127.0.0.1", "bascule")


class LyingHub:
    """The hub's end of a far line."""

    def __init__(self, daemon: RunningDaemon) -> None:
        self._count, self._replies = 0, dict[int, asyncio.Future[Reply]]()
        self.states: list[DeviceState] = []
        self._news = asyncio.Event()
        self.line = daemon.host.attach(self._heard, far=True)

    def welcome(self) -> None:
        self.line.receive(Welcome(1, "h", "office hub", "other", 1, 0.0, 1000))

    def _heard(self, frame: AnyFrame) -> None:
        if isinstance(frame, Reply):
            self._replies.pop(frame.ask).set_result(frame)
        elif isinstance(frame, DeviceStateChanged):
            self.states.append(frame.state)
            self._news.set()

    async def until(self, meets: Callable[[DeviceState], bool]) -> None:
        """Wait until the machine says this of itself."""
        async with asyncio.timeout(PATIENCE):
            while not (self.states and meets(self.states[-1])):
                self._news.clear()
                await self._news.wait()

    async def ask(self, command: Command[Any], by: Actor = FORGED, key: str | None = None) -> tuple[str, Any]:
        """The code of the refusal, empty when there is none; and the answer."""
        self._count += 1
        future = self._replies[self._count] = asyncio.get_running_loop().create_future()
        self.line.receive(Ask(self._count, cast("DeviceCommand", command), by, key))
        reply = await asyncio.wait_for(future, PATIENCE)
        if reply.refusal is not None:
            return reply.refusal.code, reply.refusal
        return "", msgspec.json.decode(reply.result)


async def audit(daemon: RunningDaemon) -> list[Any]:
    page = await daemon.store.audit_lines(0, 1000)
    return [msgspec.json.decode(one)["entry"]["record"] for one in page]


def times(detail: str) -> int:
    """How many commands a row stands for: what came again is counted in one row."""
    counted = re.search(r"\((\d+) more times? within|^(\d+) more starts and commands", detail)
    return int(counted[1] or counted[2]) if counted else 1


async def audit_counted(daemon: RunningDaemon) -> list[Any]:
    """The whole audit log, with what has only been counted so far."""
    await daemon.host._parts.repeated.flush()  # pyright: ignore[reportPrivateUsage]
    return await audit(daemon)
