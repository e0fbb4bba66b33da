"""Turns a transcript's entries into blocks to export: a heading and text, with secrets redacted."""

from typing import Literal, NamedTuple

import msgspec
from msgspec import Raw

from bascule.hub.export.export_secrets import hide
from bascule.hub.export.export_words import agent_name, who
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
    Image,
    Interrupted,
    Note,
    PermissionAnswered,
    PermissionRequested,
    QuestionAnswered,
    SessionEnded,
    SessionFailed,
    SessionStarted,
    StderrWritten,
    Unrecognised,
)
from bascule.policy.visible import sanitize, visible

TROUBLES = {
    "error": "The agent stopped with an error",
    "max_tokens": "The answer was cut off at the agent’s length limit",
    "refusal": "The agent declined to continue",
    "other": "The turn ended early",
}
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Block(NamedTuple):
    """`prose` is what people and agents say, `code` is exact, `note` is a line between."""

    look: Literal["prose", "code", "note"]
    text: str


class Section(NamedTuple):
    """One entry: who or what, when, and its blocks. All its text is safe to show, none of it is escaped."""

    kind: str
    heading: str
    at: str
    blocks: list[Block]
    images: tuple[Image, ...] = ()


def section_of(entry: AnyEntry) -> Section:
    match entry:
        case PromptEntry():
            words, pictures = [_prose(entry.text)], _shown(entry.images)
            return Section("prompt", _exact(who(entry.by) or "You"), entry.at, words, pictures)
        case TextEntry():
            heading = "Thinking" if entry.voice == "thinking" else "Agent"
            return Section(entry.voice, heading, entry.at, [_prose(entry.text)])
        case ToolEntry():
            return _tool(entry)
        case PlanEntry():
            marks = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}
            lines = [f"{marks[item.status]} {item.text}" for item in entry.items]
            return Section("plan", "Plan", entry.at, [_code("\n".join(lines))])
        case RequestEntry():
            return _request(entry)
        case TurnEntry():
            trouble = TROUBLES.get(entry.ended.stop_reason)
            blocks = [_note(trouble, entry.ended.message)] if trouble else []
            return Section("turn", "", entry.at, blocks)
        case EventEntry():
            return Section("event", "", entry.at, [_note(*_happened(entry))])


def _tool(entry: ToolEntry) -> Section:
    blocks = [_code(_json(entry.input))]
    blocks += [_code(f"{diff.path}\n{diff.patch}") for diff in entry.diffs]
    if entry.output:
        blocks.append(_code(entry.output))
    heading = _exact(f"{entry.name}: {entry.title} ({entry.status})")
    return Section("tool", heading, entry.at, blocks, _shown(entry.images))


def _request(entry: RequestEntry) -> Section:
    asked = entry.asked
    if isinstance(asked, PermissionRequested):
        blocks = [_code(_json(asked.input))]
        heading = f"Permission: {asked.title}"
    else:
        blocks = [_prose("\n".join(one.question for one in asked.questions))]
        heading = "Question"
    match entry.answer:
        case PermissionAnswered(decision=decision, by=by, message=message):
            verb = "Allowed" if decision == "allow" else "Denied"
            blocks.append(_note(f"{verb} by {who(by)}" if who(by) else verb, message))
        case QuestionAnswered(by=by, answers=answers, message=message):
            words = "; ".join(f"{question}: {answer}" for question, answer in answers.items())
            blocks.append(_note(f"{words or 'Declined'}{f' ({who(by)})' if who(by) else ''}", message))
        case None:
            blocks.append(_note(entry.state, entry.reason))
    return Section("request", _exact(heading), entry.at, blocks)


def _happened(entry: EventEntry) -> tuple[str, str | None]:
    event = entry.event
    match event:
        case Note() | StderrWritten():
            return event.text, None
        case SessionStarted():
            by = f" by {who(event.by)}" if who(event.by) else ""
            return f"Started with {agent_name(event.agent)} in {event.cwd}{by}", None
        case SessionEnded() | SessionFailed():
            return "Session ended", event.message
        case Interrupted():
            return f"This turn was stopped{f' by {who(event.by)}' if who(event.by) else ''}", None
        case Unrecognised():
            return f"Not understood: {event.reason}", event.raw


def _json(raw: Raw) -> str:
    return msgspec.json.format(bytes(raw), indent=2).decode(errors="replace")


def _shown(images: tuple[Image, ...]) -> tuple[Image, ...]:
    return tuple(image for image in images if image.media_type in PICTURES)


def _exact(text: str) -> str:
    return visible(hide(" ".join(text.split())))


def _prose(text: str) -> Block:
    return Block("prose", sanitize(hide(text)))


def _code(text: str) -> Block:
    return Block("code", visible(hide(text)))


def _note(words: str, more: str | None) -> Block:
    return Block("note", visible(hide(f"{words}: {more}" if more else words)))
