"""Other tools' permission lists: the exact rule each line becomes, or why it becomes none."""

from typing import Any

import pytest

from bascule.model.rules import RuleSpec
from bascule.policy.allow_lists import Origin, Untranslatable, translated

PROJECT = Origin("/srv/ana/lantern", "/srv/ana")
USER = Origin(None, "/srv/ana")


def rule(tool_class: str, **fields: Any) -> RuleSpec:
    return RuleSpec(answer="allow", tool_class=tool_class, folder="/srv/ana/lantern", **fields)  # pyright: ignore


@pytest.mark.parametrize(
    ("line", "spec"),
    [
        ("Bash(git status)", rule("command", argv=("git", "status"))),
        ("Bash(git status:*)", rule("command", argv=("git", "status"), more=True)),
        ("Bash(git status *)", rule("command", argv=("git", "status"), more=True)),
        ("  Bash(ls)  ", rule("command", argv=("ls",))),
        ("Bash", rule("command")),
        ("Bash()", rule("command")),
        ("Bash(*)", rule("command")),
        ("WebFetch(domain:example.org)", rule("fetch", host="example.org")),
        ("WebFetch", rule("fetch")),
        ("mcp__lamp__glow", rule("mcp", tool="mcp__lamp__glow")),
        ("mcp__lamp__*", rule("mcp", tool="mcp__lamp")),
        ("mcp__lamp", rule("mcp", tool="mcp__lamp")),
        ("TodoWrite", rule("other", tool="TodoWrite")),
        *((name, rule("read")) for name in ("Read", "Glob", "Grep", "LS")),
        *((name, rule("edit")) for name in ("Edit", "Write", "MultiEdit", "NotebookEdit")),
        ("Read(//etc/hosts)", rule("read", path="/etc/hosts")),
        ("Read(~/notes/*.md)", rule("read", path="/srv/ana/notes/*.md")),
        ("Edit(/src/**)", rule("edit", path="src/**")),
        ("Edit(./src/a.py)", rule("edit", path="src/a.py")),
        ("Edit(src/a.py)", rule("edit", path="src/a.py")),
        ("Edit(src/)", rule("edit", path="**/src/**")),
        ("Edit(docs/src/)", rule("edit", path="docs/src/**")),
        ("Read(.env)", rule("read", path="**/.env")),
    ],
)
def test_a_line_becomes_the_rule_that_says_the_same(line: str, spec: RuleSpec):
    assert translated(line, "allow", PROJECT) == spec


@pytest.mark.parametrize("answer", ["allow", "deny", "ask"])
def test_the_answer_is_the_lists_and_a_users_list_has_no_folder(answer: Any):
    assert translated("Bash(ls)", answer, USER) == RuleSpec(answer=answer, tool_class="command", argv=("ls",))


@pytest.mark.parametrize(
    ("line", "origin", "why"),
    [
        ("", PROJECT, "It is not written in a form Bascule knows."),
        ("Bash(ls", PROJECT, "It is not written in a form Bascule knows."),
        ("2Bash", PROJECT, "It is not written in a form Bascule knows."),
        (
            "mcp__lamp__glow(1)",
            PROJECT,
            "Bascule's rules look at an MCP tool's name only, not at what it is given.",
        ),
        ("Task(explore)", PROJECT, "What Task is given can't be compared exactly."),
        ("WebFetch(https://example.org/a)", PROJECT, "Only whole hosts (`domain:`) have a rule."),
        (
            "Bash(git * main)",
            PROJECT,
            "A star inside a command has no exact meaning here; write its first words.",
        ),
        (
            "Bash(a && b)",
            PROJECT,
            "The command is not plain words, so Bascule would ask about it anyway.",
        ),
        (
            "Bash(echo $HOME)",
            PROJECT,
            "The command is not plain words, so Bascule would ask about it anyway.",
        ),
        ("Read(a?.py)", PROJECT, "Only `*` and `**` have a meaning in Bascule's paths."),
        ("Read({a,b}.py)", PROJECT, "Only `*` and `**` have a meaning in Bascule's paths."),
        ("Edit(/src/**)", USER, "It begins where its list lies, which is no project."),
    ],
)
def test_a_line_without_an_equal_says_why(line: str, origin: Origin, why: str):
    with pytest.raises(Untranslatable) as refused:
        translated(line, "allow", origin)
    assert str(refused.value) == why


def test_a_rule_that_lasting_rules_refuse_is_refused_in_their_words():
    with pytest.raises(Untranslatable, match=r"\S"):
        translated("WebFetch(domain:)", "allow", PROJECT)
