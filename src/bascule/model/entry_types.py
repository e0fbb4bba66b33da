"""The entries of a transcript: prompts, texts, tool calls, plans, requests, turns and single lines."""

from typing import Literal

from msgspec import Raw, Struct

from bascule.model.events import (
    EMPTY_OBJECT,
    Diff,
    Image,
    Interrupted,
    Location,
    Note,
    PermissionAnswered,
    PermissionRequested,
    PlanItem,
    QuestionAnswered,
    QuestionAsked,
    SessionEnded,
    SessionFailed,
    SessionStarted,
    StderrWritten,
    TextKind,
    ToolKind,
    ToolStatus,
    TurnEnded,
    Unrecognised,
)


class Entry(Struct, tag_field="kind", omit_defaults=True, kw_only=True, gc=False):
    """One thing in the transcript. `first_seq` is its name: exactly one event begins an entry."""

    first_seq: int
    last_seq: int
    at: str
    open: bool = False


class PromptEntry(Entry, tag="prompt", kw_only=True):
    prompt_id: str
    text: str
    by: str
    client_message_id: str | None = None
    images: tuple[Image, ...] = ()


class TextEntry(Entry, tag="text", kw_only=True):
    entry_id: str
    voice: TextKind
    text: str = ""
    parent: str | None = None


class ToolEntry(Entry, tag="tool", kw_only=True):
    tool_id: str
    name: str
    title: str
    tool_kind: ToolKind = "other"
    input: Raw = EMPTY_OBJECT
    status: ToolStatus = "running"
    output: str = ""
    diffs: tuple[Diff, ...] = ()
    locations: tuple[Location, ...] = ()
    images: tuple[Image, ...] = ()
    parent: str | None = None
    finished_at: str | None = None


class PlanEntry(Entry, tag="plan", kw_only=True):
    items: tuple[PlanItem, ...]


class RequestEntry(Entry, tag="request", kw_only=True):
    request_id: str
    state: Literal["open", "answered", "withdrawn"]
    asked: PermissionRequested | QuestionAsked
    answer: PermissionAnswered | QuestionAnswered | None = None
    reason: str | None = None
    settled_at: str | None = None  # answered or withdrawn; unknown in entries folded by older versions


class TurnEntry(Entry, tag="turn", kw_only=True):
    ended: TurnEnded


class EventEntry(Entry, tag="event", kw_only=True):
    """Anything else worth a line: notes, stderr, endings, what was not understood.

    A lost agent is one entry, open until it is back (`back`) or was given up, however many tries that takes.
    """

    event: Note | StderrWritten | SessionStarted | SessionEnded | SessionFailed | Interrupted | Unrecognised
    attempt: int = 0
    attempts: int = 0
    back: bool = False


AnyEntry = PromptEntry | TextEntry | ToolEntry | PlanEntry | RequestEntry | TurnEntry | EventEntry
