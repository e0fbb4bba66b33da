"""From a wish to a process: which binary, which arguments, which environment, which driver."""

from typing import Protocol

from bascule.drivers.base import Driver
from bascule.link.frames import AgentInfo
from bascule.model.events import SessionStarted
from bascule.session.agent import SpawnPlan


class Launching(Protocol):
    """What the host needs to know about agents."""

    @property
    def roots(self) -> tuple[str, ...]:
        """Folders that sessions may run in or below."""
        ...

    async def agents(self, *, refresh: bool = False) -> tuple[AgentInfo, ...]: ...

    async def complete(self, wanted: SessionStarted, cwd: str) -> SessionStarted:
        """The start as it will be logged: driver named, folder resolved, everything checked."""
        ...

    def plan(self, started: SessionStarted, spawn_id: str) -> SpawnPlan: ...

    def driver(self, started: SessionStarted, state: bytes | None = None) -> Driver: ...
