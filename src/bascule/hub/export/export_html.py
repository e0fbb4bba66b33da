"""Writes a transcript as one HTML page in the page's own look: styles inside, no script, nothing loaded."""

import base64
import binascii
import hashlib
import html
import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from bascule.hub.export.export_blocks import PICTURES
from bascule.hub.export.export_prose import prose
from bascule.hub.export.export_tools import tool_body
from bascule.hub.export.export_words import (
    asked_for,
    clock,
    day,
    duration,
    exact,
    facts,
    one_line,
    said,
    seconds_between,
    tool_line,
    who,
)
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
    QuestionAnswered,
    QuestionAsked,
    SessionEnded,
    SessionFailed,
    SessionStarted,
    StderrWritten,
    Unrecognised,
)
from bascule.model.records import SessionRecord

SHEETS = (
    "tokens.css",
    "transcript/base.css",
    "code.css",
    "diff.css",
    *(f"transcript/{name}.css" for name in ("column", "message", "tool", "output", "turn", "export")),
)
FOLD_LINES = 12
PATH_KINDS = ("read", "edit")
STEPS = {"completed": ("is-done", "☑"), "in_progress": ("is-running", "◐"), "pending": ("is-pending", "☐")}


@cache
def stylesheet() -> str:
    folder = files("bascule") / "web" / "css"
    whole = "".join((folder / name).read_text() for name in SHEETS)
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", whole, flags=re.DOTALL)).strip()


@cache
def policy() -> str:
    """Nothing is loaded and nothing runs; of styles only the page's own hold."""
    digest = base64.b64encode(hashlib.sha256(stylesheet().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def opening(record: SessionRecord) -> str:
    title = html.escape(one_line(record.title or record.session_id))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy())}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark">'
        f"<title>{title}</title><style>{stylesheet()}</style></head>\n"
        f'<body class="export"><main class="transcript"><header class="export__head">'
        f'<h1 dir="auto">{title}</h1><p>{html.escape(facts(record))}</p></header>\n'
    )


CLOSING = "</main></body></html>\n"


class HtmlTranscript:
    """Entries in their order as HTML. It knows the calls and waits so far, so a page at a time is enough."""

    def __init__(self, record: SessionRecord) -> None:
        self._record = record
        self._day = day(record.created_at)
        self._tools: set[str] = set()
        self._waits: dict[str, float] = {}  # by tool call: how long it waited for a person

    def part(self, entries: list[AnyEntry]) -> str:
        for entry in entries:
            if isinstance(entry, ToolEntry):
                self._tools.add(entry.tool_id)
            if isinstance(entry, RequestEntry) and entry.asked.tool_id:
                waited = seconds_between(entry.at, entry.settled_at)
                self._waits[entry.asked.tool_id] = self._waits.get(entry.asked.tool_id, 0.0) + waited
        return "".join(self._block(entry) for entry in entries)

    def _block(self, entry: AnyEntry) -> str:
        inner = self._entry(entry)
        if not inner:
            return ""
        line = " line" if inner.startswith("<details") else ""
        if isinstance(entry, TextEntry | ToolEntry) and entry.parent:
            inner = f'<div class="tool-group__body">{inner}</div>'
        return f'{self._new_day(entry.at)}<div class="block{line}">{inner}</div>\n'

    def _new_day(self, at: str) -> str:
        today = day(at)
        if today == self._day:
            return ""
        self._day = today
        return f'<div class="block"><div class="gap-line">{html.escape(today)}</div></div>\n'

    def _entry(self, entry: AnyEntry) -> str:
        match entry:
            case PromptEntry():
                return _prompt(entry)
            case TextEntry():
                return _text(entry)
            case ToolEntry():
                return self._tool(entry)
            case PlanEntry():
                return _plan(entry)
            case RequestEntry():
                return self._request(entry)
            case TurnEntry():
                return _turn(entry)
            case EventEntry():
                return _event(entry)

    def _tool(self, entry: ToolEntry) -> str:
        line = tool_line(entry, self._record.cwd, self._waits.get(entry.tool_id, 0.0))
        counts = _counts(entry)
        return (
            f'<details class="tool is-{entry.status} k-{html.escape(entry.tool_kind)}"><summary>'
            f'<span class="entry-line__verb">{html.escape(one_line(line.verb))}</span>'
            f"{_target(line.target, entry.tool_kind)}"
            f'<span class="meta">{counts or html.escape(line.outcome)}</span></summary>'
            f'<div class="tool__body">{tool_body(entry, self._record.cwd)}{_pictures(entry.images)}</div>'
            f"</details>"
        )

    def _request(self, entry: RequestEntry) -> str:
        asked, answer = entry.asked, entry.answer
        if isinstance(asked, QuestionAsked):
            return _question(asked, answer if isinstance(answer, QuestionAnswered) else None)
        purpose = asked_for(asked.kind, asked.tool)
        if not isinstance(answer, PermissionAnswered):
            over = "has no answer yet" if entry.state == "open" else "was withdrawn"
            return _note(f"The request to {purpose} {over}.")
        if answer.decision == "allow" and asked.tool_id in self._tools:
            return ""  # its tool call shows it
        verb = "allowed" if answer.decision == "allow" else "denied"
        by = f" by {who(answer.by)}" if who(answer.by) else ""
        return _note(
            f"The request to {purpose} was {verb}{by} at {clock(entry.settled_at or entry.at)}.", answer
        )


