"""Lasting rules: which requests are answered without asking a person."""

from typing import Literal

from msgspec import Struct

ToolClass = Literal["read", "edit", "command", "fetch", "mcp", "other"]
RuleAnswer = Literal["allow", "deny", "ask"]


class RuleSpec(
    Struct, frozen=True, omit_defaults=True, rename="camel", kw_only=True, forbid_unknown_fields=True
):
    """What a rule says. Without `argv`, `path`, `tool` and `host` it is about the whole class."""

    answer: RuleAnswer
    tool_class: ToolClass
    argv: tuple[str, ...] | None = None  # the command, word by word
    more: bool = False  # further words may follow `argv`; only when a person wrote it so
    path: str | None = None  # `*` within a name, `**` across folders; relative to `folder`
    tool: str | None = None  # exactly this tool, or all of one MCP server (`mcp__server`)
    host: str | None = None  # exactly this host
    folder: str | None = None  # sessions in this folder or below it; None: everywhere
    session_id: str | None = None  # this session alone
    agent: str | None = None
    expires_at: str | None = None


class StandingRule(RuleSpec, frozen=True, omit_defaults=True, rename="camel", kw_only=True):
    """A rule that holds: with a name for the log, and who made it when."""

    id: str
    created_at: str
    created_by: str
    used: int = 0
    used_at: str | None = None


def spec_of(rule: StandingRule) -> RuleSpec:
    """What the rule says, without its history."""
    return RuleSpec(**{name: getattr(rule, name) for name in RuleSpec.__struct_fields__})


class TriedPart(Struct, frozen=True, rename="camel"):
    text: str
    answer: RuleAnswer | None
    rule_id: str | None
    words: str


class Tried(Struct, frozen=True, rename="camel"):
    """`why` says it in a sentence; `parts` has each command of a chain."""

    answer: RuleAnswer
    why: str
    parts: tuple[TriedPart, ...] = ()
