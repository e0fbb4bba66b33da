"""Converts other tools' permission lists (`Bash(git status:*)`) to lasting rules, noting differences."""

import re

from msgspec import Struct

from bascule.model.errors import InvalidInput
from bascule.model.rules import RuleAnswer, RuleSpec, ToolClass
from bascule.policy.lasting_rules import check
from bascule.policy.shell import parts_of

_LINE = re.compile(r"(mcp__[A-Za-z0-9_-]+__\*|[A-Za-z_][A-Za-z0-9_-]*)(?:\((.*)\))?", re.DOTALL)
_CLASSES: dict[str, ToolClass] = {
    "Bash": "command",
    "Read": "read",
    "Glob": "read",
    "Grep": "read",
    "LS": "read",
    "Edit": "edit",
    "Write": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "WebFetch": "fetch",
}


class Untranslatable(Exception):
    """A line has no equivalent rule; the message says why."""


class Origin(Struct, frozen=True):
    """The source of a list: `folder` is its project, None for a user-wide list."""

    folder: str | None
    home: str


def translated(line: str, answer: RuleAnswer, origin: Origin) -> RuleSpec:
    """The rule that says the same. Raises `Untranslatable`."""
    found = _LINE.fullmatch(line.strip())
    if found is None:
        raise Untranslatable("It is not written in a form Bascule knows.")
    name, inside = found[1], found[2]
    spec = _spec(name, inside, answer, origin)
    try:
        check(spec)
    except InvalidInput as error:
        raise Untranslatable(error.message) from None
    return spec


def _spec(name: str, inside: str | None, answer: RuleAnswer, origin: Origin) -> RuleSpec:
    folder = origin.folder
    if name.startswith("mcp__"):
        if inside is not None:
            raise Untranslatable("Bascule's rules look at an MCP tool's name only, not at what it is given.")
        return RuleSpec(answer=answer, tool_class="mcp", tool=name.removesuffix("__*"), folder=folder)
    tool_class = _CLASSES.get(name)
    if tool_class is None:
        if inside is not None:
            raise Untranslatable(f"What {name} is given can't be compared exactly.")
        return RuleSpec(answer=answer, tool_class="other", tool=name, folder=folder)
    if inside is None or inside in ("", "*"):
        return RuleSpec(answer=answer, tool_class=tool_class, folder=folder)
    match tool_class:
        case "command":
            argv, more = _argv(inside)
            return RuleSpec(answer=answer, tool_class="command", argv=argv, more=more, folder=folder)
        case "fetch":
            if not inside.startswith("domain:"):
                raise Untranslatable("Only whole hosts (`domain:`) have a rule.")
            host = inside.removeprefix("domain:")
            return RuleSpec(answer=answer, tool_class="fetch", host=host, folder=folder)
        case _:
            path = _path(inside, origin)
            return RuleSpec(answer=answer, tool_class=tool_class, path=path, folder=folder)


def _argv(inside: str) -> tuple[tuple[str, ...], bool]:
    more = False
    for end in (":*", " *"):
        if inside.endswith(end):
            inside, more = inside.removesuffix(end), True
            break
    if "*" in inside:
        raise Untranslatable("A star inside a command has no exact meaning here; write its first words.")
    parts = parts_of(inside)
    if parts is None or len(parts) != 1:
        raise Untranslatable("The command is not plain words, so Bascule would ask about it anyway.")
    return parts[0], more


def _path(inside: str, origin: Origin) -> str:
    """Their paths are gitignore's: a name alone is meant anywhere below, `//` begins at the top."""
    if any(one in inside for one in "[]?!\\{}"):
        raise Untranslatable("Only `*` and `**` have a meaning in Bascule's paths.")
    if inside.startswith("//"):
        return _whole(inside[1:])
    if inside.startswith("~/"):
        return _whole(origin.home + inside[1:])
    if inside.startswith("/"):
        if origin.folder is None:
            raise Untranslatable("It begins where its list lies, which is no project.")
        return _whole(inside[1:])
    if inside.startswith("./"):
        return _whole(inside[2:])
    return _whole(inside if "/" in inside.rstrip("/") else f"**/{inside}")


def _whole(path: str) -> str:
    return f"{path}**" if path.endswith("/") else path
