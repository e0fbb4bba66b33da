"""Rules a person makes: exactly this, here, in this session. What cannot be compared exactly asks again."""

import os.path
from typing import Literal

import msgspec
from msgspec import Raw, Struct

from bascule.model.errors import InvalidInput
from bascule.model.events import PermissionRequested
from bascule.policy.shell import exact_argv


class Rule(Struct, frozen=True, omit_defaults=True):
    """What was allowed or denied. Exactly one of `argv`, `path` and `input_sha256` is set."""

    tool: str
    cwd: str
    decision: Literal["allow", "deny"] = "allow"
    argv: tuple[str, ...] | None = None
    path: str | None = None
    input_sha256: str | None = None


class _Subject(Struct):
    """The parts of a tool's input that rules look at."""

    command: str | None = None
    file_path: str | None = None
    path: str | None = None
    notebook_path: str | None = None
    cwd: str | None = None  # where the command is to run, when it says so


def exact_path(path: str) -> str | None:
    """A path that names one file, or None when it has to be resolved first."""
    if not path.isprintable() or not os.path.isabs(path) or os.path.normpath(path) != path:
        return None
    return path


def rule_for(asked: PermissionRequested, cwd: str) -> Rule:
    """The narrowest rule that covers this request, for "allow in this session"."""
    subject = _subject(asked.input)
    if asked.kind == "execute":
        if subject.cwd not in (None, cwd):
            raise InvalidInput("This command runs in another folder. Allow it once instead.")
        argv = exact_argv(subject.command or "")
        if argv is None:
            raise InvalidInput("This command can't be remembered exactly. Allow it once instead.")
        return Rule(asked.tool, cwd, argv=argv)
    if asked.kind in ("edit", "read"):
        path = exact_path(subject.file_path or subject.notebook_path or subject.path or "")
        if path is None:
            raise InvalidInput("This path can't be remembered exactly. Allow it once instead.")
        return Rule(asked.tool, cwd, path=path)
    if asked.kind == "plan":
        raise InvalidInput("A plan is approved each time. Allow it once instead.")
    return Rule(asked.tool, cwd, input_sha256=asked.input_sha256)


def matches(rule: Rule, asked: PermissionRequested, cwd: str) -> bool:
    """Does this rule cover that request? Only when every part is the same."""
    if rule.tool != asked.tool or rule.cwd != cwd:
        return False
    try:
        return rule_for(asked, cwd) == msgspec.structs.replace(rule, decision="allow")
    except InvalidInput:
        return False


def words(rule: Rule) -> str:
    """The rule as a person reads it."""
    verb = "Allow" if rule.decision == "allow" else "Deny"
    if rule.argv is not None:
        return f"{verb} `{' '.join(rule.argv)}` in {rule.cwd}, in this session"
    if rule.path is not None:
        return f"{verb} {rule.tool} on {rule.path}, in this session"
    return f"{verb} {rule.tool} with exactly this input, in this session"


def encode_rule(rule: Rule) -> Raw:
    return Raw(msgspec.json.encode(rule))


def decode_rule(raw: Raw) -> Rule:
    return msgspec.json.decode(raw, type=Rule)


def _subject(raw: Raw) -> _Subject:
    try:
        return msgspec.json.decode(raw, type=_Subject)
    except msgspec.MsgspecError:  # not an object, or a command that is not text: nothing to compare
        return _Subject()
