"""The lifelike hub with a second machine: the same folder on both, other agents, a state that a test sets."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from tests.hub.running_hub import RunningHub
from tests.web.lantern import LANTERN, LanternDevice, begin, lantern, said, tell
from tests.web.lantern_machine import ago

from bascule.api.machine_answers import DeviceStatus
from bascule.link.found import FoundList, ListFound, Looking
from bascule.link.frames import DeviceState
from bascule.link.machine import AgentInfo, ListAgents
from bascule.model.events import AnyEvent, PromptSent, SessionStarted

TOWER, LAPTOP = "device-1", "device-2"
LAPTOP_AGENTS = (
    AgentInfo("claude-code", "Claude Code", True, "2.0.9", "/usr/local/bin/claude", models=("opus",)),
    AgentInfo("opencode", "OpenCode", True, "0.9.1", "/usr/local/bin/opencode"),
)
ROOTS = ("/srv/code", "/srv")


STATE = DeviceState(roots=ROOTS, running=1, starts_by_itself=True)


class LaptopDevice(LanternDevice):
    """Has agents of its own, and nothing that was begun outside."""

    def connect(self, agents: tuple[AgentInfo, ...] = LAPTOP_AGENTS, **more: Any) -> None:
        super().connect(agents, state=STATE, **more)

    async def _carry_out(self, command: Any, by: str) -> object:
        match command:
            case ListAgents():
                return {"agents": LAPTOP_AGENTS}
            case ListFound():
                return FoundList([], 0, Looking(False, 0, 0))
            case _:
                return await super()._carry_out(command, by)


class Machines:
    """A hub with two machines, `tower` (on which it runs) and `laptop`."""

    def __init__(self, hub: RunningHub) -> None:
        self.hub = hub
        self.board = hub.services.switchboard
        self.board.this = TOWER
        self._shown: dict[str, dict[str, Any]] = {}
        self._devices: Callable[[], list[DeviceStatus]] = self.board.devices
        self.board.devices = self._all
        self.laptop: LaptopDevice
        self.connect()

    @property
    def token(self) -> str:
        return self.hub.tokens["Mira"]

    def connect(self) -> None:
        """The laptop is there, for the first time or again."""
        self._shown.pop(LAPTOP, None)
        self.laptop = LaptopDevice(self.hub.store, self.board, LAPTOP, "laptop")

    def cut(self, heard_ago: float = 0.0) -> None:
        """The laptop is not connected any more."""
        self._shown[LAPTOP] = {"last_heard": ago(heard_ago)}
        self.laptop.line.closed()

    def show(self, device: str, **fields: Any) -> None:
        """What the hub says of a machine from now on."""
        self._shown[device] = fields
        self.hub.services.push({"type": "agent:status", "devices": self._all()})

    def _all(self) -> list[DeviceStatus]:
        return [replace(one, **self._shown.get(one.device, {})) for one in self._devices()]


def on_laptop(title: str, cwd: str = LANTERN) -> list[AnyEvent]:
    _, *rest = begin(cwd, title)
    return [SessionStarted("claude-code", "stream_json", cwd, "Mira", LAPTOP, model="opus"), *rest]


@contextlib.asynccontextmanager
async def two_machines(folder: Path) -> AsyncGenerator[Machines]:
    async with lantern(folder) as hub:
        machines = Machines(hub)
        await hub.services.projects.add(LAPTOP, LANTERN, "lantern", "Mira")
        events = [*on_laptop("Port the parser"), PromptSent("p1", "Port it", "Mira")]
        await tell(hub.store, "parser", [*events, *said("m1", "The grammar is half done.")], 60)
        yield machines
