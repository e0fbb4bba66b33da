"""A standing rule without its history is the rule a person wrote."""

import pytest

from bascule.model.rules import RuleSpec, StandingRule, spec_of

HISTORY = {"id": "rule1", "created_at": "2031-01-01T00:00:00.000Z", "created_by": "ana"}
SPECS = [
    RuleSpec(answer="allow", tool_class="command", argv=("git", "status"), more=True, folder="/p"),
    RuleSpec(answer="deny", tool_class="edit", path="**/.env", session_id="s", agent="demo"),
    RuleSpec(answer="ask", tool_class="mcp", tool="mcp__lamp", expires_at="2032-01-01T00:00:00.000Z"),
    RuleSpec(answer="allow", tool_class="fetch", host="example.org"),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.tool_class)
def test_the_spec_of_a_rule_has_every_field_and_no_history(spec: RuleSpec):
    fields = {name: getattr(spec, name) for name in RuleSpec.__struct_fields__}
    rule = StandingRule(**fields, **HISTORY, used=3, used_at="2031-02-01T00:00:00.000Z")
    assert spec_of(rule) == spec
    assert type(spec_of(rule)) is RuleSpec
