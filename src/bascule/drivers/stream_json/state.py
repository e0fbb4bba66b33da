"""The stream-json driver's stored state, written with every commit. Field names must not change."""

import zlib
from typing import Literal

import msgspec
from msgspec import Struct

from bascule.drivers.bounded import forget_oldest
from bascule.drivers.lenient import MAX_ID

BlockKind = Literal["assistant", "thinking", "tool", "other"]

MAX_MESSAGES = 8
MAX_SETTLED = 32  # ended requests, remembered to recognise a repeated id
MAX_FAILURE = 4096
MAX_OPEN = 200  # requests or tools; more than an agent ever has at once


class Block(Struct, omit_defaults=True):
    """A content block that deltas have started and no complete block has confirmed yet.

    Its text is remembered by length and checksum only: enough to see whether the complete block says the
    same, and what it adds.
    """

    index: int
    kind: BlockKind
    length: int = 0
    crc: int = 0
    opened: bool = False
    closed: bool = False

    def count(self, text: str) -> None:
        self.length += len(text)
        self.crc = zlib.crc32(text.encode("utf-8", "surrogatepass"), self.crc)

    def begins(self, said: str) -> bool:
        """Whether a text begins with all that was streamed of it."""
        known = Block(self.index, self.kind)
        known.count(said[: self.length])
        return (known.length, known.crc) == (self.length, self.crc)


class Message(Struct, omit_defaults=True):
    message_id: str
    parent: str | None = None
    next_index: int = 0
    blocks: list[Block] = []


class OpenTool(Struct, omit_defaults=True):
    name: str
    parent: str | None = None


class Request(Struct, omit_defaults=True):
    kind: Literal["permission", "question", "refused"]
    open: bool = False
    tool_id: str | None = None
    foreign_id: str | None = None  # the agent's own id, if ours differs


class ReportedInfo(Struct, omit_defaults=True):
    """What the agent last reported of itself."""

    agent_session_id: str | None = None
    model: str | None = None
    offered: list[str] = []  # the models the agent lists
    trying: str = ""  # a model it does not list, until a turn with it succeeds
    tried: str = ""  # the one tried in this turn
    version: str | None = None
    mode: str | None = None
    commands: list[str] | None = None
    used: int | None = None
    size: int | None = None
    cost_usd: float | None = None


class DriverState(Struct, omit_defaults=True):
    skipping: bool = False
    spoken: bool = False  # a message of the agent was understood
    interrupted: bool = False  # the agent reported an interrupt in this turn
    failure: str = ""  # an API error the agent reported in this turn; its result will say it again
    last: str = ""  # the newest message of the conversation, by its id there
    info: ReportedInfo = msgspec.field(default_factory=ReportedInfo, name="facts")
    messages: list[Message] = []
    streams: dict[str, str] = {}  # the message being streamed, by the tool call of the sub-agent ("" is none)
    tools: dict[str, OpenTool] = {}
    requests: dict[str, Request] = {}

    def remember_request(self, request_id: str, request: Request) -> None:
        self.requests[request_id] = request
        forget_oldest(self.requests, MAX_OPEN, lambda request: request.open)
        forget_oldest(self.requests, MAX_SETTLED, lambda request: not request.open)

    def passed(self, uuid: object, parent: object) -> None:
        """A message went by; those of a sub-agent (`parent`) are no part of the conversation itself."""
        if parent is None and isinstance(uuid, str) and len(uuid) <= MAX_ID:
            self.last = uuid

    def foreign_id(self, request_id: str) -> str:
        """The agent's own id of a request."""
        known = self.requests.get(request_id)
        return request_id if known is None or known.foreign_id is None else known.foreign_id

    def remember_tool(self, tool_id: str, tool: OpenTool) -> None:
        self.tools[tool_id] = tool
        if len(self.tools) > MAX_OPEN:
            forget_oldest(self.tools, MAX_OPEN)
