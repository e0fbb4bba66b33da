"""The client's calls for lasting rules."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct, json, to_builtins

from bascule.api.request_answers import RuleTrial
from bascule.link.rules import RuleView, RuleViews
from bascule.model.rules import RuleSpec, ToolClass

Ask = Callable[[str, dict[str, Any]], Awaitable[bytes]]


class _Made(Struct):
    rule: RuleView


class ClientRules:
    """Made by `Client.rules`. Raises as its calls do."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def all(self) -> RuleViews:
        return json.decode(await self._ask("rules:list", {}), type=RuleViews)

    async def add(self, rule: RuleSpec, *, replaces: str | None = None) -> RuleView:
        fields = {"rule": to_builtins(rule), "replaces": replaces}
        return json.decode(await self._ask("rules:add", fields), type=_Made).rule

    async def remove(self, rule_id: str) -> None:
        await self._ask("rules:remove", {"ruleId": rule_id})

    async def try_rule(self, rule: RuleSpec) -> RuleTrial:
        """How the rule would have answered earlier requests."""
        return json.decode(await self._ask("rules:try", {"rule": to_builtins(rule)}), type=RuleTrial)

    async def try_request(
        self, tool_class: ToolClass, text: str, folder: str | None = None, agent: str | None = None
    ) -> RuleTrial:
        """How the rules would answer this command, path, host or tool."""
        asked = {"toolClass": tool_class, "text": text, "folder": folder, "agent": agent}
        request = {name: value for name, value in asked.items() if value is not None}
        return json.decode(await self._ask("rules:try", {"request": request}), type=RuleTrial)
