"""Trying rules out: what a typed request is read as, and what would be answered, in words."""

import pytest
from tests.policy.asking import DISK, LANTERN, command, rule

from bascule.model.rules import RuleAnswer, StandingRule, ToolClass, Tried, TriedPart
from bascule.policy.decide import Part
from bascule.policy.fitting import RequestOrigin
from bascule.policy.subject import Subject
from bascule.policy.trying import overall, tried, typed_subject

PLACE = RequestOrigin("s1", LANTERN, "demo")


@pytest.mark.parametrize(
    ("tool_class", "text", "subject"),
    [
        (
            "command",
            "make && git push",
            Subject(
                "command",
                "",
                True,
                (("make",), ("git", "push")),
                text="make && git push",
                said="make && git push",
            ),
        ),
        ("command", "ls $HOME", Subject("command", "", False, None, text="ls $HOME", said="ls $HOME")),
        ("read", "src/a.py", Subject("read", "", True, paths=("src/a.py",), text="src/a.py")),
        ("edit", "src/a.py", Subject("edit", "", True, paths=("src/a.py",), text="src/a.py")),
        ("edit", "", Subject("edit", "", False, paths=("",))),
        ("edit", "a\nb", Subject("edit", "", False, paths=("a\nb",), text="a\nb")),
        # As in a real request: what a shell or a tool might read otherwise is not exact.
        ("edit", "~/a", Subject("edit", "", False, paths=("~/a",), text="~/a")),
        ("read", "src/*", Subject("read", "", False, paths=("src/*",), text="src/*")),
        (
            "fetch",
            "a.example",
            Subject("fetch", "", True, host="a.example", text="a.example", said="a.example"),
        ),
        ("fetch", "", Subject("fetch", "", False)),
        (
            "mcp",
            "mcp__db__query",
            Subject("mcp", "mcp__db__query", True, text="mcp__db__query", said="mcp__db__query"),
        ),
        ("other", "Task", Subject("other", "Task", True, text="Task", said="Task")),
    ],
)
def test_what_a_person_types_is_read_as_a_request_of_its_class(
    tool_class: ToolClass, text: str, subject: Subject
):
    assert typed_subject(tool_class, text) == subject


def part(answer: RuleAnswer | None) -> Part:
    return Part(None, answer, None)


@pytest.mark.parametrize(
    ("answers", "answer"),
    [
        ((), "ask"),
        ((None,), "ask"),
        (("allow",), "allow"),
        (("allow", "allow"), "allow"),
        (("allow", None), "ask"),
        (("allow", "ask"), "ask"),
        (("ask", "deny"), "deny"),
        (("allow", "deny"), "deny"),
        ((None, "deny"), "deny"),
    ],
)
def test_deny_beats_ask_and_a_chain_is_allowed_when_every_part_is(
    answers: tuple[RuleAnswer | None, ...], answer: RuleAnswer
):
    assert overall([part(one) for one in answers]) == answer


LS = command("allow", "ls", id="ls")
PWD = command("allow", "pwd", id="pwd")
PUSH = command("deny", "git push", id="push")
ASK = command("ask", "git pull", id="pull")


@pytest.mark.parametrize(
    ("text", "rules", "result"),
    [
        (
            "ls",
            [LS],
            Tried(
                "allow",
                "It would be allowed: Allow `ls` everywhere.",
                (TriedPart("ls", "allow", "ls", "Allow `ls` everywhere"),),
            ),
        ),
        (
            "ls && pwd && ls",
            [LS, PWD],
            Tried(
                "allow",
                "It would be allowed: Allow `ls` everywhere; Allow `pwd` everywhere.",
                (
                    TriedPart("ls", "allow", "ls", "Allow `ls` everywhere"),
                    TriedPart("pwd", "allow", "pwd", "Allow `pwd` everywhere"),
                    TriedPart("ls", "allow", "ls", "Allow `ls` everywhere"),
                ),
            ),
        ),
        (
            "ls && git push",
            [LS, PUSH],
            Tried(
                "deny",
                "It would be denied: Deny `git push` everywhere.",
                (
                    TriedPart("ls", "allow", "ls", "Allow `ls` everywhere"),
                    TriedPart("git push", "deny", "push", "Deny `git push` everywhere"),
                ),
            ),
        ),
        (
            "git pull",
            [ASK],
            Tried(
                "ask",
                "You would be asked: Ask `git pull` everywhere.",
                (TriedPart("git pull", "ask", "pull", "Ask `git pull` everywhere"),),
            ),
        ),
        (
            "env git push",
            [PUSH],
            Tried(
                "ask",
                "You would be asked: Deny `git push` everywhere might fit, which is not certain.",
                (TriedPart("env git push", "ask", "push", "Deny `git push` everywhere"),),
            ),
        ),
        (
            "ls && make && date",
            [LS],
            Tried(
                "ask",
                "You would be asked: no rule covers `make`, `date`, "
                "and a chain is only allowed when every part is.",
                (
                    TriedPart("ls", "allow", "ls", "Allow `ls` everywhere"),
                    TriedPart("make", None, None, ""),
                    TriedPart("date", None, None, ""),
                ),
            ),
        ),
        (
            "make",
            [LS],
            Tried("ask", "You would be asked: no rule covers it.", (TriedPart("make", None, None, ""),)),
        ),
        (
            "ls $x",
            [LS],
            Tried(
                "ask",
                "You would be asked: Bascule can't read this command exactly.",
                (TriedPart("ls $x", None, None, ""),),
            ),
        ),
    ],
)
def test_a_typed_command_is_answered_in_words(text: str, rules: list[StandingRule], result: Tried):
    assert tried(typed_subject("command", text), rules, PLACE, DISK) == result


@pytest.mark.parametrize(
    ("tool_class", "text", "standing", "answer"),
    [
        ("edit", "src/a.py", rule("allow", "edit"), "allow"),
        ("edit", "~/a.py", rule("allow", "edit"), "ask"),  # a real request for it asks, too
        ("read", ".env", rule("allow", "read"), "ask"),
        ("read", "a.py", rule("deny", "read", path="a.py"), "deny"),
        ("fetch", "a.example", rule("allow", "fetch", host="a.example"), "allow"),
        ("fetch", "b.example", rule("allow", "fetch", host="a.example"), "ask"),
        ("mcp", "mcp__db__query", rule("deny", "mcp", tool="mcp__db"), "deny"),
        ("other", "Task", rule("allow", "other", tool="Task"), "allow"),
    ],
)
def test_a_typed_path_host_or_tool_is_answered_as_a_request_would_be(
    tool_class: ToolClass, text: str, standing: StandingRule, answer: RuleAnswer
):
    found = tried(typed_subject(tool_class, text), [standing], PLACE, DISK)
    assert found.answer == answer
    assert [one.text for one in found.parts] == [text]
