"""What the driver must remember between two lines, small enough to be stored with every commit."""

from typing import Literal

from msgspec import Raw, Struct, field

from bascule.drivers.bounded import forget_oldest
from bascule.drivers.jsonrpc.state import MAX_OPEN, RpcState
from bascule.model.events import TextKind, ToolKind

MAX_FINISHED = 64  # tools that are over, kept to know a late word about them by
MAX_EARLY = 8  # messages of a session that may turn out to be ours
MAX_EARLY_BYTES = 64 * 1024  # of one such session
MAX_EARLY_SESSIONS = 16
NOTHING = Raw(b"null")
ID_RANGE = 1_000_000  # ids one driver may use; others on the same connection have theirs

# new: nothing sent yet; opening: the session was asked for; moded: it exists, but must change its mode before
# it may be spoken to; ready; failed: it could not be had, and the next prompt tries again.
Stage = Literal["new", "opening", "moded", "ready", "failed"]
Asked = Literal["initialize", "open", "prompt", "mode", "model", "start_mode", "close", "probe", "list"]


class Pending(Struct, omit_defaults=True):
    """A request of ours that has not been answered."""

    asked: Asked
    value: str = ""  # the mode or model that was asked for


class Request(Struct, omit_defaults=True):
    """A request of the agent that a person is to answer."""

    rpc_id: Raw
    kind: Literal["permission", "question"]
    tool_id: str | None = None
    call: str | None = None  # the service that is asked for, if it is ours to do


class Call(Struct, omit_defaults=True):
    """Something the agent wants done for it: a file read or written, a terminal."""

    rpc_id: Raw
    method: str
    params: Raw
    request_id: str | None = None  # of the permission it needed
    due: bool = False  # nobody has to be asked any more


class Tool(Struct, omit_defaults=True):
    name: str = ""
    title: str = ""
    kind: ToolKind = "other"
    status: str = "pending"
    begun: bool = False  # it has been told of
    denied: bool = False
    input: Raw = NOTHING  # as it was last told, unless it is large
    call: Raw = NOTHING  # its input, content and places, until it has been told of
    content: list[Raw] = []
    locations: list[Raw] = []
    shown: int = 0  # checksum of what was last told


class OpenText(Struct, omit_defaults=True):
    entry_id: str
    kind: TextKind
    message_id: str | None = None
    head: str = ""  # its beginning, if that may be an error in disguise


class AgentInfo(Struct, omit_defaults=True):
    """What the agent last said about itself."""

    session_id: str | None = None
    version: str | None = None
    model: str | None = None
    mode: str | None = None
    title: str | None = None
    used: int | None = None
    size: int | None = None
    cost_usd: float | None = None
    commands: int = 0  # checksums of the lists that were last told
    models: int = 0
    offered: list[str] = []  # the models it can be switched to
    greeted: bool = False  # it answered `initialize`
    images: bool = False
    loads: bool = False
    resumes: bool = False
    closes: bool = False
    lists: bool = False
    has_modes: bool = False
    modes: tuple[str, ...] = ()  # those the agent says it has
    has_models: bool = False
    mode_option: str | None = None  # the config option that holds the mode
    model_option: str | None = None
    logins: str = ""  # ways to log in, in the agent's words


class Greeting(Struct, omit_defaults=True):
    """What the agent answered to `initialize`: all that a session which comes later must know of it."""

    version: str | None = None
    images: bool = False
    loads: bool = False
    resumes: bool = False
    closes: bool = False
    lists: bool = False
    logins: str = ""


class Joining(Struct, frozen=True):
    """What a session begins with on a process that others may share."""

    id_base: int = 0
    greeting: Greeting | None = None  # None: the agent has not answered yet
    skipping: bool = False  # it begins inside a line that is being skipped


class History(Struct, omit_defaults=True):
    """A conversation that is being replayed."""

    turn: bool = False  # a replayed prompt has begun a turn that is not closed
    message_id: str | None = None
    text: str = ""  # of a prompt that may still go on
    skipped: bool = False  # it was said that the rest is left out


class DriverState(RpcState[Pending, Request], Struct, omit_defaults=True):
    shared: bool = False  # others speak on the same line: what is not addressed to us may be theirs
    stage: Stage = "new"
    leaving: bool = False  # the session ends: nobody is asked anything any more
    refused: str = ""  # why the agent would not be greeted
    heard: int = 0  # bytes of the lines that were ours
    replaying: bool = False
    cancelling: bool = False
    denying: bool = False  # a person refused something in this turn, which may end it
    turn: int | None = None  # the request of the prompt that is being worked on
    tools: dict[str, Tool] = {}
    finished: list[str] = []
    calls: dict[str, Call] = {}
    early: dict[str, list[str]] = {}
    text: OpenText | None = None
    own_words: str = ""  # the last thing said, if it may be the agent's own and not the model's
    last_said: str = ""  # the whole of the last thing said, if it may be an error in disguise
    history: History = field(default_factory=History)
    info: AgentInfo = field(default_factory=AgentInfo, name="facts")

    def may_forget(self, pending: Pending) -> bool:
        return pending.asked not in ("open", "prompt")

    def remember_tool(self, tool_id: str, tool: Tool) -> None:
        self.tools[tool_id] = tool
        forget_oldest(self.tools, MAX_OPEN)

    def finish_tool(self, tool_id: str) -> None:
        self.tools.pop(tool_id, None)
        self.finished.append(tool_id)
        del self.finished[:-MAX_FINISHED]

    def quirk(self, name: str) -> bool:
        return name in self.launch.quirks

    def start_mode(self) -> str | None:
        """The mode this session must be in before it is spoken to."""
        if self.launch.mode is not None:
            return self.launch.mode
        for quirk in self.launch.quirks:
            if quirk.startswith("set_mode_at_start:"):
                return quirk.partition(":")[2]
        return None
