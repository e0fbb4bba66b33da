"""Wording of exports: verbs and targets of tool calls, durations, dates and actors."""

import re
from datetime import datetime
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import Raw

from bascule.hub.export.export_secrets import hide
from bascule.model.entries import ToolEntry
from bascule.model.records import SessionRecord
from bascule.policy.visible import sanitize, visible

VERBS = {
    "execute": "Run",
    "edit": "Edit",
    "read": "Read",
    "search": "Search",
    "fetch": "Fetch",
    "think": "Think",
    "agent": "Agent",
    "plan": "Plan",
    "question": "Question",
}
ASKED = {"execute": "run a command", "edit": "edit a file", "plan": "go ahead with its plan"}
STATES = {"failed": "failed", "denied": "denied", "running": "not finished"}
# By the kind of tool, the fields of its input that say what it is about.
TARGETS = {
    "execute": ("command", "cmd"),
    "search": ("pattern", "query"),
    "fetch": ("url", "query"),
    "agent": ("description",),
}
PATHS = ("file_path", "notebook_path", "path")
NOBODY = ("", "owner")  # a name that says nothing: the first browser has it until its owner sets another
AGENTS = {"claude-code": "Claude Code", "opencode": "opencode", "qwen": "Qwen Code", "demo": "The demo agent"}


class Line(NamedTuple):
    verb: str
    target: str
    outcome: str


def exact(text: str) -> str:
    return visible(hide(text))


def said(text: str) -> str:
    return sanitize(hide(text))


def one_line(text: str) -> str:
    return " ".join(exact(text).split())


def input_of(raw: Raw) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def tool_line(entry: ToolEntry, cwd: str, waited: float) -> Line:
    """A call in one line, as the page says it."""
    given = input_of(entry.input)
    verb = "Write" if entry.tool_kind == "edit" and entry.name == "Write" else VERBS.get(entry.tool_kind)
    served = re.fullmatch(r"mcp__(.+?)__(.+)", entry.name)
    target = _first(given, TARGETS.get(entry.tool_kind, PATHS)) or (
        served[2] if served else "" if entry.title == entry.name else entry.title
    )
    if entry.tool_kind not in TARGETS:
        target = near(target, cwd)
    return Line(verb or (served[1] if served else entry.name), target.split("\n")[0], _outcome(entry, waited))


def _first(given: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((given[name] for name in names if isinstance(given.get(name), str) and given[name]), "")


def _outcome(entry: ToolEntry, waited: float) -> str:
    if entry.status in STATES:
        return STATES[entry.status]
    took = seconds_between(entry.at, entry.finished_at) - waited
    lines = len(entry.output.rstrip().split("\n"))
    words = [f"{lines} {'line' if lines == 1 else 'lines'}"] if entry.tool_kind == "read" else []
    words += [duration(took)] if took >= 1 else []
    return " · ".join(words)


def near(path: str, cwd: str) -> str:
    """A path as short as the session's folder allows."""
    return path.removeprefix(f"{cwd}/") if cwd else path


def seconds_between(begun: str, over: str | None) -> float:
    return max(0.0, (_moment(over) - _moment(begun)).total_seconds()) if over else 0.0


def duration(seconds: float) -> str:
    if seconds < 10:
        return f"{round(seconds, 1):g} s"
    if seconds < 60:
        return f"{round(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def clock(at: str) -> str:
    return f"{_moment(at):%H:%M}"


def day(at: str) -> str:
    moment = _moment(at)
    return f"{moment:%A}, {moment.day} {moment:%B %Y}"


def _moment(at: str) -> datetime:
    """In the time zone of the machine that writes the file."""
    return datetime.fromisoformat(at).astimezone()


def who(by: str | None) -> str:
    """Empty for a name that would tell a reader nothing."""
    return "" if by is None or by in NOBODY else one_line(by)


def agent_name(agent: str) -> str:
    return AGENTS.get(agent) or one_line(agent).replace("-", " ").capitalize()


def asked_for(kind: str, tool: str) -> str:
    return ASKED.get(kind) or f"use {one_line(tool)}"


def facts(record: SessionRecord) -> str:
    """ "Claude Code in /code/lantern, started by Mira on Tuesday, 17 November 2026 at 12:05" """
    by = f" by {who(record.created_by)}" if who(record.created_by) else ""
    begun = f"{day(record.created_at)} at {clock(record.created_at)}"
    return f"{agent_name(record.agent)} in {one_line(record.cwd)}, started{by} on {begun}"
