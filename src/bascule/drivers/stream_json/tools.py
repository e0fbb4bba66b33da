"""Describes Claude Code's tools: kind, title, plan and diffs of a call; permission suggestions in words."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Raw

from bascule.drivers.lenient import (
    DECODE_ERRORS,
    JsonObject,
    as_object,
    clip,
    items,
    loosely,
    mapping,
    objects,
    text,
    whole,
)
from bascule.model.events import Diff, Location, PlanItem, ToolKind

MAX_TITLE = 300
MAX_PATCH = 512 * 1024

KINDS: dict[str, ToolKind] = {
    "Bash": "execute",
    "BashOutput": "execute",
    "KillShell": "execute",
    "KillBash": "execute",
    "Monitor": "execute",
    "Write": "edit",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Read": "read",
    "NotebookRead": "read",
    "LS": "read",
    "Glob": "search",
    "Grep": "search",
    "ToolSearch": "search",
    "WebSearch": "search",
    "web_search": "search",
    "WebFetch": "fetch",
    "web_fetch": "fetch",
    "Task": "agent",
    "Agent": "agent",
    "SendMessage": "agent",
    "Workflow": "agent",
    "TodoWrite": "plan",
    "TodoRead": "plan",
    "EnterPlanMode": "plan",
    "ExitPlanMode": "plan",
    "AskUserQuestion": "question",
}

# The input field that describes a call best, and the text before it.
_TITLES: dict[str, tuple[str, str]] = {
    "Bash": ("", "command"),
    "Write": ("Write ", "file_path"),
    "Edit": ("Edit ", "file_path"),
    "MultiEdit": ("Edit ", "file_path"),
    "NotebookEdit": ("Edit ", "notebook_path"),
    "Read": ("Read ", "file_path"),
    "NotebookRead": ("Read ", "notebook_path"),
    "LS": ("List ", "path"),
    "Glob": ("Find ", "pattern"),
    "Grep": ("Search for ", "pattern"),
    "ToolSearch": ("Look for a tool: ", "query"),
    "WebSearch": ("Search the web: ", "query"),
    "WebFetch": ("Fetch ", "url"),
    "Task": ("", "description"),
    "Agent": ("", "description"),
    "Skill": ("Use the skill ", "skill"),
    "BashOutput": ("Read the output of ", "bash_id"),
    "KillShell": ("Stop the shell ", "shell_id"),
}
_FIXED_TITLES = {
    "TodoWrite": "Update the plan",
    "TodoRead": "Read the plan",
    "EnterPlanMode": "Start planning",
    "ExitPlanMode": "Plan to approve",
}


def _decoder_of(field: str) -> Callable[[Raw], Any]:
    """Reads one field of a call's input, and skips all others."""
    input_of = msgspec.defstruct("Input", [("about", object, None)], rename={"about": field}, gc=False)
    return msgspec.json.Decoder(input_of).decode


_ABOUT = {name: _decoder_of(field) for name, (_, field) in _TITLES.items()}


def kind_of(name: str) -> ToolKind:
    return KINDS.get(name, "other")


def title_of_raw(name: str, call: Raw) -> str:
    """The title of a call whose input nobody has decoded: for a known tool, one of its fields is enough."""
    decode = _ABOUT.get(name)
    if decode is None:
        return title_of(name, loosely(call))
    try:
        about: object = decode(call).about
    except DECODE_ERRORS:
        return name
    return clip(f"{_TITLES[name][0]}{about}", MAX_TITLE) if about and isinstance(about, str) else name


def title_of(name: str, call: JsonObject) -> str:
    described = _TITLES.get(name)
    if described is not None:
        about = text(call, described[1])
        return clip(f"{described[0]}{about}" if about else name, MAX_TITLE)
    if name in _FIXED_TITLES:
        return _FIXED_TITLES[name]
    if name == "AskUserQuestion":
        asked = [text(question, "question") or "" for question in objects(call, "questions")]
        return clip(" / ".join(filter(None, asked)) or "A question", MAX_TITLE)
    if name.startswith("mcp__") and name.count("__") >= 2:
        _, server, tool = name.split("__", 2)
        return clip(f"{server}: {tool}", MAX_TITLE)
    return clip(name, MAX_TITLE)


PLANS = "TodoWrite"  # the tool whose calls set the plan


def plan_in(name: str, call: JsonObject) -> tuple[PlanItem, ...] | None:
    """The plan that such a call sets; None for other calls."""
    if name != PLANS or not isinstance(call.get("todos"), list):
        return None
    return tuple(_plan_item(todo) for todo in objects(call, "todos"))


