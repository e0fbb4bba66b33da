"""The words hub and daemon speak. The same frames cross memory or a socket."""

from typing import Literal

import msgspec
from msgspec import Raw, Struct

from bascule.link.comparisons import ComparisonCommand
from bascule.link.files import ListFiles, ListFolders, ReadChanges, ReadFile
from bascule.link.found import AwaitFeedback, FollowFound, ListFound, TakeFeedback
from bascule.link.rules import RulesCommand
from bascule.link.unlogged import UnloggedCommand
from bascule.model.commands import Actor, AnyCommand
from bascule.model.errors import Refusal
from bascule.model.events import snake

PROTOCOL = 1


class Frame(Struct, frozen=True, tag_field="type", tag=snake, omit_defaults=True):
    """The base of every frame."""


# idle: no process; disconnected: it went away or would not start, and somebody may try again.
AgentState = Literal["idle", "starting", "connected", "disconnected", "reconnecting"]


class AgentInfo(Struct, frozen=True, omit_defaults=True):
    """One agent as a device sees it."""

    name: str  # "claude-code"
    title: str  # "Claude Code"
    available: bool
    version: str | None = None
    path: str | None = None
    problem: str | None = None  # why it is not available, and what to do
    demo: bool = False
    models: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()  # the ways it can be talked to here, the preferred one first
    signed_in: Literal["yes", "no", "unknown"] | None = None  # None: it needs no login, or nobody looked yet
    login: str = ""  # what a person types to sign in
    skips_permissions: bool = False  # its terminal can be told to ask nothing
    status: AgentState = "idle"  # of the processes its sessions share
    # By the way it is talked to: what it runs without asking, a sentence each.
    unasked: dict[str, tuple[str, ...]] = {}
    forks: bool = False  # a conversation can be taken further in a second session


# Up: daemon to hub


class DaemonConnected(Frame, frozen=True):
    device: str
    name: str
    version: str
    epoch: int
    agents: tuple[AgentInfo, ...] = ()
    protocol: int = PROTOCOL
    heads: dict[str, int] = {}  # session -> last seq of its log; the hub answers with what it holds


class SessionOutput(Frame, frozen=True):
    """Entries of a log the hub does not share. Absent when both use one store."""

    session_id: str
    entries: tuple[Raw, ...]


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


class CheckDirectory(Struct, frozen=True, tag_field="type", tag=snake):
    """Is this a folder a session may run in? Answers with its real path."""

    path: str


class ListAgents(Struct, frozen=True, tag_field="type", tag=snake):
    refresh: bool = False


class PauseDevice(Struct, frozen=True, tag_field="type", tag=snake):
    """Take no new sessions (True) or take them again."""

    paused: bool
    by: str


class EndAll(Struct, frozen=True, tag_field="type", tag=snake):
    """The panic button: stop every agent on this device."""

    by: str


class TrustFolder(Struct, frozen=True, tag_field="type", tag=snake):
    """A person says that agents may trust this folder (True), or no longer. Answers with its real path."""

    path: str
    trusted: bool
    by: Actor


class ListTrusted(Struct, frozen=True, tag_field="type", tag=snake):
    """The folders that are trusted."""


class ListConversations(Struct, frozen=True, tag_field="type", tag=snake):
    """Which conversations an agent knows by itself. Only one whose process runs can be asked."""

    agent: str


class ReconnectAgent(Struct, frozen=True, tag_field="type", tag=snake):
    """Take up again, now, the sessions that this agent's process left behind. Answers with its status."""

    agent: str
    by: Actor
    session_id: str = ""  # only this one, and those that shared its process


FilesCommand = ListFolders | ListFiles | ReadFile | ReadChanges
TrustCommand = TrustFolder | ListTrusted
FoundCommand = ListFound | FollowFound | AwaitFeedback | TakeFeedback
MachineCommand = CheckDirectory | ListAgents | PauseDevice | EndAll | ReconnectAgent | ListConversations
DeviceCommand = (
    AnyCommand
    | MachineCommand
    | FilesCommand
    | TrustCommand
    | FoundCommand
    | RulesCommand
    | ComparisonCommand
    | UnloggedCommand
)


class Ask(Frame, frozen=True):
    ask: int
    command: DeviceCommand


class Resume(Frame, frozen=True):
    """What the hub holds of each session, so that the daemon sends the rest."""

    after: dict[str, int]


class Ack(Frame, frozen=True):
    session_id: str
    seq: int


# Both ways


class Ping(Frame, frozen=True):
    n: int


class Pong(Frame, frozen=True):
    n: int


AnyFrame = (
    DaemonConnected
    | SessionOutput
    | AgentsChanged
    | AgentStatus
    | AgentProblem
    | Reply
    | Ask
    | Resume
    | Ack
    | Ping
    | Pong
)

_decoder = msgspec.json.Decoder[AnyFrame](AnyFrame)


def decode(data: bytes) -> AnyFrame:
    return _decoder.decode(data)
