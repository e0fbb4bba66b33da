"""Builds a timed list of events from a conversation file. If the file grows, events are only added."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import msgspec
from msgspec import Raw, Struct

from bascule.drivers.lenient import (
    DECODE_ERRORS,
    MAX_ID,
    JsonObject,
    as_object,
    clip,
    without_lone_surrogates,
)
from bascule.model.event_values import StopReason, Usage
from bascule.model.events import (
    AnyEvent,
    Diff,
    Image,
    Location,
    PromptSent,
    TextKind,
    TextSaid,
    ToolChanged,
    ToolKind,
    ToolStarted,
    ToolStatus,
    TurnEnded,
    Unrecognised,
)

MAX_TEXT = 1024 * 1024  # characters of one message
MAX_OUTPUT = 64 * 1024  # characters of a tool's output
MAX_INPUT = 256 * 1024  # bytes of a tool's input
MAX_RAW = 2048
MAX_UNRECOGNISED = 20  # lines that are kept; the others are only counted
MAX_TITLE = 200
EPOCH = "1970-01-01T00:00:00.000Z"
SOMEBODY = "terminal"

_json = msgspec.json.Decoder()


class TimedEvent(Struct, frozen=True):
    """An event and its time."""

    at: str
    event: AnyEvent


class History(Struct):
    """A whole conversation, read from its file. `aside`: it is part of another conversation."""

    agent_session_id: str = ""
    cwd: str = ""
    title: str = ""  # the last one given by the agent or a person
    cost_usd: float | None = None  # total, as the agent counts it
    model: str | None = None
    version: str | None = None
    started_at: str = ""
    messages: int = 0
    skipped: int = 0  # lines that were not understood
    aside: bool = False
    events: list[TimedEvent] = []

    @property
    def ended_at(self) -> str:
        return max(self.events[-1].at if self.events else EPOCH, self.started_at or EPOCH)


class HistoryBuilder:
    """Appends events in the file's order. Ignores what is repeated, and closes what is left open."""

    def __init__(self) -> None:
        self.history = History()
        self.at = EPOCH
        self._running = False
        self._known: set[str] = set()
        self._open: dict[str, None] = {}  # tools that have not reported back, in their order

    # Events

    def prompt(
        self,
        prompt_id: str,
        text: str,
        images: tuple[Image, ...] = (),
        by: str = SOMEBODY,
        *,
        within: bool = False,
    ) -> None:
        """`within`: it arrived during a turn, which goes on."""
        if not text.strip() and not images:
            return
        if self._running and not within:  # the file does not say how the turn before it ended
            self.end_turn("other")
        self.history.messages += 1
        self._running = True
        self._put(PromptSent(clip(prompt_id, MAX_ID), clip(text, MAX_TEXT), by, images=images))

    def text(self, entry_id: str, kind: TextKind, text: str, parent: str | None = None) -> None:
        if not text.strip():
            return
        if kind == "assistant":
            self.history.messages += 1
        self._put(TextSaid(clip(entry_id, MAX_ID), kind, clip(text, MAX_TEXT), parent))

    def tool(
        self,
        tool_id: str,
        name: str,
        title: str,
        kind: ToolKind,
        call: object,
        parent: str | None = None,
    ) -> None:
        tool_id = clip(tool_id, MAX_ID)
        if tool_id in self._known:
            return
        self._known.add(tool_id)
        self._open[tool_id] = None
        title = " ".join(title.split()) or name
        self._put(
            ToolStarted(tool_id, clip(name, 200) or "tool", clip(title, 300), kind, _input(call), parent)
        )

    def result(
        self,
        tool_id: str,
        status: ToolStatus,
        output: str = "",
        diffs: tuple[Diff, ...] = (),
        locations: tuple[Location, ...] = (),
        images: tuple[Image, ...] = (),
    ) -> None:
        tool_id = clip(tool_id, MAX_ID)
        if tool_id not in self._open:
            return  # never started in this file, or reported twice
        del self._open[tool_id]
        self._put(ToolChanged(tool_id, status, clip(output, MAX_OUTPUT), diffs, locations, images))

    def knows(self, tool_id: str) -> bool:
        return clip(tool_id, MAX_ID) in self._known

    def end_turn(
        self,
        reason: StopReason,
        *,
        usage: Usage | None = None,
        cost: float | None = None,
        duration_ms: int | None = None,
        message: str | None = None,
    ) -> None:
        if not self._running:
            return
        self._running = False
        for tool_id in list(self._open):
            self.result(tool_id, "failed", "The turn ended before this tool reported back.")
        self._put(TurnEnded(reason, usage, cost, duration_ms, message))

    def title(self, title: str) -> None:
        tidy = clip(" ".join(title.split()), MAX_TITLE)
        self.history.title = tidy or self.history.title

    def cost(self, dollars: float | None) -> None:
        if dollars is not None and dollars > 0:
            self.history.cost_usd = dollars

    def put(self, event: AnyEvent) -> None:
        self._put(event)

    def unrecognised(self, line: bytes, why: str) -> None:
        history = self.history
        history.skipped += 1
        if history.skipped < MAX_UNRECOGNISED:
            head = line[:MAX_RAW].decode("utf-8", "replace")
            self._put(Unrecognised(head, why, len(line) if len(line) > MAX_RAW else 0))
        elif history.skipped == MAX_UNRECOGNISED:
            self._put(Unrecognised("", "more lines like these are left out"))

    def moment(self, given: object) -> None:
        """Set the time of the events that follow; the first time is when the conversation started."""
        at = moment(given)
        if at is not None:
            self.at = at
            self.history.started_at = self.history.started_at or at

    def _put(self, event: AnyEvent) -> None:
        self.history.events.append(TimedEvent(self.at, event))


