"""Tool calls: merges `tool_call`, `tool_call_update` and permission requests of one call by its id."""

import zlib

import msgspec
from msgspec import Raw, Struct

from bascule.drivers.acp.naming import MCP, derived_name, given_name, only_repeats
from bascule.drivers.acp.state import NOTHING, DriverState, Tool
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import (
    DECODE_ERRORS,
    Id,
    JsonObject,
    as_object,
    clip,
    loosely,
    mapping,
    objects,
    text,
    whole,
)
from bascule.drivers.patch import diff_of
from bascule.model.events import (
    EMPTY_OBJECT,
    Diff,
    Image,
    Location,
    Note,
    ToolChanged,
    ToolKind,
    ToolStarted,
    ToolStatus,
)

MAX_TITLE = 300
MAX_OUTPUT = 1024 * 1024
MAX_IMAGES = 20
MAX_DIFFS = 100
MAX_LOCATIONS = 100
MAX_KEPT = 16 * 1024  # bytes of input kept, because a later permission request may leave it out
MAX_DRAFT = 256 * 1024  # bytes of input kept until it is complete

_KINDS: dict[str, ToolKind] = {
    "read": "read",
    "edit": "edit",
    "delete": "edit",
    "move": "edit",
    "search": "search",
    "execute": "execute",
    "think": "think",
    "fetch": "fetch",
    "switch_mode": "plan",
}
LOST = (
    "The agent started a sub-agent. It does not pass on what sub-agents ask for: if nothing comes any more, "
    "the sub-agent waits for an answer that nobody can give. Stop the turn then."
)
_STATUSES: dict[str, ToolStatus] = {"completed": "done", "failed": "failed"}
# Keys under which agents put the output in a result object, best first.
_OUTPUT_KEYS = ("output", "aggregated_output", "formatted_output", "content", "stdout", "message", "error")


class ToolCall(Struct, rename="camel"):
    """A `tool_call`, a `tool_call_update`, or the call a permission is asked for. Absent means unchanged."""

    tool_call_id: Id
    name: str | None = None
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    raw_input: Raw = EMPTY_OBJECT
    raw_output: Raw = NOTHING
    content: list[Raw] | None = None
    locations: list[Raw] | None = None
    meta: Raw = msgspec.field(default=EMPTY_OBJECT, name="_meta")


_call = msgspec.json.Decoder(ToolCall)
_generic = msgspec.json.Decoder()


def read_call(raw: Raw) -> ToolCall:
    return _call.decode(raw)


