"""Session rules, made by "allow in this session": each covers exactly one request, in this session's folder.

They are no lasting rules with a session's scope. Those answer each command of a chain by itself and files by
pattern: remembering `make` and `git push` would also allow `make && git push`, which nobody was asked about.
"""

import os.path
from collections.abc import Sequence

import msgspec
from msgspec import Raw, Struct

from bascule.model.errors import InvalidInput
from bascule.model.event_values import Decision
from bascule.model.events import PermissionRequested
from bascule.policy.directories import hidden_character
from bascule.policy.disk import Disk
from bascule.policy.subject import Subject, subject_of

_ONCE = "Allow it once instead."


class SessionRule(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A remembered decision. Exactly one of `argv`, `path` and `input_sha256` is set."""

    tool: str
    cwd: str
    decision: Decision = "allow"
    argv: tuple[str, ...] | None = None
    path: str | None = None
    input_sha256: str | None = None


def exact_path(path: str) -> str | None:
    """A path that names one file, or None when it has to be resolved first."""
    if hidden_character(path) is not None or not os.path.isabs(path) or os.path.normpath(path) != path:
        return None
    return path


def rule_for(asked: PermissionRequested, cwd: str) -> SessionRule:
    """The narrowest rule that covers this request, for "allow in this session"."""
    subject = subject_of(asked)
    if subject is None:
        raise InvalidInput(f"A plan is approved each time. {_ONCE}")
    match subject.tool_class:
        case "command":
            return _command_rule(subject, cwd)
        case "read" | "edit" if subject.searches is None:
            return _path_rule(subject, cwd)
        case _:
            # By its whole input, which tells tools apart only if they have names, or fields that we know.
            if asked.tool == asked.kind and not subject.exact:
                raise InvalidInput(f"The agent does not say which tool this is. {_ONCE}")
            return SessionRule(asked.tool, cwd, input_sha256=asked.input_sha256)


def _command_rule(subject: Subject, cwd: str) -> SessionRule:
    if subject.cwd not in (None, cwd):
        raise InvalidInput(f"This command runs in another folder. {_ONCE}")
    if subject.parts is None or len(subject.parts) != 1 or not subject.exact:
        raise InvalidInput(f"This command can't be remembered exactly. {_ONCE}")
    return SessionRule(subject.tool, cwd, argv=subject.parts[0])


def _path_rule(subject: Subject, cwd: str) -> SessionRule:
    path = exact_path(subject.paths[0]) if subject.exact and len(subject.paths) == 1 else None
    if path is None:
        raise InvalidInput(f"This request can't be remembered exactly. {_ONCE}")
    return SessionRule(subject.tool, cwd, path=path)


def matching(
    rules: Sequence[SessionRule], asked: PermissionRequested, cwd: str, disk: Disk
) -> list[SessionRule]:
    """The rules that cover this request: those that remembering it would make again, or their denial."""
    here = [rule for rule in rules if rule.tool == asked.tool and rule.cwd == cwd]
    if not here:
        return []
    try:
        exact = rule_for(asked, cwd)
    except InvalidInput:
        return []
    same = [rule for rule in here if msgspec.structs.replace(rule, decision="allow") == exact]
    # A link that was put in the file's place since leads to another file.
    moved = bool(same) and exact.path is not None and disk.real(exact.path) != exact.path
    return [] if moved else same


def words(rule: SessionRule) -> str:
    """The rule as a person reads it."""
    verb = "Allow" if rule.decision == "allow" else "Deny"
    if rule.argv is not None:
        return f"{verb} `{' '.join(rule.argv)}` in {rule.cwd}, in this session"
    if rule.path is not None:
        return f"{verb} {rule.tool} on {rule.path}, in this session"
    return f"{verb} {rule.tool} with exactly this input, in this session"


def encode_rule(rule: SessionRule) -> Raw:
    return Raw(msgspec.json.encode(rule))


def decode_rule(raw: Raw) -> SessionRule | None:
    """None for a rule with unknown fields: then a person is asked."""
    try:
        return msgspec.json.decode(raw, type=SessionRule)
    except msgspec.MsgspecError:
        return None
