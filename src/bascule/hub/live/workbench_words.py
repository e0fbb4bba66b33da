"""Converts entries and log rows to the workbench's chat entries and messages. Pure.

The words are those of its specification: `session:history`, `session:update`, `session:chunk`,
`session:complete`, `session:cancelled`; an entry is a `user`, `assistant`, `thinking` or `tool-call`.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from bascule.model.entries import AnyEntry, PromptEntry, TextEntry, ToolEntry
from bascule.model.events import (
    AnyEvent,
    EntryOpened,
    PromptSent,
    SessionEnded,
    SessionFailed,
    TextAppended,
    TextKind,
    TextSaid,
    ToolChanged,
    ToolStarted,
    ToolStatus,
    TurnEnded,
)


class ChatEntry(Struct, rename="camel", tag_field="type", omit_defaults=True, kw_only=True):
    """`entry_id` is the number of the event that began it: unique in its session, the same after a reload."""

    entry_id: str


class UserEntry(ChatEntry, tag="user", kw_only=True):
    content: str
    timestamp: str


class AssistantEntry(ChatEntry, tag="assistant", kw_only=True, omit_defaults=False):
    content: str = ""
    timestamp: str = ""


class ThinkingEntry(ChatEntry, tag="thinking", kw_only=True, omit_defaults=False):
    content: str = ""


class ToolCallEntry(ChatEntry, tag="tool-call", kw_only=True):
    tool_call_id: str
    name: str
    status: Literal["running", "complete", "error"]
    result: str | None = None
    error: str | None = None


AnyChatEntry = UserEntry | AssistantEntry | ThinkingEntry | ToolCallEntry
STATUS: dict[ToolStatus, Literal["running", "complete", "error"]] = {
    "running": "running",
    "done": "complete",
    "failed": "error",
    "denied": "error",
}


def chat_entry(entry: AnyEntry) -> AnyChatEntry | None:
    """One of a transcript's entries; None for what the workbench has no kind of entry for."""
    name = str(entry.first_seq)
    match entry:
        case PromptEntry():
            return UserEntry(entry_id=name, content=entry.text, timestamp=entry.at)
        case TextEntry():
            return _text(name, entry.voice, entry.text, entry.at)
        case ToolEntry():
            return _called(
                ToolCallEntry(entry_id=name, tool_call_id=entry.tool_id, name=entry.name, status="running"),
                entry.status,
                entry.output,
            )
        case _:
            return None


class WorkbenchWords:
    """One session's stream for one reader. Begun with the entries that the reader has already."""

    def __init__(self, session_id: str, entries: Iterable[AnyEntry] = ()) -> None:
        self._session_id = session_id
        self._texts: dict[str, AssistantEntry | ThinkingEntry] = {}  # that may grow, by the agent's name
        self._tools: dict[str, ToolCallEntry] = {}
        self._last = ""  # the entry that the turn's end finalizes
        for entry in entries:
            known = chat_entry(entry)
            if isinstance(known, UserEntry | AssistantEntry | ToolCallEntry):
                self._last = known.entry_id
            if (
                isinstance(known, AssistantEntry | ThinkingEntry)
                and isinstance(entry, TextEntry)
                and entry.open
            ):
                self._texts[entry.entry_id] = known
            if isinstance(known, ToolCallEntry) and entry.open:
                self._tools[known.tool_call_id] = known

    def messages(self, seq: int, at: str, event: AnyEvent) -> Iterator[dict[str, object]]:
        """What one more event says to the reader, in order."""
        match event:
            case PromptSent():
                yield self._update(UserEntry(entry_id=str(seq), content=event.text, timestamp=at))
            case EntryOpened():
                self._texts[event.entry_id] = opened = _text(str(seq), event.kind, "", at)
                yield self._update(opened)
            case TextAppended():
                yield from self._append(seq, at, event)
            case TextSaid():
                yield self._update(_text(str(seq), event.kind, event.text, at))
            case ToolStarted():
                call = ToolCallEntry(
                    entry_id=str(seq), tool_call_id=event.tool_id, name=event.name, status="running"
                )
                self._tools[event.tool_id] = call
                yield self._update(call)
            case ToolChanged() if event.tool_id in self._tools:
                yield self._update(_called(self._tools[event.tool_id], event.status, event.output))
            case TurnEnded() | SessionEnded() | SessionFailed():
                yield from self._end(event)
            case _:
                pass

    def _append(self, seq: int, at: str, event: TextAppended) -> Iterator[dict[str, object]]:
        entry = self._texts.get(event.entry_id)
        if entry is None:
            entry = self._texts[event.entry_id] = _text(str(seq), event.kind, "", at)
            yield self._update(entry)
        if isinstance(entry, ThinkingEntry):  # thinking has no chunks: each update has all of it
            entry.content += event.text
            yield self._update(entry)
        else:
            yield self._message("session:chunk", entryId=entry.entry_id, content=event.text)

    def _end(self, event: TurnEnded | SessionEnded | SessionFailed) -> Iterator[dict[str, object]]:
        if self._last:
            cancelled = not isinstance(event, TurnEnded) or event.stop_reason == "interrupted"
            yield self._message("session:cancelled" if cancelled else "session:complete", entryId=self._last)
        self._last = ""
        self._texts.clear()
        self._tools.clear()

    def _update(self, entry: AnyChatEntry) -> dict[str, object]:
        if not isinstance(entry, ThinkingEntry):
            self._last = entry.entry_id
        return self._message("session:update", entry=entry)

    def _message(self, kind: str, **fields: object) -> dict[str, object]:
        return {"type": kind, "sessionId": self._session_id, **fields}


def _text(name: str, voice: TextKind, content: str, at: str) -> AssistantEntry | ThinkingEntry:
    if voice == "thinking":
        return ThinkingEntry(entry_id=name, content=content)
    return AssistantEntry(entry_id=name, content=content, timestamp=at)


def _called(call: ToolCallEntry, status: ToolStatus, output: str) -> ToolCallEntry:
    call.status = STATUS[status]
    call.result = output or None if call.status == "complete" else None
    call.error = output or "denied" if call.status == "error" else None
    return call