def _plan_item(todo: JsonObject) -> PlanItem:
    status = text(todo, "status")
    return PlanItem(
        clip(text(todo, "content") or "", MAX_TITLE * 4),
        status if status in ("in_progress", "completed") else "pending",
        text(todo, "activeForm"),
    )


def diffs_in(outcome: JsonObject) -> tuple[Diff, ...]:
    """The diff of a finished edit: its `structuredPatch`, or the whole file if it is new."""
    path = text(outcome, "filePath")
    if path is None:
        return ()
    hunks = objects(outcome, "structuredPatch")
    content = text(outcome, "content")
    if not hunks and text(outcome, "type") == "create" and content is not None:
        hunks = [_whole_file(content)]
    if not hunks:
        return ()
    return (_diff(path, hunks),)


def _whole_file(content: str) -> JsonObject:
    lines = content.split("\n")
    ends_well = lines[-1] == ""
    if ends_well:
        lines.pop()
    shown = [f"+{line}" for line in lines]
    if not ends_well:
        shown.append("\\ No newline at end of file")
    return {
        "oldStart": 0,
        "oldLines": 0,
        "newStart": 1 if lines else 0,
        "newLines": len(lines),
        "lines": shown,
    }


def _diff(path: str, hunks: Iterable[JsonObject]) -> Diff:
    patch: list[str] = []
    added = removed = 0
    for hunk in hunks:
        lines = [line for line in items(hunk, "lines") if isinstance(line, str)]
        old = f"{whole(hunk, 'oldStart') or 0},{whole(hunk, 'oldLines') or 0}"
        new = f"{whole(hunk, 'newStart') or 0},{whole(hunk, 'newLines') or 0}"
        patch.append(f"@@ -{old} +{new} @@")
        patch.extend(lines)
        added += sum(line.startswith("+") for line in lines)
        removed += sum(line.startswith("-") for line in lines)
    return Diff(path, clip("\n".join(patch), MAX_PATCH), added, removed)


def locations_in(outcome: JsonObject) -> tuple[Location, ...]:
    path = text(outcome, "filePath")
    if path is not None:
        hunks = objects(outcome, "structuredPatch")
        return (Location(path, whole(hunks[0], "newStart") if hunks else None),)
    file = mapping(outcome, "file")
    read = text(file, "filePath")
    return (Location(read, whole(file, "startLine")),) if read is not None else ()


def rule_words(suggestion: object) -> tuple[str, str]:
    """A permission suggestion as an option's name and scope, in plain words."""
    offered = as_object(suggestion)
    reach, scope = _destination(text(offered, "destination") or "")
    match text(offered, "type"):
        case "addRules" | "replaceRules":
            rules = " and ".join(_rule(rule) for rule in objects(offered, "rules")) or "this"
            verb = {"allow": "Allow", "deny": "Always deny", "ask": "Always ask about"}
            return f"{verb.get(text(offered, 'behavior') or '', 'Allow')} {rules} {reach}", scope
        case "addDirectories":
            names = " and ".join(
                f"`{folder}`" for folder in items(offered, "directories") if isinstance(folder, str)
            )
            return f"Allow once, and let the agent work in {names or 'another folder'} {reach}", scope
        case "setMode":
            return f"Allow once, and {_mode(text(offered, 'mode') or '')} {reach}", scope
        case other:
            return f"Allow, and apply the agent's suggestion `{clip(other or 'unknown', 80)}` {reach}", scope


def _rule(rule: JsonObject) -> str:
    tool, content = text(rule, "toolName") or "this tool", text(rule, "ruleContent")
    if content is None:
        return f"every use of {clip(tool, 80)}"
    shown = f"`{clip(content, MAX_TITLE)}`"
    return shown if tool == "Bash" else f"{clip(tool, 80)} of {shown}"


def _destination(name: str) -> tuple[str, str]:
    match name:
        case "session":
            return "for this session", "until this agent session ends"
        case "localSettings":
            reach = "in this project from now on (writes .claude/settings.local.json)"
            return reach, "every session of yours in this project"
        case "projectSettings":
            return (
                "in this project from now on, for everybody (writes .claude/settings.json)",
                "every session in this project, also of others",
            )
        case "userSettings":
            return (
                "in every project from now on (writes ~/.claude/settings.json)",
                "every session on this machine",
            )
        case _:
            return f"(kept in: {clip(name or 'not said', 80)})", "the agent did not say how far this reaches"


def _mode(mode: str) -> str:
    match mode:
        case "acceptEdits":
            return "accept all file edits without asking"
        case "bypassPermissions":
            return "stop asking about anything"
        case "auto":
            return "let the agent decide what to ask about"
        case "plan":
            return "switch to planning"
        case "default":
            return "ask about each action"
        case _:
            return f"switch to the mode `{clip(mode, 80)}`"
