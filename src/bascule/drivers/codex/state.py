"""The Codex driver's stored state, written with every commit. Field names must not change."""

from typing import Literal

from msgspec import Raw, Struct

from bascule.drivers.bounded import forget_oldest
from bascule.drivers.jsonrpc.state import MAX_OPEN, RpcState

MAX_WARNINGS = 32  # remembered, because some are repeated every turn
MAX_CHANGES = 1024 * 1024  # bytes of a file change kept for its approval
NOTHING = Raw(b"null")

Stage = Literal["new", "opening", "ready", "failed"]
Step = Literal["initialize", "open", "turn", "interrupt", "models"]
Asked = Step | Literal["list"]


RequestKind = Literal["approval", "reach", "server", "question"]


class Request(Struct, omit_defaults=True):
    """A request of the agent that waits for a person's answer."""

    rpc_id: Raw
    item_id: str
    kind: RequestKind = "approval"
    beside: bool = False  # of a sub-agent, which may go on after the turn


class Item(Struct, omit_defaults=True):
    """A running tool call."""

    kind: Literal["command", "files", "other"]
    name: str = ""  # of an MCP server's tool
    denied: bool = False
    beside: bool = False  # of a sub-agent
    output: str = ""  # the end of its output so far
    emitted: int = 0  # value of `printed` when output was last emitted
    printed: int = 0
    changes: Raw = NOTHING


class TextProgress(Struct, omit_defaults=True):
    """How much of a text item was emitted."""

    length: int = 0
    opened: bool = False


class DriverState(RpcState[Asked, Request], Struct, omit_defaults=True):
    stage: Stage = "new"
    thread_id: str | None = None
    turn_id: str | None = None
    turning: bool = False  # a turn was started and has not ended
    stopping: bool = False  # interrupt it as soon as its id is known
    stopped: bool = False  # a person interrupted it, or denied a request, which may end it
    mode: str | None = None
    mode_changed: bool = False  # since the last turn was started
    planning: bool = False  # the agent is in plan mode, and was not yet asked to leave it
    model: str | None = None
    model_changed: bool = False
    trying: str = ""  # a model Codex does not list, until a turn with it succeeds
    tried: str = ""  # the one tried in this turn
    offered: list[str] = []
    version: str | None = None
    title: str | None = None
    used: int | None = None
    size: int | None = None
    usage: tuple[int, ...] = (0, 0, 0, 0)  # of this turn: input, output, cache read, cache written
    items: dict[str, Item] = {}
    texts: dict[str, TextProgress] = {}
    warned: list[int] = []  # checksums
    failed_because: str = ""

    def remember_item(self, item_id: str, item: Item) -> None:
        self.items[item_id] = item
        forget_oldest(self.items, MAX_OPEN)

    def remember_text(self, item_id: str) -> TextProgress:
        said = self.texts.setdefault(item_id, TextProgress())
        forget_oldest(self.texts, MAX_OPEN)
        return said