def _prompt(entry: PromptEntry) -> str:
    lines = said(entry.text).split("\n")
    first, rest = "\n".join(lines[:FOLD_LINES]), "\n".join(lines[FOLD_LINES:])
    more = (
        f'<details class="user-message__rest"><summary>Show all {len(lines)} lines</summary>'
        f'<div class="said" dir="auto">{html.escape(rest)}</div></details>'
        if rest
        else ""
    )
    foot = " · ".join(word for word in (who(entry.by), clock(entry.at)) if word)
    return (
        f'<section class="user-message">{_pictures(entry.images)}'
        f'<div class="said" dir="auto">{html.escape(first)}</div>{more}'
        f"<footer>{html.escape(foot)}</footer></section>"
    )


def _text(entry: TextEntry) -> str:
    if not entry.text.strip():
        return ""
    words = prose(said(entry.text))
    if entry.voice == "assistant":
        return f'<div class="agent-message"><div class="part">{words}</div></div>'
    return (
        f'<details class="entry-line think"><summary><span class="entry-line__verb">Thought</span>'
        f'<span class="entry-line__words">{html.escape(one_line(entry.text[:300]))}</span></summary>'
        f'<div class="agent-message small"><div class="part">{words}</div></div></details>'
    )


def _plan(entry: PlanEntry) -> str:
    done = sum(item.status == "completed" for item in entry.items)
    rows = "".join(
        f'<li class="{STEPS[item.status][0]}"><span>{STEPS[item.status][1]}</span>'
        f"<span>{html.escape(said(item.text))}</span></li>"
        for item in entry.items
    )
    head = f"<header><b>Plan</b><span>{done} of {len(entry.items)}</span></header>"
    return f'<section class="plan">{head}<ol>{rows}</ol></section>'


def _question(asked: QuestionAsked, answer: QuestionAnswered | None) -> str:
    given = answer.answers if answer else {}
    rows = "".join(
        f"<dt>{html.escape(said(question.question))}</dt>"
        f"<dd>{html.escape(said(given.get(question.question, 'No answer')))}</dd>"
        for question in asked.questions
    )
    summary = '<summary><span class="entry-line__verb">Question</span></summary>'
    answers = f'<div class="tool__body"><dl class="question-answers">{rows}</dl></div>'
    return f'<details class="tool" open>{summary}{answers}</details>'


class _Message(NamedTuple):
    message: str | None


def _note(words: str, about: PermissionAnswered | _Message | None = None, tone: str = "") -> str:
    more = f"<small>{html.escape(said(about.message)[:4000])}</small>" if about and about.message else ""
    return f'<div class="event-note {tone}"><span>{html.escape(words)}{more}</span></div>'


def _turn(entry: TurnEntry) -> str:
    ended = entry.ended
    troubles = {
        "error": "The agent stopped with an error.",
        "max_tokens": "The answer was cut off at the agent’s length limit.",
        "refusal": "The agent declined to continue.",
        "other": "The turn ended early.",
    }
    trouble = (
        _note(troubles[ended.stop_reason], _Message(ended.message), "bad")
        if ended.stop_reason in troubles
        else ""
    )
    usage = ended.usage
    spent = usage.input_tokens + usage.output_tokens + usage.cache_write_tokens if usage else 0
    words = [duration(ended.duration_ms / 1000)] if ended.duration_ms else []
    words += [f"{spent:,} tokens"] if spent else []
    foot = (
        f'<footer class="turn__foot"><span class="meta">{" · ".join(words)}</span></footer>' if words else ""
    )
    return f'<div class="turn">{trouble}{foot}</div>' if trouble or foot else ""


def _event(entry: EventEntry) -> str:
    event = entry.event
    match event:
        case Note():
            return _note(said(event.text), tone="bad" if event.level == "error" else "")
        case Interrupted():
            by = f" by {who(event.by)}" if who(event.by) else ""
            return _note(f"This turn was stopped{by}.")
        case SessionStarted():
            by = f" by {who(event.by)}" if who(event.by) else ""
            return "" if entry.first_seq == 1 else _gap(f"Resumed{by} · {clock(entry.at)}")
        case SessionEnded():
            return _gap(f"Session ended · {clock(entry.at)}") + _output("What it said", event.message)
        case SessionFailed():
            return _note(said(event.message), tone="bad") + _output("What it said", event.stderr_tail)
        case StderrWritten():
            return _output("The agent’s error output", event.text)
        case Unrecognised():
            return _output("Something Bascule does not recognise yet", event.raw)


def _gap(words: str) -> str:
    return f'<div class="gap-line">{html.escape(words)}</div>'


def _output(title: str, text: str | None) -> str:
    if not text:
        return ""
    summary = f'<summary><span class="entry-line__verb">{title}</span></summary>'
    body = html.escape(exact(text))
    return (
        f'<details class="entry-line stderr-line">{summary}<pre class="tool__output">{body}</pre></details>'
    )


def _target(target: str, kind: str) -> str:
    """What a call is about. A path that does not fit loses folders, never its file's name."""
    folder, slash, name = one_line(target).rpartition("/")
    if kind not in PATH_KINDS or not slash or not name:
        return f"<code>{html.escape(one_line(target))}</code>"
    return f'<code class="is-path"><span>{html.escape(folder)}/</span><b>{html.escape(name)}</b></code>'


def _counts(entry: ToolEntry) -> str:
    added, removed = sum(diff.added for diff in entry.diffs), sum(diff.removed for diff in entry.diffs)
    if entry.status != "done" or not (added or removed):
        return ""
    return (
        f'<span class="line-counts"><b class="line-counts__added">+{added}</b>'
        f'<b class="line-counts__removed">−{removed}</b></span>'
    )


def _pictures(images: tuple[Image, ...]) -> str:
    return "".join(_picture(image) for image in images if image.media_type in PICTURES)


def _picture(image: Image) -> str:
    try:
        base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError):
        return ""
    return f'<img class="picture" alt="" src="data:{image.media_type};base64,{image.data}">'