def read_lines(
    builder: HistoryBuilder, lines: Iterable[bytes], understand: Callable[[JsonObject], str | None]
) -> History:
    """Pass each line as an object to `understand`, which returns what it did not understand. Never raises."""
    for line in lines:
        if not line or line.isspace():
            continue
        try:
            why = understand(_object(line))
        except DECODE_ERRORS as error:
            why = "not JSON" if isinstance(error, msgspec.DecodeError) else type(error).__name__
        except Exception as error:  # noqa: BLE001 - the promise is that no bytes ever raise
            why = f"reader fault: {type(error).__name__}"
        if why is not None:
            builder.unrecognised(line, why)
    return builder.history


def _object(line: bytes) -> JsonObject:
    try:
        found = _json.decode(line)
    except msgspec.DecodeError:
        found = _json.decode(without_lone_surrogates(line))
    if not isinstance(found, dict):
        raise msgspec.ValidationError("not an object")
    return as_object(found)  # pyright: ignore[reportUnknownArgumentType] - looked at field by field


def moment(given: object) -> str | None:
    """Convert an agent's time (ISO, or milliseconds since 1970) to the format of our logs."""
    try:
        if isinstance(given, str) and len(given) < 40:
            found = datetime.fromisoformat(given)
            found = found if found.tzinfo else found.replace(tzinfo=UTC)
        elif isinstance(given, int | float) and not isinstance(given, bool):
            found = datetime.fromtimestamp(given / 1000, UTC)
        else:
            return None
        return found.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return None


def _input(call: object) -> Raw:
    data = msgspec.json.encode(call if isinstance(call, dict) else {"input": call})
    if len(data) > MAX_INPUT:
        data = msgspec.json.encode({"note": f"{len(data)} bytes of input are left out"})
    return Raw(data)


def place(path: object) -> str:
    """The path if it is absolute, else empty."""
    if not isinstance(path, str) or not path.startswith("/") or "\x00" in path or len(path) > 4096:
        return ""
    return path


def name(given: object) -> str:
    """The value if it is a valid agent id (short, no spaces or control characters), else empty."""
    if not isinstance(given, str) or not 0 < len(given) <= 200:
        return ""
    return given if given.isprintable() and " " not in given and not given.startswith("-") else ""
