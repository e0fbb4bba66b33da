"""The messages between hub and daemon."""

from msgspec import Raw, Struct

from bascule.link.comparisons import ComparisonCommand
from bascule.link.files import FilesCommand
from bascule.link.found import FoundCommand
from bascule.link.git import GitCommand
from bascule.link.machine import AgentInfo, AgentState, MachineCommand
from bascule.link.prompts import PromptFilesCommand
from bascule.link.rules import RulesCommand
from bascule.link.unlogged import UnloggedCommand
from bascule.model.commands import Actor, AnySessionCommand
from bascule.model.errors import Refusal
from bascule.model.events import snake


class Frame(Struct, frozen=True, tag_field="type", tag=snake, omit_defaults=True):
    """The base of every frame."""


# Up: daemon to hub


class DaemonConnected(Frame, frozen=True):
    device: str
    name: str
    version: str
    epoch: int
    agents: tuple[AgentInfo, ...] = ()


class AgentsChanged(Frame, frozen=True):
    agents: tuple[AgentInfo, ...]


class AgentStatus(Frame, frozen=True):
    """An agent's process came up, went away, or is being tried again."""

    agent: str
    status: AgentState
    message: str = ""  # for a person: what happened and what is done about it


class AgentProblem(Frame, frozen=True):
    """What went wrong between a session and its agent, for those who look now; the log has it as well."""

    session_id: str
    refusal: Refusal


class Reply(Frame, frozen=True):
    """The answer to `Ask`: a result or a refusal."""

    ask: int
    result: Raw = Raw(b"{}")
    refusal: Refusal | None = None


# Down: hub to daemon


DeviceCommand = (
    AnySessionCommand
    | MachineCommand
    | FilesCommand
    | GitCommand
    | FoundCommand
    | RulesCommand
    | ComparisonCommand
    | UnloggedCommand
    | PromptFilesCommand
)


class Ask(Frame, frozen=True):
    """A command with its envelope: who asks, and the idempotency key."""

    ask: int
    command: DeviceCommand
    by: Actor
    key: str | None = None


# Both ways


class Ping(Frame, frozen=True):
    n: int


class Pong(Frame, frozen=True):
    n: int


AnyFrame = DaemonConnected | AgentsChanged | AgentStatus | AgentProblem | Reply | Ask | Ping | Pong
