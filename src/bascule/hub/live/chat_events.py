"""Converts log rows to the chat API's SSE messages. Pure."""

from functools import lru_cache

import msgspec
from msgspec import Raw, Struct, ValidationError

from bascule.hub.feed.feed import Encoder
from bascule.hub.feed.positions import WORDS, Reason, wire_id
from bascule.model.codec import decode_logged, decode_logged_raw, encode
from bascule.model.events import (
    AnyEvent,
    PermissionRequested,
    PromptSent,
    SessionEnded,
    SessionFailed,
    SessionReady,
    SessionStarted,
    StderrWritten,
    TextAppended,
    TextSaid,
    Unrecognised,
    snake,
)
from bascule.model.lifecycle import Phase, chat_status
from bascule.model.records import SessionRecord


class ChatData(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The base of what a chat event carries."""


class SessionStatus(ChatData, frozen=True):
    status: str
    code: int | None = None
    signal: int | None = None
    error: str | None = None


class UserMessage(ChatData, frozen=True):
    text: str
    client_message_id: str | None = None


class AssistantText(ChatData, frozen=True):
    text: str


class PermissionRequest(Struct, frozen=True, rename="camel"):
    request_id: str
    tool_name: str
    input: Raw
    suggestions: tuple[Raw, ...]
    tool_use_id: str | None
    input_sha256: str


class Stderr(ChatData, frozen=True):
    message: str


class ChatError(ChatData, frozen=True):
    message: str
    line: str | None = None


def chat_event(event: AnyEvent) -> tuple[str, Struct]:
    """The event's name and data: the chat API's where it has one, else our own."""
    match event:
        case SessionStarted():
            return "session_status", SessionStatus("starting")
        case SessionReady():
            return "session_status", SessionStatus("running")
        case SessionEnded():
            status = chat_status(Phase.ENDED, event.reason)
            return "session_status", SessionStatus(status, event.code, event.signal, event.message)
        case SessionFailed():
            return "session_status", SessionStatus("error", event.code, event.signal, event.message)
        case PromptSent():
            return "user_message", UserMessage(event.text, event.client_message_id)
        case TextAppended(kind="assistant"):
            return "assistant_text", AssistantText(event.text)
        case PermissionRequested():
            return "permission_request", _permission(event)
        case StderrWritten():
            return "claude_stderr", Stderr(event.text)
        case Unrecognised():
            return "error", ChatError(f"The agent said something unknown: {event.reason}", event.raw)
        case _:
            return snake(type(event).__name__), event


def _permission(event: PermissionRequested) -> PermissionRequest:
    return PermissionRequest(
        event.request_id, event.tool, event.input, event.suggestions, event.tool_id, event.input_sha256
    )


def status_now(record: SessionRecord) -> bytes:
    """The first message of a stream. It has no id, so the reader's position stays as it was."""
    error = record.end_message if record.phase is Phase.FAILED else None
    status = SessionStatus(chat_status(record.phase, record.end_reason), record.code, record.signal, error)
    return sse_message("session_status", encode(status))


def sse_message(name: str, data: bytes, place: bytes | None = None) -> bytes:
    # JSON as we encode it has no line break, but an agent's own raw JSON in it may.
    lines = data.replace(b"\r", b" ").replace(b"\n", b" ")
    head = b"" if place is None else b"id: %s\n" % place
    return b"%sevent: %s\ndata: %s\n\n" % (head, name.encode(), lines)


@lru_cache(maxsize=4096)  # sessions that are read at the same time
def sse_encoder(tag: str) -> Encoder:
    """Makes SSE of some rows, once for all who read the same session. Their ids have its tag.

    It is the same one for the same tag, as deliveries keep what each encoder made.
    """
    return lambda delivery: b"".join([_row_message(row.body, tag) for row in delivery.rows])


def resync_message(reason: Reason, epoch: str, tag: str) -> bytes:
    """Tells a reader that it has to start over. Its id is a beginning, so that a browser that comes back
    by itself reads from there instead of getting the same again."""
    data = {"after": 0, "epoch": epoch, "reason": reason, "message": WORDS[reason]}
    return sse_message("resync", encode(data), wire_id(0, tag))


def _row_message(body: bytes, tag: str) -> bytes:
    try:
        logged = decode_logged(body)
    except ValidationError:
        return _unknown_message(body, tag)
    *before, last = logged.event.in_pieces() if isinstance(logged.event, TextSaid) else (logged.event,)
    # Only the last message of a row moves the reader's position: one cut off in between gets them all again.
    head = b"".join([sse_message(name, encode(data)) for name, data in map(chat_event, before)])
    name, data = chat_event(last)
    return head + sse_message(name, encode(data), wire_id(logged.seq, tag))


class _Tag(Struct):
    type: str


def _unknown_message(body: bytes, tag: str) -> bytes:
    """An event this version does not know, written by a newer one: passed on under its own name."""
    logged = decode_logged_raw(body)
    name = msgspec.json.decode(logged.event, type=_Tag).type
    return sse_message(snake(name), bytes(logged.event), wire_id(logged.seq, tag))
