"""Turns a transcript's entries into blocks to export: a heading and text, with secrets redacted."""

from typing import Literal, NamedTuple

import msgspec
from msgspec import Raw

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
from bascule.policy.redact import redact
from bascule.policy.visible import tame, visible

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
            return Section("prompt", _exact(entry.by or "prompt"), entry.at, words, pictures)
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
            words = f"Turn ended: {entry.ended.stop_reason}"
            return Section("turn", "", entry.at, [_note(words, entry.ended.message)])
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
            blocks.append(_note(f"{decision} by {by}", message))
        case QuestionAnswered(by=by, answers=answers, message=message):
            words = "; ".join(f"{question}: {answer}" for question, answer in answers.items())
            blocks.append(_note(f"{words or 'declined'} ({by})", message))
        case None:
            blocks.append(_note(entry.state, entry.reason))
    return Section("request", _exact(heading), entry.at, blocks)


def _happened(entry: EventEntry) -> tuple[str, str | None]:
    event = entry.event
    match event:
        case Note() | StderrWritten():
            return event.text, None
        case SessionStarted():
            return f"Session started with {event.agent} in {event.cwd} by {event.by}", None
        case SessionEnded() | SessionFailed():
            return f"Session over: {event.reason}", event.message
        case Interrupted():
            return f"Interrupted by {event.by}", None
        case Unrecognised():
            return f"Not understood: {event.reason}", event.raw


def _json(raw: Raw) -> str:
    return msgspec.json.format(bytes(raw), indent=2).decode(errors="replace")


def _shown(images: tuple[Image, ...]) -> tuple[Image, ...]:
    return tuple(image for image in images if image.media_type in PICTURES)


def _exact(text: str) -> str:
    return visible(redact(" ".join(text.split())))


def _prose(text: str) -> Block:
    return Block("prose", tame(redact(text)))


def _code(text: str) -> Block:
    return Block("code", visible(redact(text)))


def _note(words: str, more: str | None) -> Block:
    return Block("note", visible(redact(f"{words}: {more}" if more else words)))
