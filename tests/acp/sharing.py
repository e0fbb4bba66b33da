"""A server with the scripted agent, and a socket that remembers what it was pushed."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.acp.test_acp_live import add_agent, events_of
from tests.live import LiveServer
from tests.waiting import PATIENCE
from websockets.asyncio.client import ClientConnection, connect

from bascule.model.events import AgentSpawned, AnyEvent

# A loaded machine starts programs slowly; what is about the limit sets its own.
PATIENT = {"ACP_START_TIMEOUT_MS": "60000", "ACP_PROMPT_TIMEOUT_MS": "60000"}

__all__ = ["PATIENT", "Pushes", "add_agent", "events_of", "pid_of", "pids_of", "pushes", "told"]


class Pushes:
    """A browser's socket: questions with their answers, and everything it was told besides."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.heard: list[dict[str, Any]] = []
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._more = asyncio.Event()
        self._count = 0

    async def listen(self) -> None:
        async for text in self.socket:
            message = json.loads(text)
            waiting = self._answers.pop(message.get("id") or 0, None)
            if waiting is not None:
                waiting.set_result(message)
            else:
                self.heard.append(message)
                self._more.set()

    async def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        self._count += 1
        future = self._answers[self._count] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"id": self._count, "type": kind, **fields}))
        return await asyncio.wait_for(future, PATIENCE)

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while True:
                for message in self.heard:
                    if wanted(message):
                        return message
                self._more.clear()
                await self._more.wait()

    def statuses(self) -> list[str]:
        return [one["status"] for one in self.heard if one["type"] == "agent:status" and "status" in one]

    async def status(self, status: str, times: int = 1) -> None:
        """Until the agent has been in this state so many times."""
        await self.until(lambda _: self.statuses().count(status) >= times)


@asynccontextmanager
async def pushes(server: LiveServer) -> AsyncIterator[Pushes]:
    url = server.url.replace("http", "ws", 1) + "/ws"
    headers = {"authorization": f"Bearer {server.token}"}
    async with connect(
        url, additional_headers=headers, max_size=None, proxy=None, open_timeout=PATIENCE
    ) as socket:
        made = Pushes(socket)
        task = asyncio.create_task(made.listen())
        # Answered only after the socket has been entered among those who are told.
        await made.ask("ping")
        try:
            yield made
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def pids_of(events: list[AnyEvent]) -> list[int]:
    return [one.pid for one in events if isinstance(one, AgentSpawned)]


async def pid_of(server: LiveServer, session: str) -> int:
    """Of the newest process that serves this session."""
    return pids_of(await events_of(server, session))[-1]


def told(log: Path) -> list[dict[str, Any]]:
    """What the agent was told, by all its processes."""
    return [json.loads(line) for line in log.read_text().splitlines()]


async def gone(pid: int) -> None:
    """Until this process has ended."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    loop.add_reader(watch, lambda: over.done() or over.set_result(None))
    try:
        await asyncio.wait_for(over, PATIENCE)
    finally:
        loop.remove_reader(watch)
        os.close(watch)
