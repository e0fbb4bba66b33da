"""Items of a turn (messages, reasoning, commands, file changes): emits their start, growth and end."""

import msgspec
from msgspec import Raw, Struct

from bascule.drivers.codex.encode import MCP
from bascule.drivers.codex.state import MAX_CHANGES, NOTHING, DriverState, Item
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import Id, JsonObject, clip, items, loosely, mapping, objects, text
from bascule.drivers.patch import counted, diff_of, whole_file
from bascule.model.events import (
    Diff,
    EntryClosed,
    EntryOpened,
    Location,
    TextKind,
    TextSaid,
    ToolChanged,
    ToolKind,
    ToolStarted,
    ToolStatus,
)

MAX_OUTPUT = 1024 * 1024
LIVE_OUTPUT = 8 * 1024  # characters of a running command's latest output
TELL_EVERY = 2 * 1024
MAX_DIFFS = 100

_TEXTS: dict[str, TextKind] = {"agentMessage": "assistant", "reasoning": "thinking", "plan": "assistant"}
_STATUSES: dict[str, ToolStatus] = {"completed": "done", "failed": "failed", "declined": "denied"}
_KINDS: dict[str, ToolKind] = {
    "commandExecution": "execute",
    "fileChange": "edit",
    "webSearch": "search",
    "collabAgentToolCall": "agent",
    "imageView": "read",
}
# Prompts, and items that other messages report.
_SILENT = frozenset(
    {"userMessage", "contextCompaction", "enteredReviewMode", "exitedReviewMode", "hookPrompt"}
)


class ItemHead(Struct):
    id: Id
    type: str
    changes: Raw = NOTHING


_head = msgspec.json.Decoder(ItemHead)
_list = msgspec.json.Decoder(list[dict[str, object]])


class Items:
    def __init__(self, state: DriverState, out: EventBuffer) -> None:
        self._state = state
        self._out = out

    def begin(self, raw: Raw, *, beside: bool = False) -> str | None:
        """An item starts. Returns what about it was not understood.

        `beside`: it belongs to a sub-agent, of which only tools are shown.
        """
        head = _head.decode(raw)
        if head.type in _TEXTS:
            if not beside:
                self._state.remember_text(head.id)
        elif head.type not in _SILENT:
            self._begin_tool(head, raw, beside=beside)
        return None

    def complete(self, raw: Raw, *, beside: bool = False) -> str | None:
        head, fields = _head.decode(raw), loosely(raw)
        if head.type in _TEXTS:
            if not beside:
                self._complete_text(head, fields)
        elif head.type not in _SILENT:
            if head.id not in self._state.items:
                self._begin_tool(head, raw, beside=beside)
            self._end_tool(head, fields)
        return None

    def say(self, item_id: str, kind: TextKind, piece: str) -> None:
        if not piece:
            return
        said = self._state.remember_text(item_id)
        if not said.opened:
            said.opened = True
            self._out.put(EntryOpened(self._entry(item_id), kind))
        said.length += len(piece)
        self._out.append_text(self._entry(item_id), kind, piece)

    def next_part(self, item_id: str) -> None:
        """A new part of the reasoning begins: separate it from the last by an empty line."""
        said = self._state.texts.get(item_id)
        if said is not None and said.length:
            self.say(item_id, "thinking", "\n\n")

    def printed(self, item_id: str, piece: str) -> None:
        item = self._state.items.get(item_id)
        if item is None:
            return
        item.output = (item.output + piece)[-LIVE_OUTPUT:]
        item.printed += len(piece)
        if not item.emitted or item.printed - item.emitted >= TELL_EVERY:
            item.emitted = item.printed
            self._out.put(ToolChanged(item_id, "running", item.output))

    def end_all(self, why: str, *, beside: bool = True) -> None:
        """End all open items. `beside`: those of sub-agents too."""
        for item_id in list(self._state.texts):
            self._close(item_id)
        for item_id, item in list(self._state.items.items()):
            if item.beside and not beside:
                continue
            status: ToolStatus = "denied" if item.denied else "failed"
            self._out.put(ToolChanged(item_id, status, item.output or ("" if item.denied else why)))
            del self._state.items[item_id]

    def _entry(self, item_id: str) -> str:
        return f"{self._state.launch.run}:{item_id}"

    def _complete_text(self, head: ItemHead, fields: JsonObject) -> None:
        whole = text(fields, "text") if head.type != "reasoning" else _reasoning(fields)
        said = self._state.texts.get(head.id)
        if said is None or not said.opened:
            self._state.texts.pop(head.id, None)
            if whole:
                self._out.put(TextSaid(self._entry(head.id), _TEXTS[head.type], whole))
            return
        if whole and len(whole) > said.length:
            self.say(head.id, _TEXTS[head.type], whole[said.length :])
        self._close(head.id)

    def _close(self, item_id: str) -> None:
        said = self._state.texts.pop(item_id, None)
        if said is not None and said.opened:
            self._out.put(EntryClosed(self._entry(item_id)))

    def _begin_tool(self, head: ItemHead, raw: Raw, *, beside: bool) -> None:
        if head.id in self._state.items:
            return
        kind = _KINDS.get(head.type, "other")
        fields = loosely(raw)
        if head.type == "fileChange":
            changes = Raw(bytes(head.changes)) if len(bytes(head.changes)) <= MAX_CHANGES else NOTHING
            self._state.remember_item(head.id, Item("files", beside=beside, changes=changes))
            title = title_of_changes(paths_in(head.changes))
        else:
            what = "command" if kind == "execute" else "other"
            self._state.remember_item(head.id, Item(what, _name(head.type, fields), beside=beside))
            title = _title(head.type, fields)
        self._out.put(ToolStarted(head.id, _name(head.type, fields), title, kind, Raw(bytes(raw))))
        diffs = diffs_in(head.changes)
        if diffs:
            places = tuple(Location(diff.path) for diff in diffs)
            self._out.put(ToolChanged(head.id, "running", diffs=diffs, locations=places))

    def _end_tool(self, head: ItemHead, fields: JsonObject) -> None:
        item = self._state.items.pop(head.id)
        status = _STATUSES.get(text(fields, "status") or "completed", "done")
        if item.denied and status == "failed":
            status = "denied"
        output = text(fields, "aggregatedOutput") or _result(fields) or item.output
        diffs = diffs_in(head.changes) if status == "done" else ()
        self._out.put(ToolChanged(head.id, status, clip(output, MAX_OUTPUT), diffs))


