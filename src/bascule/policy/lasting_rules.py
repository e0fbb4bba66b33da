"""Lasting rules: validates them, describes them in words, and picks the most specific."""

import os.path
import re

from bascule.model.errors import InvalidInput
from bascule.model.rules import RuleSpec, ToolClass
from bascule.policy import globs
from bascule.policy.shell import parts_of

MAX_WORDS = 100
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_WHOLE: dict[ToolClass, str] = {
    "read": "reading files",
    "edit": "editing files",
    "command": "every command",
    "fetch": "fetching from the web",
    "mcp": "every MCP tool",
    "other": "every other tool",
}


def check(spec: RuleSpec) -> None:
    """Raises `InvalidInput` for a rule that would not mean one thing."""
    about = [name for name in ("argv", "path", "tool", "host") if getattr(spec, name) is not None]
    belongs = {
        "command": "argv",
        "read": "path",
        "edit": "path",
        "fetch": "host",
        "mcp": "tool",
        "other": "tool",
    }
    if any(name not in (belongs[spec.tool_class], "tool") for name in about):
        raise InvalidInput(f"A rule about {_WHOLE[spec.tool_class]} can't name a {about[0]}.")
    if spec.argv is not None:
        _check_argv(spec)
    elif spec.more:
        raise InvalidInput("Only a command can go on with further words.")
    if spec.path is not None and (problem := globs.problem_with(spec.path)) is not None:
        raise InvalidInput(problem)
    if spec.host is not None and (len(spec.host) > 253 or not _HOST.fullmatch(spec.host)):
        raise InvalidInput("A host is a plain name such as docs.python.org.")
    for name in (spec.tool, spec.agent, spec.session_id):
        if name is not None and (not name or len(name) > 200 or not name.isprintable()):
            raise InvalidInput("A tool, agent or session is named by 1 to 200 printable characters.")
    if spec.answer == "allow" and spec.tool_class == "other" and spec.tool is None:
        raise InvalidInput("Name the tool: what an unknown one does can't be allowed beforehand.")


def _check_argv(spec: RuleSpec) -> None:
    argv = spec.argv or ()
    if not argv or len(argv) > MAX_WORDS or parts_of(" ".join(argv)) != (argv,):
        raise InvalidInput(
            "A rule's command is plain words: no quotes, variables, redirections or second command."
        )
    if "/" in argv[0] and not argv[0].startswith("/") and spec.folder is None:
        raise InvalidInput(f"{argv[0]} is another program in each folder. Choose a project for this rule.")


def words(spec: RuleSpec) -> str:
    """The rule as a person reads it."""
    said = f"{spec.answer.capitalize()} {what(spec)} {where(spec)}"
    if spec.agent:
        said += f", for {spec.agent}"
    if spec.expires_at:
        said += f", until {spec.expires_at[:16].replace('T', ' ')}"
    return said


def what(spec: RuleSpec) -> str:
    if spec.argv is not None:
        return f"`{' '.join(spec.argv)}{' …' if spec.more else ''}`"
    if spec.path is not None:
        return f"{'reading' if spec.tool_class == 'read' else 'editing'} `{spec.path}`"
    if spec.host is not None:
        return f"fetching from {spec.host}"
    if spec.tool is not None:
        return f"the tool {spec.tool}"
    return _WHOLE[spec.tool_class]


def where(spec: RuleSpec) -> str:
    if spec.session_id is not None:
        return "in this session"
    return f"in {os.path.basename(spec.folder) or spec.folder}" if spec.folder else "everywhere"


def specificity(spec: RuleSpec) -> tuple[int, ...]:
    """Greater is more specific: of several rules that answer alike, that one is named."""
    reach = 2 if spec.session_id else 1 if spec.folder else 0
    exact = spec.argv is not None or spec.path is not None or spec.host is not None or spec.tool is not None
    literal = exact and not spec.more and "*" not in (spec.path or "")
    length = len(spec.argv or ()) + len((spec.path or "").split("/"))
    return reach, int(exact), int(literal), length, len(spec.folder or ""), int(spec.agent is not None)
