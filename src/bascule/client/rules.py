"""A server's lasting rules, from Python."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct, json, to_builtins

from bascule.model.rules import RuleAnswer, RuleSpec, StandingRule, ToolClass

Ask = Callable[[str, dict[str, Any]], Awaitable[bytes]]


class Rule(StandingRule, frozen=True, rename="camel", kw_only=True, forbid_unknown_fields=False):
    words: str = ""
    expired: bool = False


class RuleList(Struct, frozen=True, rename="camel"):
    rules: list[Rule]
    problem: str | None = None


class PastAnswer(Struct, frozen=True, rename="camel"):
    session_id: str
    text: str
    at: str
    then: str
    by: str
    now: RuleAnswer


class DryRun(Struct, frozen=True, rename="camel"):
    words: str
    looked: int
    fits: int
    differs: int
    requests: list[PastAnswer] = []


class Trial(Struct, frozen=True, rename="camel"):
    answer: RuleAnswer
    why: str


class RuleTried(Struct, frozen=True, rename="camel"):
    dry_run: DryRun | None = None
    tried: Trial | None = None


class _Made(Struct):
    rule: Rule


class ClientRules:
    """Made by `Client.rules`. Raises as its calls do."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def all(self) -> RuleList:
        return json.decode(await self._ask("rules:list", {}), type=RuleList)

    async def add(self, rule: RuleSpec, *, replaces: str | None = None) -> Rule:
        fields = {"rule": to_builtins(rule), "replaces": replaces}
        return json.decode(await self._ask("rules:add", fields), type=_Made).rule

    async def remove(self, rule_id: str) -> None:
        await self._ask("rules:remove", {"ruleId": rule_id})

    async def try_rule(self, rule: RuleSpec) -> RuleTried:
        """What the rule would have answered of what was asked before."""
        return json.decode(await self._ask("rules:try", {"rule": to_builtins(rule)}), type=RuleTried)

    async def try_request(
        self, tool_class: ToolClass, text: str, folder: str | None = None, agent: str | None = None
    ) -> RuleTried:
        """How the rules would answer this command, path, host or tool."""
        asked = {"toolClass": tool_class, "text": text, "folder": folder, "agent": agent}
        request = {name: value for name, value in asked.items() if value is not None}
        return json.decode(await self._ask("rules:try", {"request": request}), type=RuleTried)
