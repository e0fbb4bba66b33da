"""A machine with sessions that were begun outside Bascule."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.daemon.homes import (
    shipped_places,
)
from tests.daemon.running_daemon import RunningDaemon, running_daemon
from tests.daemon.scripted import MINI

from bascule.link.found import ListFound

AGENTS = ("claude-code", "codex", "gemini", "copilot", "opencode")


@asynccontextmanager
async def machine(folder: Path) -> AsyncIterator[RunningDaemon]:
    scripts = {name: [sys.executable, str(MINI)] for name in AGENTS}
    async with running_daemon(folder, scripts=scripts, histories=shipped_places()) as made:
        yield made


async def listed(made: RunningDaemon) -> list[dict[str, Any]]:
    """The list after a whole look, whatever was looked at before."""
    made.host._parts.found._looked_at = float("-inf")
    answer = await made.ask(ListFound(wait=True))
    assert not answer["looking"]["running"]
    return answer["sessions"]


async def by_agent(made: RunningDaemon) -> dict[str, dict[str, Any]]:
    return {one["agent"]: one for one in await listed(made)}