class Tools:
    def __init__(self, state: DriverState, out: EventBuffer) -> None:
        self._state = state
        self._out = out

    def hear(self, call: ToolCall) -> None:
        """Merge an update of a call, and emit what changed."""
        known = self._state.tools.get(call.tool_call_id)
        if known is None and call.tool_call_id in self._state.finished:
            return
        tool = known or Tool()
        self._merge(tool, call)
        if known is None:
            self._state.remember_tool(call.tool_call_id, tool)
        if tool.begun or not self._may_change(tool, call, first=known is None):
            self._begin(call.tool_call_id, tool)
            self._tell(call.tool_call_id, tool, call)

    def ask_about(self, call: ToolCall) -> Tool:
        """Merge the call of a permission request, and emit its start."""
        known = self._state.tools.get(call.tool_call_id)
        tool = known or Tool()
        status = tool.status
        self._merge(tool, call)
        tool.status = status  # the request says "pending" even of a running call
        if known is None:
            self._state.remember_tool(call.tool_call_id, tool)
        self._begin(call.tool_call_id, tool)
        self._tell(call.tool_call_id, tool, call)
        return tool

    def begin_drafts(self, besides: str | None = None) -> None:
        """Emit calls whose input was awaited: something else came, so it is not coming any more."""
        for tool_id, tool in list(self._state.tools.items()):
            if tool_id != besides and not tool.begun:
                self._begin(tool_id, tool)
                if tool.status in _STATUSES:
                    self._end(tool_id, _STATUSES[tool.status], "")

    def end_all(self, why: str) -> None:
        """The turn is over: end every open call."""
        self.begin_drafts()
        for tool_id, tool in list(self._state.tools.items()):
            if tool.denied:
                self._end(tool_id, "denied", "")
            else:
                self._end(tool_id, "failed", why)

    def _merge(self, tool: Tool, call: ToolCall) -> None:
        derived = tool.name or derived_name(call.title, call.kind, call.raw_input)
        tool.name = given_name(call.name, call.meta) or derived
        title = None if only_repeats(call.title, call.raw_input) else call.title
        tool.title = clip(title or tool.title, MAX_TITLE)
        tool.kind = _KINDS.get(call.kind, "other") if call.kind is not None else tool.kind
        if tool.name.startswith(MCP) and not _acts(tool.kind, call):
            tool.kind = "other"  # that it only reads is the server's claim, not proof
        if len(bytes(call.raw_input)) <= MAX_KEPT and not is_empty(call.raw_input):
            tool.input = Raw(bytes(call.raw_input))
        tool.status = call.status[:40] if call.status is not None else tool.status
        if tool.begun:
            return
        if not is_empty(call.raw_input):
            tool.call = Raw(bytes(call.raw_input))
        if call.content is not None:
            tool.content = [Raw(bytes(part)) for part in call.content]
        if call.locations is not None:
            tool.locations = [Raw(bytes(place)) for place in call.locations]

    def _may_change(self, tool: Tool, call: ToolCall, *, first: bool) -> bool:
        """Whether the call's input may still follow: some agents announce a call and complete it later."""
        if len(bytes(tool.call)) + sum(len(bytes(part)) for part in tool.content) > MAX_DRAFT:
            return False
        if tool.status == "pending":
            return not first or not _says_what_runs(tool)
        return first and tool.status == "completed" and call.content is None and is_empty(call.raw_output)

    def _begin(self, tool_id: str, tool: Tool) -> None:
        if tool.begun:
            return
        tool.begun = True
        call = EMPTY_OBJECT if is_empty(tool.call) else tool.call
        name = tool.name or tool.kind
        self._note_lost_requests(name, tool.title)
        self._out.put(ToolStarted(tool_id, name, tool.title or name, tool.kind, call))
        begun = ToolCall(tool_id, content=tool.content, locations=tool.locations)
        tool.call, tool.content, tool.locations = NOTHING, [], []
        self._tell_running(tool_id, tool, begun)

    def _note_lost_requests(self, *names: str) -> None:
        """Warn of a sub-agent whose requests are lost: waiting for an answer, it looks as if it worked."""
        if any(self._state.quirk(f"loses_requests_of:{name}") for name in names if name):
            self._out.put(Note("requests_lost", LOST, "warning"))

    def _tell(self, tool_id: str, tool: Tool, call: ToolCall) -> None:
        status = _STATUSES.get(tool.status)
        if status is None:
            self._tell_running(tool_id, tool, call)
            return
        content = [loosely(part) for part in call.content or []]
        places = _locations(call.locations or [])
        self._end(tool_id, status, _output(call, content), _diffs(content), places, _images(content))

    def _tell_running(self, tool_id: str, tool: Tool, call: ToolCall) -> None:
        content = [loosely(part) for part in call.content or []]
        # Before a call runs, its text only repeats the title.
        words = _output(call, content) if tool.status == "in_progress" else ""
        diffs, locations, images = _diffs(content), _locations(call.locations or []), _images(content)
        change = ToolChanged(tool_id, "running", words, diffs, locations, images)
        shown = zlib.crc32(msgspec.json.encode(change))
        if (words or diffs or locations or images) and shown != tool.shown:
            tool.shown = shown
            self._out.put(change)

    def _end(
        self,
        tool_id: str,
        status: ToolStatus,
        words: str,
        diffs: tuple[Diff, ...] = (),
        locations: tuple[Location, ...] = (),
        images: tuple[Image, ...] = (),
    ) -> None:
        tool = self._state.tools[tool_id]
        if tool.denied and status == "failed":
            status = "denied"
        self._state.finish_tool(tool_id)
        self._out.put(ToolChanged(tool_id, status, words, diffs, locations, images))


def _acts(kind: ToolKind, call: ToolCall) -> bool:
    """Whether it changes files, fetches, or runs a command, which need permission in any case."""
    return kind in ("edit", "fetch") or (kind == "execute" and "command" in loosely(call.raw_input))


def _says_what_runs(tool: Tool) -> bool:
    if is_empty(tool.call):
        return False
    call = loosely(tool.call)
    return tool.kind != "execute" or "command" in call or "cmd" in call


def is_empty(raw: Raw) -> bool:
    return bytes(raw).strip() in (b"", b"{}", b"null")


def _output(call: ToolCall, content: list[JsonObject]) -> str:
    raw = _value(call.raw_output)
    if isinstance(raw, str) and raw:
        return clip(raw, MAX_OUTPUT)
    said = content_text(content)
    if not said and isinstance(raw, list):
        said = content_text([{"content": part} for part in objects({"": raw}, "")])
    if not said and isinstance(raw, dict):
        found = as_object(raw)  # pyright: ignore[reportUnknownArgumentType] - loose JSON
        said = next((text(found, key) or "" for key in _OUTPUT_KEYS if text(found, key)), "")
    return clip(said, MAX_OUTPUT)


def _value(raw: Raw) -> object:
    try:
        return _generic.decode(raw)
    except DECODE_ERRORS:
        return None


def content_text(content: list[JsonObject]) -> str:
    said = [text(mapping(part, "content"), "text") for part in content]
    return "\n".join(part for part in said if part)


def _diffs(content: list[JsonObject]) -> tuple[Diff, ...]:
    found: list[Diff] = []
    for part in content:
        path, after = text(part, "path"), text(part, "newText")
        if text(part, "type") == "diff" and path is not None and after is not None:
            found.append(diff_of(path, text(part, "oldText") or "", after))
    return tuple(found[:MAX_DIFFS])


def _locations(listed: list[Raw]) -> tuple[Location, ...]:
    places = [loosely(place) for place in listed[:MAX_LOCATIONS]]
    return tuple(
        Location(path, whole(place, "line")) for place in places if (path := text(place, "path")) is not None
    )


def _images(content: list[JsonObject]) -> tuple[Image, ...]:
    found: list[Image] = []
    for part in content:
        block = mapping(part, "content")
        media_type, data = text(block, "mimeType"), text(block, "data")
        if text(block, "type") == "image" and media_type is not None and data is not None:
            found.append(Image(media_type, data))
    return tuple(found[:MAX_IMAGES])
