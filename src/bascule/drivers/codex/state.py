"""What the driver must remember between two lines, small enough to be stored with every commit."""

from typing import Literal

from msgspec import Raw, Struct

from bascule.drivers.bounded import forget_oldest
from bascule.drivers.jsonrpc.state import MAX_OPEN, RpcState

MAX_WARNINGS = 32  # remembered, because some are repeated every turn
MAX_CHANGES = 1024 * 1024  # of a file change that is kept for the question about it
NOTHING = Raw(b"null")

Stage = Literal["new", "opening", "ready", "failed"]
Step = Literal["initialize", "open", "turn", "interrupt", "models"]
Asked = Step | Literal["list"]


RequestKind = Literal["approval", "reach", "server", "question"]


class Request(Struct, omit_defaults=True):
    """Something a person is to answer."""

    rpc_id: Raw
    item_id: str
    kind: RequestKind = "approval"
    beside: bool = False  # asked by a sub-agent, which may go on after the turn


class Item(Struct, omit_defaults=True):
    """A tool call that is under way."""

    kind: Literal["command", "files", "other"]
    name: str = ""  # of an MCP server's tool
    denied: bool = False
    beside: bool = False  # of a sub-agent
    output: str = ""  # the end of what it printed so far
    told: int = 0  # characters printed when that was last told
    printed: int = 0
    changes: Raw = NOTHING


class TextProgress(Struct, omit_defaults=True):
    """A text that is being said, by the length that has been told."""

    length: int = 0
    opened: bool = False


class DriverState(RpcState[Asked, Request], Struct, omit_defaults=True):
    stage: Stage = "new"
    thread_id: str | None = None
    turn_id: str | None = None
    turning: bool = False  # a turn was asked for and has not ended
    stopping: bool = False  # it is to be stopped as soon as it has a name
    stopped: bool = False  # a person stopped it, or refused something in a way that ends it
    mode: str | None = None
    mode_changed: bool = False  # since the last turn was asked for
    planning: bool = False  # the agent was told to plan, and not yet to stop
    model: str | None = None
    model_changed: bool = False
    trying: str = ""  # a model that it does not offer, until a turn with it went well
    tried: str = ""  # in this turn
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
