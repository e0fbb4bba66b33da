"""The ACP driver's stored state, written with every commit. Field names must not change."""

from typing import Literal

from msgspec import Raw, Struct, field

from bascule.drivers.bounded import forget_oldest
from bascule.drivers.jsonrpc.state import MAX_OPEN, RpcState
from bascule.model.events import TextKind, ToolKind

MAX_FINISHED = 64  # ended tools, remembered to ignore late updates of them
MAX_EARLY = 8  # messages of a session that may turn out to be ours
MAX_EARLY_BYTES = 64 * 1024  # of one such session
MAX_EARLY_SESSIONS = 16
NOTHING = Raw(b"null")
ID_RANGE = 1_000_000  # request ids per driver; other drivers on the connection use other ranges

# new: nothing sent yet; opening: the session was requested; moded: it is open, but must change its mode
# before it gets a prompt; ready; failed: it could not be opened, and the next prompt tries again.
Stage = Literal["new", "opening", "moded", "ready", "failed"]
Asked = Literal["initialize", "open", "prompt", "mode", "model", "start_mode", "close", "probe", "list"]


class PendingRequest(Struct, omit_defaults=True):
    """A request of ours that the agent has not answered."""

    asked: Asked
    value: str = ""  # the mode or model that was asked for


class Request(Struct, omit_defaults=True):
    """A request of the agent that waits for a person's answer."""

    rpc_id: Raw
    kind: Literal["permission", "question"]
    tool_id: str | None = None
    call: str | None = None  # id of the service call it is about, if any


class ServiceCall(Struct, omit_defaults=True):
    """A service call: the agent wants a file read or written, or a terminal."""

    rpc_id: Raw
    method: str
    params: Raw
    request_id: str | None = None  # of the permission it needed
    due: bool = False  # allowed, or needs no permission


class Tool(Struct, omit_defaults=True):
    name: str = ""
    title: str = ""
    kind: ToolKind = "other"
    status: str = "pending"
    begun: bool = False  # a ToolStarted event was emitted
    denied: bool = False
    input: Raw = NOTHING  # last reported input, unless it is large
    call: Raw = NOTHING  # input, content and locations, until ToolStarted is emitted
    content: list[Raw] = []
    locations: list[Raw] = []
    shown: int = 0  # checksum of the last change emitted


class OpenText(Struct, omit_defaults=True):
    entry_id: str
    kind: TextKind
    message_id: str | None = None
    head: str = ""  # its beginning, to recognise an error reported as text


class ReportedInfo(Struct, omit_defaults=True):
    """What the agent last reported of itself."""

    session_id: str | None = None
    version: str | None = None
    model: str | None = None
    mode: str | None = None
    title: str | None = None
    used: int | None = None
    size: int | None = None
    cost_usd: float | None = None
    commands: int = 0  # checksums of the lists last emitted
    models: int = 0
    offered: list[str] = []  # the models it can be switched to
    greeted: bool = False  # it answered `initialize`
    images: bool = False
    loads: bool = False
    resumes: bool = False
    closes: bool = False
    lists: bool = False
    has_modes: bool = False
    modes: tuple[str, ...] = ()  # the modes the agent offers
    has_models: bool = False
    mode_option: str | None = None  # the config option that holds the mode
    model_option: str | None = None
    logins: str = ""  # ways to log in, in the agent's words


class Greeting(Struct, omit_defaults=True):
    """The agent's answer to `initialize`, kept for sessions that join the process later."""

    version: str | None = None
    images: bool = False
    loads: bool = False
    resumes: bool = False
    closes: bool = False
    lists: bool = False
    logins: str = ""


class Joining(Struct, frozen=True):
    """What a session needs to begin on a process that other sessions may share."""

    id_base: int = 0
    greeting: Greeting | None = None  # None: the agent has not answered yet
    skipping: bool = False  # it begins inside a line that is being skipped


class History(Struct, omit_defaults=True):
    """An earlier conversation that the agent is replaying."""

    turn: bool = False  # a replayed turn is open
    message_id: str | None = None
    text: str = ""  # of a replayed prompt that may continue
    skipped: bool = False  # a note said that the rest is left out


class DriverState(RpcState[PendingRequest, Request], Struct, omit_defaults=True):
    shared: bool = False  # other sessions use the process: messages without our session id may be theirs
    stage: Stage = "new"
    leaving: bool = False  # the session ends: new requests are refused
    refused: str = ""  # why the agent refused `initialize`
    heard: int = 0  # bytes of this session's lines
    replaying: bool = False
    cancelling: bool = False
    denying: bool = False  # a person denied a request in this turn, which may end it
    turn: int | None = None  # id of the prompt request that is running
    silent: bool = False  # since that prompt was sent, the agent has said, done and asked nothing
    tools: dict[str, Tool] = {}
    finished: list[str] = []
    calls: dict[str, ServiceCall] = {}
    early: dict[str, list[str]] = {}
    text: OpenText | None = None
    own_words: str = ""  # the last text, if it may be from the agent rather than the model
    last_said: str = ""  # the last entry's whole text, if short enough to be an error reported as text
    history: History = field(default_factory=History)
    info: ReportedInfo = field(default_factory=ReportedInfo, name="facts")

    def may_forget(self, pending: PendingRequest) -> bool:
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
        """The mode this session must be in before it gets a prompt."""
        if self.launch.mode is not None:
            return self.launch.mode
        for quirk in self.launch.quirks:
            if quirk.startswith("set_mode_at_start:"):
                return quirk.partition(":")[2]
        return None
