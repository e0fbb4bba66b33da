"""Operations on lasting rules, which the device keeps."""

from bascule.api.bodies import TryBody
from bascule.api.pushes import RulesChanged
from bascule.api.request_answers import RuleTrial
from bascule.hub.calls.call import Call
from bascule.hub.calls.forwarding import forwarding
from bascule.hub.calls.operation import Operation
from bascule.link.rules import AddRule, ListRules, ProposeRules, RemoveRule, TryRule
from bascule.model.errors import InvalidInput

CHANGED = RulesChanged()


async def try_out(call: Call[TryBody]) -> RuleTrial:
    body = call.body
    if body.rule is not None and body.request is None:
        return RuleTrial(dry_run=await call.ask(TryRule(rule=body.rule)))
    if body.request is not None and body.rule is None:
        return RuleTrial(tried=await call.ask(body.request))
    raise InvalidInput("Give either rule or request.")


OPERATIONS = (
    forwarding(
        ListRules,
        name="rules:list",
        method="GET",
        path="/api/rules",
        need="viewer",
        summary="List lasting rules",
    ),
    forwarding(
        AddRule,
        changed=CHANGED,
        name="rules:add",
        method="POST",
        path="/api/rules",
        need="owner",
        answer_key="rule",
        summary="Add a lasting rule, or replace one",
    ),
    forwarding(
        RemoveRule,
        changed=CHANGED,
        name="rules:remove",
        method="DELETE",
        path="/api/rules/{rule_id}",
        need="owner",
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
        summary="Try a rule on earlier requests, or all rules on one request",
        for_device=True,
    ),
    forwarding(
        ProposeRules,
        name="rules:import",
        method="GET",
        path="/api/rules/import",
        need="owner",
        summary="Convert an agent's own permission lists to rules, for review",
    ),
)
