"""Lasting rules: what is answered without asking, tried out before it counts. The device keeps them."""

import msgspec

from bascule.hub.api.bodies import ImportQuery, RuleBody, RuleNamed, TryBody
from bascule.hub.api.call import AnyCall, Call
from bascule.hub.api.operation import Operation
from bascule.hub.api.views import Done, RuleTrial
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
from bascule.model.errors import InvalidInput
from bascule.policy.trying import Tried

CHANGED = {"type": "rules:changed"}


async def list_rules(call: AnyCall) -> RuleViews:
    return msgspec.json.decode(await call.hub.switchboard.ask(ListRules()), type=RuleViews)


async def add(call: Call[RuleBody]) -> RuleView:
    command = AddRule(call.body.rule, call.by, call.body.replaces)
    rule = msgspec.json.decode(await call.hub.switchboard.ask(command), type=RuleView)
    call.hub.push(CHANGED)
    return rule


async def remove(call: Call[RuleNamed]) -> Done:
    await call.hub.switchboard.ask(RemoveRule(call.body.rule_id, call.by))
    call.hub.push(CHANGED)
    return Done()


async def try_out(call: Call[TryBody]) -> RuleTrial:
    body, board = call.body, call.hub.switchboard
    if (body.rule is None) == (body.request is None):
        raise InvalidInput("Give either rule or request.")
    if body.rule is not None:
        answer = await board.ask(TryRule(body.rule))
        return RuleTrial(dry_run=msgspec.json.decode(answer, type=DryRun))
    assert body.request is not None
    tried = body.request
    answer = await board.ask(TryRequest(tried.tool_class, tried.text, tried.folder, tried.agent))
    return RuleTrial(tried=msgspec.json.decode(answer, type=Tried))


async def proposals(call: Call[ImportQuery]) -> Proposals:
    answer = await call.hub.switchboard.ask(ProposeRules(call.body.folder))
    return msgspec.json.decode(answer, type=Proposals)


OPERATIONS = (
    Operation(
        name="rules:list",
        method="GET",
        path="/api/rules",
        need="viewer",
        answer=RuleViews,
        run=list_rules,
        summary="The lasting rules: what is answered without asking",
    ),
    Operation(
        name="rules:add",
        method="POST",
        path="/api/rules",
        need="owner",
        body=RuleBody,
        answer=RuleView,
        answer_key="rule",
        run=add,
        summary="Add a lasting rule, or replace one",
    ),
    Operation(
        name="rules:remove",
        method="DELETE",
        path="/api/rules/{rule_id}",
        need="owner",
        body=RuleNamed,
        answer=Done,
        run=remove,
        summary="Remove a lasting rule",
    ),
    Operation(
        name="rules:try",
        method="POST",
        path="/api/rules/try",
        need="operator",
        body=TryBody,
        answer=RuleTrial,
        run=try_out,
        summary="What a rule would have answered, or how the rules would answer a request",
    ),
    Operation(
        name="rules:import",
        method="GET",
        path="/api/rules/import",
        need="owner",
        body=ImportQuery,
        answer=Proposals,
        run=proposals,
        summary="An agent's own permission lists, as rules to look at one by one",
    ),
)
