"""The client's calls for unlogged processes."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import json

from bascule.link.unlogged import PutAside, TakenUp, UnloggedList, UnloggedProcess

Ask = Callable[[str, dict[str, Any]], Awaitable[bytes]]


class ClientUnlogged:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def list(self) -> "list[UnloggedProcess]":
        return list(json.decode(await self._ask("unlogged:list", {}), type=UnloggedList).processes)

    async def take_up(self, name: str) -> "list[str]":
        """Begin a log for it from what was kept of its output; the sessions that were made."""
        answer = await self._ask("unlogged:take-up", {"name": name})
        return list(json.decode(answer, type=TakenUp).session_ids)

    async def end(self, name: str) -> str:
        """End it; the folder that holds what was kept of its output."""
        answer = await self._ask("unlogged:end", {"name": name})
        return json.decode(answer, type=PutAside).folder
