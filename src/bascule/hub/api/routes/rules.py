"""Lasting rules: what is answered without asking, tried out before it counts."""

from bascule.hub.api import rules as ruling
from bascule.hub.api.bodies import ImportQuery, RuleBody, TryBody
from bascule.hub.api.call import AnyCall, Call
from bascule.hub.api.routes.machine import Empty
from bascule.hub.api.table import NoQuery, Row
from bascule.hub.api.views import Done, RuleTrial
from bascule.link.rules import Proposals, RuleView, RuleViews


async def rules(call: AnyCall) -> RuleViews:
    return await ruling.rule_list(call.hub)


async def add_rule(call: Call[RuleBody, NoQuery]) -> RuleView:
    return await ruling.add_rule(call.hub, call.by, call.body)


async def remove_rule(call: AnyCall) -> Done:
    await ruling.remove_rule(call.hub, call.by, call.params["id"])
    return Done(ok=True)


async def try_rule(call: Call[TryBody, NoQuery]) -> RuleTrial:
    return await ruling.try_out(call.hub, call.body)


async def proposals(call: Call[None, ImportQuery]) -> Proposals:
    return await ruling.proposals(call.hub, call.query.folder)


ROWS = [
    Row(
        method="GET",
        path="/api/rules",
        need="viewer",
        serve=rules,
        summary="What is answered without asking",
        answer=RuleViews,
    ),
    Row(
        method="POST",
        path="/api/rules",
        need="owner",
        serve=add_rule,
        summary="Make a lasting rule, or put one in another's place",
        body=RuleBody,
        answer=RuleView,
    ),
    Row(
        method="DELETE",
        path="/api/rules/{id}",
        need="owner",
        serve=remove_rule,
        summary="Remove a lasting rule",
        body=Empty,
        answer=Done,
    ),
    Row(
        method="POST",
        path="/api/rules/try",
        need="operator",
        serve=try_rule,
        summary="What a rule would have answered, or how the rules would answer a request",
        body=TryBody,
        answer=RuleTrial,
    ),
    Row(
        method="GET",
        path="/api/rules/import",
        need="owner",
        serve=proposals,
        summary="An agent's own permission lists, as rules to look at one by one",
        query=ImportQuery,
        answer=Proposals,
    ),
]
