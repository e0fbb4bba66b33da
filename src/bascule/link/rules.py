"""Commands about a device's lasting rules."""

from typing import Literal

from msgspec import Struct

from bascule.model.commands import Command, Done
from bascule.model.fields import Name, Short
from bascule.model.rules import RuleAnswer, RuleSpec, StandingRule, ToolClass, Tried


class RuleView(StandingRule, frozen=True, omit_defaults=True, rename="camel", kw_only=True):
    """A rule, and how a person reads it."""

    words: str
    expired: bool = False


class RuleViews(Struct, frozen=True, rename="camel"):
    rules: list[RuleView]
    problem: str | None = None  # a rule that can't be read, and what follows from it


class ListRules(Command[RuleViews], frozen=True, kw_only=True):
    pass


class AddRule(Command[RuleView], frozen=True, kw_only=True):
    rule: RuleSpec
    replaces: Name | None = None  # a rule that goes when this one comes


class RemoveRule(Command[Done], frozen=True, kw_only=True):
    rule_id: Name


Outcome = Literal["allow", "deny", "withdrawn", "open"]


class PastAnswer(Struct, frozen=True, rename="camel"):
    """One request a rule would have answered, and what became of it then."""

    session_id: str
    session_title: str
    request_id: str
    agent: str
    text: str
    at: str
    then: Outcome
    by: str
    now: RuleAnswer


class DryRun(Struct, frozen=True, rename="camel"):
    words: str
    looked: int
    fits: int
    differs: int  # how many of them were answered otherwise
    requests: list[PastAnswer]  # the newest
    cut: bool = False


class TryRule(Command[DryRun], frozen=True, kw_only=True):
    """What this rule would have answered of what was asked before."""

    rule: RuleSpec


class TryRequest(Command[Tried], frozen=True, kw_only=True):
    """How the rules would answer something a person types."""

    tool_class: ToolClass = "command"
    text: Short
    folder: Short | None = None
    agent: Name | None = None


class Proposal(Struct, frozen=True, rename="camel"):
    """One line of an agent's own list. Without `rule` it can't be said exactly, and `problem` says why."""

    source: str
    text: str
    answer: RuleAnswer
    rule: RuleSpec | None = None
    words: str = ""
    problem: str | None = None
    known: bool = False  # there is such a rule already


class Proposals(Struct, frozen=True, rename="camel"):
    proposals: list[Proposal]
    read: list[str]  # files that were there
    problems: list[str]


class ProposeRules(Command[Proposals], frozen=True, kw_only=True):
    """An agent's own lists of this user, and of a project, as rules to be looked at one by one."""

    folder: Short | None = None


RulesCommand = ListRules | AddRule | RemoveRule | TryRule | TryRequest | ProposeRules
