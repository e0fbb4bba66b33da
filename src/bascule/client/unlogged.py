"""A server's processes that are not in its log, from Python."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import json

from bascule.client import replies

Ask = Callable[[str, dict[str, Any]], Awaitable[bytes]]


class ClientUnlogged:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def list(self) -> "list[replies.Process]":
        return json.decode(await self._ask("unlogged:list", {}), type=replies.Processes).processes

    async def take_up(self, name: str) -> "list[str]":
        """Begin a log for it from what was kept of its output; the sessions that were made."""
        answer = await self._ask("unlogged:take-up", {"name": name})
        return json.decode(answer, type=replies.TakenUp).session_ids

    async def end(self, name: str) -> str:
        """End it; the folder that holds what was kept of its output."""
        answer = await self._ask("unlogged:end", {"name": name})
        return json.decode(answer, type=replies.PutAside).folder
