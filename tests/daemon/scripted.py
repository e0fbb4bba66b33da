"""Agents for tests of the host: small scripts, started like any other agent."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from bascule.daemon.directories import check_directory
from bascule.drivers.acp.state import Joining
from bascule.drivers.base import Driver
from bascule.drivers.stream_json import StreamJsonDriver
from bascule.link.frames import AgentInfo
from bascule.model.events import SessionStarted
from bascule.session.agent import SpawnPlan

MINI = Path(__file__).with_name("mini_agent.py")


class Scripted:
    """Starts scripts: the agent's name is the script's, `mini` unless said otherwise."""

    def __init__(self, root: Path, scripts: dict[str, Sequence[str]] | None = None) -> None:
        self.roots = (str(root),)
        self.env = {"PATH": os.environ["PATH"]}
        self.argv: dict[str, Sequence[str]] = {"mini": [sys.executable, str(MINI)], **(scripts or {})}

    async def agents(self, *, refresh: bool = False) -> tuple[AgentInfo, ...]:
        return self.at_first_glance()

    def at_first_glance(self) -> tuple[AgentInfo, ...]:
        return tuple(AgentInfo(name, name.title(), True) for name in self.argv)

    async def complete(self, wanted: SessionStarted, cwd: str) -> SessionStarted:
        return replace(wanted, driver="stream_json", cwd=cwd)

    def plan(self, started: SessionStarted, spawn_id: str) -> SpawnPlan:
        cwd, cwd_stat = check_directory(started.cwd, self.roots)
        return SpawnPlan(spawn_id, tuple(self.argv[started.agent]), dict(self.env), cwd, cwd_stat)

    def title(self, agent: str) -> str:
        return agent.title()

    def rest_seconds(self, agent: str) -> int:
        return 0

    def driver(
        self,
        started: SessionStarted,
        state: bytes | None = None,
        *,
        history: bool = False,
        joining: Joining | None = None,
    ) -> Driver:
        return StreamJsonDriver.restore(state) if state else StreamJsonDriver()
