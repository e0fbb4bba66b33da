"""Agents for tests of the host: small scripts, started like any other agent."""

import os
import secrets
import sys
from collections.abc import Container, Sequence
from pathlib import Path

from msgspec.structs import replace

from bascule.daemon.files.directories import check_directory
from bascule.drivers.acp.state import Joining
from bascule.drivers.base import Driver, DriverLaunch
from bascule.drivers.codex import CodexDriver
from bascule.drivers.stream_json import StreamJsonDriver
from bascule.drivers.terminal import TerminalDriver
from bascule.launch.agent_start import AgentStart
from bascule.link.machine import AgentInfo
from bascule.model.capability import LEVELS, Capability
from bascule.model.events import SessionStarted
from bascule.model.records import SessionRecord
from bascule.session.agent import SpawnPlan
from bascule.session.reviving import Revival

MINI = Path(__file__).with_name("mini_agent.py")


class Scripted:
    """Starts scripts: the agent's name is the script's, `mini` unless said otherwise."""

    def __init__(self, root: Path, scripts: dict[str, Sequence[str]] | None = None) -> None:
        self.roots = (str(root),)
        self.resumes = True
        self.drivers: dict[str, str] = {}  # of agents that speak something else than stream-json
        self.own: tuple[str, ...] = ()
        self.levels: tuple[Capability, ...] = LEVELS
        self.env = {"PATH": os.environ["PATH"]}
        self.argv: dict[str, Sequence[str]] = {"mini": [sys.executable, str(MINI)], **(scripts or {})}

    def capped(self, level: Capability) -> Capability:
        return level

    def sweep(self, alive: Container[str]) -> None:
        self.alive = alive

    async def agents(self, *, refresh: bool = False) -> tuple[AgentInfo, ...]:
        return self.at_first_glance()

    def at_first_glance(self) -> tuple[AgentInfo, ...]:
        return tuple(AgentInfo(name, name.title(), True) for name in self.argv)

    async def complete(self, wanted: SessionStarted, cwd: str) -> SessionStarted:
        return replace(wanted, driver=self.drivers.get(wanted.agent, "stream_json"), cwd=cwd)

    def plan(self, started: SessionStarted, spawn_id: str) -> SpawnPlan:
        cwd, cwd_stat = check_directory(started.cwd, self.roots, self.own)
        flagged = started.resumed_from and self.resumes and started.driver == "stream_json"
        argv = (*self.argv[started.agent], *([f"--resume={started.resumed_from}"] if flagged else []))
        return SpawnPlan(spawn_id, argv, dict(self.env), cwd, cwd_stat)

    def terminal(self, started: SessionStarted, state: bytes | None = None) -> TerminalDriver:
        driver = TerminalDriver(started.cols or 80, started.rows or 24)
        if state is not None:
            driver.restore(state)
        return driver

    def resuming(self, agent: str, conversation: str, cwd: str) -> AgentStart:
        argv = (*self.argv[agent], f"--resume={conversation}")
        return AgentStart(agent=agent, title=agent.title(), argv=argv)

    def title(self, agent: str) -> str:
        return agent.title()

    def mode(self, agent: str, driver: str, wanted: str, offered: tuple[str, ...]) -> str:
        return wanted

    def asks(self, agent: str, driver: str | None, mode: str) -> bool:
        return mode == "plan"

    def rest_seconds(self, agent: str) -> int:
        return 0

    def revival(self, started: SessionStarted) -> Revival:
        unknown = "no rollout found" if started.driver == "codex" else "No conversation found"
        return Revival(started.agent.title(), self.resumes, unknown)

    def settings_of(self, record: SessionRecord) -> tuple[str | None, str | None]:
        return record.model, record.mode

    def driver(
        self,
        started: SessionStarted,
        state: bytes | None = None,
        *,
        history: bool = False,
        joining: Joining | None = None,
    ) -> Driver:
        if started.driver == "codex":
            launch = DriverLaunch(started.cwd, secrets.token_hex(4), resume=started.resumed_from)
            return CodexDriver.restore(state) if state else CodexDriver(launch)
        return StreamJsonDriver.restore(state) if state else StreamJsonDriver()
