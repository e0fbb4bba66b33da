"""The searchable text of an entry: plain, of a bounded length."""

import re
from typing import Any, cast

import msgspec

from bascule.model.entries import (
    AnyEntry,
    EventEntry,
    PlanEntry,
    PromptEntry,
    RequestEntry,
    TextEntry,
    ToolEntry,
    TurnEntry,
)
from bascule.model.events import (
    Interrupted,
    Note,
    QuestionAnswered,
    QuestionAsked,
    SessionEnded,
    SessionFailed,
    SessionStarted,
    StderrWritten,
    Unrecognised,
)

MAX_SAID = 32 * 1024  # characters of a prompt or an answer
MAX_INPUT = 4 * 1024  # of a tool's input
MAX_OUTPUT = 8 * 1024  # of what it gave

VERBS = {
    "execute": "Run",
    "edit": "Edit",
    "read": "Read",
    "search": "Search",
    "fetch": "Fetch",
    "agent": "Agent",
}

_marks = re.compile(r'(?<![\w])"|"(?![\w])|[{}]')
_escape = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)


def text_of(entry: AnyEntry) -> str:
    """Empty when there is nothing to search for."""
    match entry:
        case PromptEntry() | TextEntry():
            return entry.text[:MAX_SAID]
        case ToolEntry():
            given = _unescaped(bytes(entry.input)[:MAX_INPUT])
            return f"{entry.title}\n{given}\n{entry.output[:MAX_OUTPUT]}"
        case PlanEntry():
            return "\n".join(item.text for item in entry.items)[:MAX_SAID]
        case RequestEntry():
            return _asked(entry)[:MAX_SAID]
        case EventEntry():
            return _happened(entry)[:MAX_OUTPUT]
        case TurnEntry():
            return ""


def shown_of(entry: AnyEntry) -> str:
    """The same as people read it: what a tool did and to what, without the names of its fields.

    The index keeps its own words.
    """
    if not isinstance(entry, ToolEntry):
        return text_of(entry)
    verb = VERBS.get(entry.tool_kind, entry.name)
    title = "" if entry.title in (entry.name, verb) else entry.title
    values = [value for value in _values(bytes(entry.input)) if value != title]
    return " ".join([verb, title, *values, entry.output[:MAX_OUTPUT]])


def _values(given: bytes) -> list[str]:
    """The words in a tool's input, in their order."""
    found: list[str] = []
    try:
        waiting: list[Any] = [msgspec.json.decode(given)]
    except msgspec.DecodeError:
        return [_marks.sub("", _unescaped(given[:MAX_INPUT]))]
    while waiting and sum(map(len, found)) < MAX_INPUT:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value[:MAX_INPUT])
        elif isinstance(value, list):
            waiting += reversed(cast("list[Any]", value))
        elif isinstance(value, dict):
            waiting += reversed(list(cast("dict[str, Any]", value).values()))
    return found


def _asked(entry: RequestEntry) -> str:
    """Questions with their answers. A permission's words are those of its tool, which has its own entry."""
    if not isinstance(entry.asked, QuestionAsked):
        return ""
    lines = [question.question for question in entry.asked.questions]
    if isinstance(entry.answer, QuestionAnswered):
        lines += entry.answer.answers.values()
    return "\n".join(lines)


def _happened(entry: EventEntry) -> str:
    match entry.event:
        case Note() | StderrWritten():
            return entry.event.text
        case SessionFailed():
            return entry.event.message
        case SessionEnded():
            return entry.event.message or ""
        case SessionStarted() | Interrupted() | Unrecognised():
            return ""


def _unescaped(json: bytes) -> str:
    """JSON as words: without undoing its escapes, "\\nfoo" would be found as `nfoo` only."""
    return _escape.sub(_plain, json.decode(errors="replace"))


def _plain(escape: re.Match[str]) -> str:
    code = escape[1]
    if code is None:
        return " "
    letter = chr(int(code, 16))
    return " " if 0xD800 <= ord(letter) <= 0xDFFF else letter
