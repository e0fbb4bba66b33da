"""Matches a rule against a request: yes, no, or unsure. An unsure match asks a person."""

from enum import Enum
from typing import assert_never

from msgspec import Struct

from bascule.model.rules import RuleSpec
from bascule.policy import globs
from bascule.policy.disk import Disk
from bascule.policy.mentions import may_run, mentions_host, mentions_path
from bascule.policy.shell import Argv
from bascule.policy.subject import Subject, is_from_outside

# No files in the ordinary sense: secrets of processes, switches of the machine.
_MACHINE = ("/proc", "/sys", "/dev")


class Fit(Enum):
    NO = 0
    UNSURE = 1
    YES = 2


class RequestOrigin(Struct, frozen=True):
    """The origin of a request: its session, agent and folder. `cwd` is a real path."""

    session_id: str
    cwd: str
    agent: str
    worktree_of: str | None = None  # a work tree belongs to the folder it was made from


def fit(rule: RuleSpec, subject: Subject, part: Argv | None, place: RequestOrigin, disk: Disk) -> Fit:
    """Does the rule fit this request (of a chain of commands: this part of it)?

    A rule that allows must fit in everything. One that denies or asks is unsure as soon as it may fit.
    """
    if not _in_scope(rule, subject, place, disk):
        return Fit.NO
    if rule.tool is not None and not _is_tool(rule.tool, subject.tool):
        return Fit.NO
    if rule.tool_class in ("mcp", "other") and rule.tool is not None and rule.answer != "allow":
        return Fit.YES  # by its name, whatever the request says it does
    if rule.answer == "allow" and rule.tool_class != "mcp" and is_from_outside(subject.tool):
        return Fit.NO  # its label is its own word
    if rule.tool_class != subject.tool_class:
        unsure = rule.answer != "allow" and _may_be_about(rule, subject, place, disk)
        return Fit.UNSURE if unsure else Fit.NO
    match subject.tool_class:
        case "command":
            return _fit_command(rule, subject, part, place, disk)
        case "read" | "edit":
            return _fit_paths(rule, subject, place, disk)
        case "fetch":
            return _fit_host(rule, subject)
        case "mcp" | "other":
            return Fit.YES if subject.exact or rule.answer != "allow" else Fit.NO
        case _:
            assert_never(subject.tool_class)


def reads_plainly(subject: Subject, place: RequestOrigin, disk: Disk) -> bool:
    """Is it reading and nothing else, of files in the session's folder that are not hidden?"""
    reading = RuleSpec(answer="allow", tool_class="read")
    return fit(reading, subject, None, place, disk) is Fit.YES


def _in_scope(rule: RuleSpec, subject: Subject, place: RequestOrigin, disk: Disk) -> bool:
    if rule.session_id is not None and rule.session_id != place.session_id:
        return False
    if rule.agent is not None and rule.agent != place.agent:
        return False
    if rule.folder is None:
        return True
    if rule.answer == "allow" and subject.cwd is not None:
        # Both where the session is and where this command says it runs.
        runs = disk.real(globs.joined(subject.cwd, place.cwd))
        allowed = rule.folder if place.worktree_of is None else place.cwd
        if runs is None or not globs.below(runs, allowed, hidden=True):
            return False
    return globs.below(place.worktree_of or place.cwd, rule.folder, hidden=True)


def _is_tool(named: str, tool: str) -> bool:
    if named == tool:
        return True
    return named.startswith("mcp__") and named.count("__") == 1 and tool.startswith(f"{named}__")


# A request of another class --------------------------------------------------------------------------------


def _may_be_about(rule: RuleSpec, subject: Subject, place: RequestOrigin, disk: Disk) -> bool:
    """May a request that is said to be something else do what this rule denies or asks about?"""
    match rule.tool_class:
        case "command":
            return subject.runs
        case "read" | "edit":
            if subject.tool_class in ("read", "edit") and subject.exact:
                return False
            if rule.path is None:
                return subject.tool_class in ("read", "edit")  # it says more than its label does
            return _names(rule, subject, place, disk)
        case "fetch" if rule.host is not None:
            return subject.said is None or mentions_host(rule.host, subject.said)
        case "fetch":
            return subject.sends
        case "mcp":
            return is_from_outside(subject.tool)
        case "other":
            return False
        case _:
            assert_never(rule.tool_class)


def _names(rule: RuleSpec, subject: Subject, place: RequestOrigin, disk: Disk) -> bool:
    """Does a command, or a tool that has no class of its own, name a path the rule is about?"""
    if any(_is_reached(rule, path, place, disk) for path in subject.paths):
        return True
    if subject.said is None:
        return True
    cwd = globs.normal(subject.cwd, place.cwd) if subject.cwd is not None else place.cwd
    return mentions_path(_pattern(rule, place), subject.said, cwd)


# Commands --------------------------------------------------------------------------------------------------


