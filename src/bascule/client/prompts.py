"""The client's calls for the prompt library."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import json

from bascule.api.prompts import FilesOutcome, PromptList, PromptShown, PromptView

Ask = Callable[[str, dict[str, Any]], Awaitable[bytes]]


class ClientPrompts:
    """Made by `Client.prompts`. Raises as its calls do."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def all(self, words: str = "") -> list[PromptView]:
        """The newest first; with words, those that have them, by title before text."""
        return json.decode(await self._ask("prompts:list", {"q": words}), type=PromptList).prompts

    async def show(self, prompt_id: str) -> PromptShown:
        return json.decode(await self._ask("prompts:show", {"promptId": prompt_id}), type=PromptShown)

    async def import_files(self, folder: str, *, shared: bool = True) -> FilesOutcome:
        fields = {"folder": folder, "shared": shared}
        return json.decode(await self._ask("prompts:import", fields), type=FilesOutcome)

    async def export_files(self, folder: str) -> FilesOutcome:
        return json.decode(await self._ask("prompts:export", {"folder": folder}), type=FilesOutcome)
