"""The language in which a prompt scripts the model: ` ;; ` between replies, ` ++ ` inside one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import cast

from msgspec import Struct

FIRST_DIRECTIVE = re.compile(r"(?:^|\s)(::[a-z]+)")
# Inside `::task` the sub-agent's own script is written with `,,` so that the outer split leaves it whole.
NESTED_SEPARATOR = " ,, "
MCP = "mcp "
# What a model says of a command that needs nothing but the sandbox it is run in.
WITHIN_SANDBOX: dict[str, object] = {
    "sandbox_permissions": "use_default",
    "with_escalated_permissions": False,
}
CUT_TEXT = "This answer will be cut off here."


class Text(Struct, frozen=True):
    """A text block."""

    text: str


class Think(Struct, frozen=True):
    """A thinking block."""

    thought: str


class Slow(Struct, frozen=True):
    """A text block in `pieces` deltas, `delay` seconds before each."""

    pieces: int
    delay: float


class Call(Struct, frozen=True):
    """A tool_use block."""

    tool: str
    arguments: dict[str, object]
    hosted: bool = False  # done by the model's own server


class PlanFile(Struct, frozen=True):
    """A Write of the plan to the file the agent named in its plan-mode reminder."""

    text: str


class Fail(Struct, frozen=True):
    """An HTTP error instead of a reply; `times` bounds it, so that a retry can succeed."""

    status: int
    times: int | None


class Cut(Struct, frozen=True):
    """A stream that stops after its first words: the connection breaks, or ends politely but too early."""

    text: str
    politely: bool


class Wait(Struct, frozen=True):
    """A wait for the sub-agent that was just started, where the agent does not wait by itself."""


Directive = Text | Think | Slow | Call | PlanFile | Wait | Fail | Cut
Step = tuple[Directive, ...]


def parse(prompt: str) -> list[Step]:
    """Return one step per model call, or nothing when the prompt holds no directive."""
    start = FIRST_DIRECTIVE.search(prompt)
    if start is None:
        return []
    steps: list[Step] = []
    for source in prompt[start.start(1) :].split(" ;; "):
        directives = [_directive(part.strip()) for part in source.split(" ++ ")]
        if directives[0][0] == "::plan":
            # Two calls: the agent takes the plan from its file, not from the tool's input.
            steps.append((PlanFile(_unescape(directives[0][1])),))
            steps.append((Call("ExitPlanMode", {}),))
            continue
        steps.append(tuple(_build(name, rest) for name, rest in directives))
    return steps


def _directive(source: str) -> tuple[str, str]:
    name, _, rest = source.partition(" ")
    return name, rest.strip()


def _build(name: str, rest: str) -> Directive:
    builder = BUILDERS.get(name)
    if builder is None:
        return Text(f"Unknown directive {name}.")
    try:
        return builder(rest)
    except ValueError as error:
        return Text(f"Cannot read {name}: {error}.")


def _unescape(text: str) -> str:
    return text.replace("\\n", "\n")


def _fields(rest: str, count: int) -> list[str]:
    fields = [_unescape(field.strip()) for field in rest.split("|", count - 1)]
    if len(fields) != count:
        raise ValueError(f"expected {count} fields separated by |")
    return fields


def _slow(rest: str) -> Slow:
    pieces, delay = rest.split()
    return Slow(int(pieces), float(delay))


def _bash(rest: str) -> Call:
    return Call("Bash", {"command": rest, "description": f"Run: {rest}"})


def _sandboxed(rest: str) -> Call:
    return Call("Bash", {"command": rest, "description": f"Run: {rest}", **WITHIN_SANDBOX})


def _write(rest: str) -> Call:
    path, content = _fields(rest, 2)
    return Call("Write", {"file_path": path, "content": content})


def _edit(rest: str) -> Call:
    path, old, new = _fields(rest, 3)
    return Call("Edit", {"file_path": path, "old_string": old, "new_string": new})


def _ask(rest: str) -> Call:
    questions: object = json.loads(rest)
    return Call("AskUserQuestion", {"questions": questions if isinstance(questions, list) else [questions]})


def _task(rest: str) -> Call:
    description, prompt = _fields(rest, 2)
    return Call(
        "Task",
        {
            "description": description,
            "prompt": prompt.replace(NESTED_SEPARATOR, " ;; "),
            "subagent_type": "general-purpose",
            "run_in_background": False,
        },
    )


def _tool(rest: str) -> Call:
    name, _, arguments = rest.partition(" ")
    decoded: object = json.loads(arguments or "{}")
    if not isinstance(decoded, dict):
        raise ValueError("the tool's input must be a JSON object")
    return Call(name, cast("dict[str, object]", decoded))


def _mcp(rest: str) -> Call:
    """A tool of an MCP server by the server's and the tool's own names: each agent joins them in its way."""
    server, tool, arguments = rest.split(" ", 2)
    decoded: object = json.loads(arguments)
    if not isinstance(decoded, dict):
        raise ValueError("the tool's input must be a JSON object")
    return Call(f"{MCP}{server} {tool}", cast("dict[str, object]", decoded))


def _error(rest: str) -> Fail:
    status, _, times = rest.partition(" ")
    return Fail(int(status), int(times) if times else None)


BUILDERS: dict[str, Callable[[str], Directive]] = {
    "::text": lambda rest: Text(_unescape(rest)),
    "::think": lambda rest: Think(_unescape(rest)),
    "::slow": _slow,
    "::bash": _bash,
    "::sandboxed": _sandboxed,
    "::write": _write,
    "::edit": _edit,
    "::read": lambda rest: Call("Read", {"file_path": rest}),
    "::ask": _ask,
    "::exitplan": lambda _rest: Call("ExitPlanMode", {}),
    "::task": _task,
    "::tool": _tool,
    "::fetch": lambda rest: Call("WebFetch", {"url": rest, "prompt": f"Fetch {rest}"}),
    "::websearch": lambda rest: Call("WebSearch", {"query": rest}),
    "::mcp": _mcp,
    "::wait": lambda _rest: Wait(),
    "::error": _error,
    "::cut": lambda rest: Cut(rest or CUT_TEXT, politely=False),
    "::endearly": lambda rest: Cut(rest or CUT_TEXT, politely=True),
}
