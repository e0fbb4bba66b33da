"""Lasting rules: what makes one, how it reads, and whether it fits a request. What is unsure asks."""

import os.path
import re
from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from bascule.model.errors import InvalidInput
from bascule.model.rules import RuleSpec, ToolClass
from bascule.policy import globs
from bascule.policy.shell import Argv, parts_of
from bascule.policy.subject import Subject

Look = Callable[[str], str | None]  # a path's real path, or None when that can't be said

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


class Fit(Enum):
    NO = 0
    UNSURE = 1
    YES = 2


class Place(Struct, frozen=True):
    """Where a request comes from. `cwd` is a real path."""

    session_id: str
    cwd: str
    agent: str
    worktree_of: str | None = None  # a work tree belongs to the folder it was made from


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


def fit(rule: RuleSpec, subject: Subject, part: Argv | None, place: Place, look: Look) -> Fit:
    """Does the rule fit this request (of a chain of commands: this part of it)?

    A rule that allows must fit in everything. One that denies or asks is unsure as soon as it may fit.
    """
    if rule.tool_class != subject.tool_class or not _in_scope(rule, subject, place, look):
        return Fit.NO
    if rule.tool is not None and not _is_tool(rule.tool, subject.tool):
        return Fit.NO
    match subject.tool_class:
        case "command":
            return _fit_command(rule, subject, part, place, look)
        case "read" | "edit":
            return _fit_paths(rule, subject, place, look)
        case "fetch" if rule.host is not None:
            return Fit.UNSURE if subject.host is None else Fit.YES if subject.host == rule.host else Fit.NO
        case _:
            return Fit.YES


def _in_scope(rule: RuleSpec, subject: Subject, place: Place, look: Look) -> bool:
    if rule.session_id is not None and rule.session_id != place.session_id:
        return False
    if rule.agent is not None and rule.agent != place.agent:
        return False
    if rule.folder is None:
        return True
    if rule.answer == "allow" and subject.cwd is not None:
        # Both where the session is and where this command says it runs.
        runs = look(globs.joined(subject.cwd, place.cwd))
        allowed = rule.folder if place.worktree_of is None else place.cwd
        if runs is None or not globs.below(runs, allowed, hidden=True):
            return False
    return globs.below(place.worktree_of or place.cwd, rule.folder, hidden=True)


def _is_tool(named: str, tool: str) -> bool:
    if named == tool:
        return True
    return named.startswith("mcp__") and named.count("__") == 1 and tool.startswith(f"{named}__")


def _fit_command(rule: RuleSpec, subject: Subject, part: Argv | None, place: Place, look: Look) -> Fit:
    argv = rule.argv
    if argv is None:
        return Fit.YES
    if part is None:
        return Fit.UNSURE
    if part == argv or (rule.more and part[: len(argv)] == argv):
        if (
            "/" in argv[0]
            and not argv[0].startswith("/")
            and not _runs_in_its_folder(rule, subject, place, look)
        ):
            return Fit.UNSURE
        return Fit.YES
    # `env git push`, `/usr/bin/git push`: perhaps the same by another way.
    names = tuple(os.path.basename(word) for word in part)
    size = len(argv)
    within = any(
        words_[n : n + size] == argv
        for words_ in (part, (*names[:1], *part[1:]), names)
        for n in range(len(part))
    )
    return Fit.UNSURE if within else Fit.NO


def _runs_in_its_folder(rule: RuleSpec, subject: Subject, place: Place, look: Look) -> bool:
    """`./check` is one program only in one folder."""
    runs = place.cwd if subject.cwd is None else look(globs.joined(subject.cwd, place.cwd))
    return runs == rule.folder


def _fit_paths(rule: RuleSpec, subject: Subject, place: Place, look: Look) -> Fit:
    allows = rule.answer == "allow"
    if rule.path is None and not allows:
        return Fit.YES
    if subject.paths is None:
        return Fit.UNSURE
    real = [look(globs.joined(one, place.cwd)) for one in subject.paths]
    if allows:
        return Fit.YES if all(one is not None and _reaches(rule, one, place) for one in real) else Fit.NO
    named = [globs.normal(one, place.cwd) for one in subject.paths]
    if any(one is not None and _reaches(rule, one, place) for one in (*real, *named)):
        return Fit.YES
    return Fit.UNSURE if None in real else Fit.NO


def _reaches(rule: RuleSpec, path: str, place: Place) -> bool:
    hidden = rule.answer != "allow"
    base = rule.folder if rule.folder is not None and place.worktree_of is None else place.cwd
    if rule.path is None:
        return globs.below(path, base, hidden=hidden)
    return globs.covers(globs.absolute(rule.path, base), path, hidden=hidden)
