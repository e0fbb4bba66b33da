"""Lasting rules as people ask for them, for HTTP and the socket alike. The device keeps and applies them."""

import msgspec

from bascule.hub.api.bodies import RuleBody, TryBody
from bascule.hub.api.views import RuleTrial
from bascule.hub.services import Hub
from bascule.link.rules import (
    AddRule,
    DryRun,
    ListRules,
    Proposals,
    ProposeRules,
    RemoveRule,
    RuleView,
    RuleViews,
    TryRequest,
    TryRule,
)
from bascule.model.codec import encode
from bascule.model.commands import Actor
from bascule.model.errors import InvalidInput
from bascule.policy.trying import Tried


async def rule_list(hub: Hub) -> RuleViews:
    return msgspec.json.decode(await hub.switchboard.ask(ListRules()), type=RuleViews)


async def add_rule(hub: Hub, by: Actor, body: RuleBody) -> RuleView:
    wish = AddRule(body.rule, by, body.replaces)
    rule = msgspec.json.decode(await hub.switchboard.ask(wish), type=RuleView)
    _tell(hub)
    return rule


async def remove_rule(hub: Hub, by: Actor, rule_id: str) -> None:
    await hub.switchboard.ask(RemoveRule(rule_id, by))
    _tell(hub)


async def try_out(hub: Hub, body: TryBody) -> RuleTrial:
    if (body.rule is None) == (body.request is None):
        raise InvalidInput("Give either rule or request.")
    if body.rule is not None:
        answer = await hub.switchboard.ask(TryRule(body.rule))
        return RuleTrial(dry_run=msgspec.json.decode(answer, type=DryRun))
    assert body.request is not None
    one = body.request
    answer = await hub.switchboard.ask(TryRequest(one.tool_class, one.text, one.folder, one.agent))
    return RuleTrial(tried=msgspec.json.decode(answer, type=Tried))


async def proposals(hub: Hub, folder: str | None) -> Proposals:
    return msgspec.json.decode(await hub.switchboard.ask(ProposeRules(folder)), type=Proposals)


def _tell(hub: Hub) -> None:
    if hub.feed.listeners:
        hub.feed.notify(None, encode({"type": "rules:changed"}))