def _fit_command(
    rule: RuleSpec, subject: Subject, part: Argv | None, place: RequestOrigin, disk: Disk
) -> Fit:
    argv = rule.argv
    if argv is None:
        return Fit.YES
    if part is None:
        return Fit.UNSURE
    if part == argv or (rule.more and part[: len(argv)] == argv):
        nearby = "/" in argv[0] and not argv[0].startswith("/")
        if nearby and not _runs_in_its_folder(rule, subject, place, disk):
            return Fit.UNSURE
        return Fit.YES if subject.exact or rule.answer != "allow" else Fit.UNSURE
    return Fit.UNSURE if not subject.exact or may_run(argv, part) else Fit.NO


def _runs_in_its_folder(rule: RuleSpec, subject: Subject, place: RequestOrigin, disk: Disk) -> bool:
    """`./check` is one program only in one folder."""
    runs = place.cwd if subject.cwd is None else disk.real(globs.joined(subject.cwd, place.cwd))
    return runs == rule.folder


# The web ---------------------------------------------------------------------------------------------------


def _fit_host(rule: RuleSpec, subject: Subject) -> Fit:
    if rule.host is None:
        return Fit.UNSURE if subject.runs and rule.answer == "allow" else Fit.YES
    if subject.host == rule.host:
        return Fit.YES if subject.exact or rule.answer != "allow" else Fit.UNSURE
    return Fit.UNSURE if subject.host is None or not subject.exact else Fit.NO


# Files -----------------------------------------------------------------------------------------------------


def _fit_paths(rule: RuleSpec, subject: Subject, place: RequestOrigin, disk: Disk) -> Fit:
    if rule.answer == "allow":
        if not subject.exact:
            return Fit.UNSURE
        covered = all(_is_allowed(rule, path, subject, place, disk) for path in subject.paths)
        return Fit.YES if covered else Fit.NO
    if rule.path is None or any(_is_reached(rule, path, place, disk) for path in subject.paths):
        return Fit.YES
    real = [disk.real(globs.joined(path, place.cwd)) for path in subject.paths]
    if not subject.exact or None in real:
        return Fit.UNSURE
    if subject.searches is not None:
        pattern = _pattern(rule, place)
        folders = (*real, *(globs.normal(path, place.cwd) for path in subject.paths))
        reach = [one for folder in folders if folder for one in _searched(subject, folder, place)]
        if any(globs.may_meet(pattern, one) for one in reach):
            return Fit.UNSURE
    return Fit.NO


def _is_allowed(rule: RuleSpec, path: str, subject: Subject, place: RequestOrigin, disk: Disk) -> bool:
    real = disk.real(globs.joined(path, place.cwd))
    if real is None:
        return False
    pattern = _pattern(rule, place)
    if rule.path is None:
        if not globs.below(real, _base(rule, place), hidden=False):
            return False
        if any(globs.below(real, one, hidden=True) for one in _MACHINE):
            return False
    elif not globs.covers(pattern, real, hidden=False):
        return False
    if subject.searches is None:
        return True
    if rule.path is not None and not globs.covers_all_below(pattern, real):
        return False
    hidden = disk.hidden_in(real)
    reach = _searched(subject, real, place)
    return hidden is not None and not any(globs.may_meet(one, other) for one in reach for other in hidden)


def _is_reached(rule: RuleSpec, path: str, place: RequestOrigin, disk: Disk) -> bool:
    """By its name, or by where it leads."""
    pattern = _pattern(rule, place)
    real = disk.real(globs.joined(path, place.cwd))
    named = globs.normal(path, place.cwd)
    return any(one is not None and globs.covers(pattern, one, hidden=True) for one in (real, named))


def _searched(subject: Subject, folder: str, place: RequestOrigin) -> list[str]:
    """Which files a search in this folder looks at, as patterns."""
    top = folder.rstrip("/")
    found: list[str] = []
    for search in subject.searches or ("**",):
        loose = search.removeprefix("./").replace("?", "*")
        if set(loose) & set("{}[]!\\, \t\n"):  # more than one reading, or more than one pattern
            found.append(f"{top}/**")
        elif "/" in loose and folder == place.cwd:
            found.append(f"{top}/{_whole_stars(loose)}")
        else:
            found.append(f"{top}/**/{_whole_stars(loose.rpartition('/')[2])}")
    return found


def _whole_stars(pattern: str) -> str:
    """`**` beside other letters of a name is a plain star."""
    names = pattern.split("/")
    return "/".join(name if name == "**" else name.replace("**", "*") for name in names)


def _pattern(rule: RuleSpec, place: RequestOrigin) -> str:
    return globs.absolute(rule.path or "**", _base(rule, place))


def _base(rule: RuleSpec, place: RequestOrigin) -> str:
    return rule.folder if rule.folder is not None and place.worktree_of is None else place.cwd
