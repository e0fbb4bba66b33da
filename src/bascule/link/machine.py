"""Commands for a machine as a whole: its agents, folders, trust, pause and the panic button."""

from typing import Any, Literal

from msgspec import Struct

from bascule.model.commands import Answer, Command, Done
from bascule.model.conversations import Conversation
from bascule.model.fields import Name, Short

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
    install: str = ""  # the command that installs it, when it was not found
    demo: bool = False
    models: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    asking_modes: tuple[str, ...] = ()  # those of `modes` in which it asks before it acts
    drivers: tuple[str, ...] = ()  # the ways it can be talked to here, the preferred one first
    signed_in: Literal["yes", "no", "unknown"] | None = None  # None: it needs no login, or nobody looked yet
    login: str = ""  # what a person types to sign in
    skips_permissions: bool = False  # its terminal can be started so that it asks nothing
    status: AgentState = "idle"  # of the processes its sessions share
    # By the way it is talked to: what it runs without asking, a sentence each.
    unasked: dict[str, tuple[str, ...]] = {}
    forks: bool = False  # a conversation can be taken further in a second session
    forks_at: tuple[str, ...] = ()  # the ways in which that can begin at an earlier turn's end


# Agents


class AgentList(Answer, frozen=True, kw_only=True):
    agents: tuple[AgentInfo, ...]


class ListAgents(Command[AgentList], frozen=True, kw_only=True):
    refresh: bool = False


class Conversations(Answer, frozen=True, kw_only=True):
    conversations: tuple[Conversation, ...]
    more: bool


class ListConversations(Command[Conversations], frozen=True, kw_only=True):
    """The conversations an agent knows by itself. Only an agent whose process runs can be asked."""

    agent: Name


class Reconnected(Answer, frozen=True, omit_defaults=False, kw_only=True):
    """The state an agent is in after a person asked for it again."""

    status: AgentState = "connected"


class ReconnectAgent(Command[Reconnected], frozen=True, kw_only=True):
    """Restart an agent's process and resume the sessions it left behind."""

    agent: Name
    session_id: str = ""  # only this one, and those that shared its process


# Folders


class Directory(Answer, frozen=True, kw_only=True):
    path: str
    files: int | None = None  # how many git tracks or does not ignore; none where there is no work tree


class CheckDirectory(Command[Directory], frozen=True, kw_only=True):
    """Is this a folder a session may run in? Answers with its real path and how many files git sees."""

    path: Short


class TrustedFolders(Answer, frozen=True, kw_only=True):
    folders: tuple[str, ...]


class ListTrusted(Command[TrustedFolders], frozen=True, kw_only=True):
    """The folders in which agents' trust prompts are answered with yes."""


class TrustFolder(Command[Directory], frozen=True, kw_only=True):
    """A person says that agents may trust this folder (True), or no longer. Answers with its real path."""

    path: Short
    trusted: bool = True


# The whole machine


class MachineSettings(Answer, frozen=True, omit_defaults=False, kw_only=True):
    """What a machine runs with, and the file in which a person changes it there."""

    limits: dict[str, int]  # by name: another version has others
    terminal: dict[str, Any]
    roots: tuple[str, ...]
    config_file: str


class ReadSettings(Command[MachineSettings], frozen=True, kw_only=True):
    pass


class PauseDevice(Command[Done], frozen=True, kw_only=True):
    """Take no new sessions (True) or take them again."""

    paused: bool


class Ended(Answer, frozen=True, kw_only=True):
    ended: int


class EndAll(Command[Ended], frozen=True, kw_only=True):
    """The panic button: stop every agent on this device."""


MachineCommand = (
    ListAgents
    | ListConversations
    | ReconnectAgent
    | CheckDirectory
    | ListTrusted
    | TrustFolder
    | ReadSettings
    | PauseDevice
    | EndAll
)