def _reasoning(fields: JsonObject) -> str:
    parts = [part for part in items(fields, "summary") or items(fields, "content") if isinstance(part, str)]
    return "\n\n".join(parts)


def _name(kind: str, fields: JsonObject) -> str:
    server, tool = text(fields, "server"), text(fields, "tool")
    return clip(f"{MCP}{server}__{tool}" if server and tool else tool or kind, 200)


def _title(kind: str, fields: JsonObject) -> str:
    typed = [text(action, "command") for action in objects(fields, "commandActions")]
    shown = " && ".join(command for command in typed if command)
    named = text(fields, "command") or text(fields, "query") or text(fields, "path")
    shown = shown or named or _name(kind, fields)
    return clip(shown, 300)


def _result(fields: JsonObject) -> str:
    error = text(mapping(fields, "error"), "message")
    parts = [text(part, "text") for part in objects(mapping(fields, "result"), "content")]
    return error or "\n".join(part for part in parts if part)


def _changes(raw: Raw) -> list[JsonObject]:
    try:
        return _list.decode(raw)
    except msgspec.MsgspecError:
        return []


def paths_in(changes: Raw) -> list[str]:
    return [path for change in _changes(changes) if (path := text(change, "path")) is not None]


def title_of_changes(paths: list[str]) -> str:
    if not paths:
        return "Change files"
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return clip(f"Change {paths[0]}{more}", 300)


def diffs_in(changes: Raw) -> tuple[Diff, ...]:
    """Diffs of the changes: new and deleted files come with their content, changed ones with a patch."""
    found: list[Diff] = []
    for change in _changes(changes)[:MAX_DIFFS]:
        path, patch = text(change, "path"), text(change, "diff")
        if path is None or patch is None:
            continue
        match text(mapping(change, "kind"), "type"):
            case "add":
                found.append(whole_file(path, patch))
            case "delete":
                found.append(diff_of(path, patch, ""))
            case _:
                found.append(counted(path, patch))
    return tuple(found)
