"""Rules match exactly what a person allowed, and nothing that only looks like it."""

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Raw
from tests.policy.asking import DISK

from bascule.model.errors import InvalidInput
from bascule.model.events import PermissionRequested
from bascule.policy.decide import decide
from bascule.policy.session_rules import SessionRule, decode_rule, encode_rule, matching, rule_for, words
from bascule.policy.shell import exact_argv

CWD = "/home/dev/project"


def asked(tool: str, kind: str, /, **fields: object) -> PermissionRequested:
    raw = json.dumps(fields).encode()
    return PermissionRequested(
        "r1",
        tool,
        tool,
        kind,
        Raw(raw),
        hashlib.sha256(raw).hexdigest(),
        (),  # pyright: ignore
    )


def matches(rule: SessionRule, request: PermissionRequested, cwd: str) -> bool:
    return matching([rule], request, cwd, DISK) == [rule]


def bash(command: str) -> PermissionRequested:
    return asked("Bash", "execute", command=command, description="whatever the agent says")


@pytest.mark.row("S43")
def test_a_remembered_command_matches_itself_whatever_the_agent_says_about_it():
    rule = rule_for(bash("git status"), CWD)
    assert matches(rule, asked("Bash", "execute", command="git status", description="other words"), CWD)


@pytest.mark.row("S43")
@pytest.mark.parametrize(
    "command",
    [
        "git status; rm x",
        "git status\nrm x",
        "git status\r\nrm x",
        "git  status",
        " git status",
        "git status ",
        "git\tstatus",
        "GIT_PAGER=evil git status",
        "env GIT_PAGER=evil git status",
        "git status && rm x",
        "git status | sh",
        "git status > /etc/passwd",
        "git status $(rm x)",
        "git status `rm x`",
        "git status &",
        "git status #",
        "git 'status'",
        "git status --help",
        "./git status",
        "/usr/bin/git status",
        "git status\u00a0",
        "git\u200bstatus",
        "gіt status",  # a Cyrillic letter
        "",
    ],
)
def test_nothing_else_matches_a_remembered_command(command: str):
    rule = rule_for(bash("git status"), CWD)
    assert not matches(rule, bash(command), CWD)
    assert decide(bash(command), "relay", [rule], CWD) is None


@pytest.mark.row("S43")
def test_a_rule_holds_only_in_its_folder_and_for_its_tool():
    rule = rule_for(bash("git status"), CWD)
    assert not matches(rule, bash("git status"), CWD + "/sub")
    assert not matches(rule, asked("Shell", "execute", command="git status"), CWD)


@pytest.mark.row("S43")
@pytest.mark.parametrize(
    "command", ["echo $HOME", "ls *.py", "a; b", "A=1 make", "echo 'x'", "cat <x", "~/x"]
)
def test_a_command_that_a_shell_could_read_otherwise_cannot_be_remembered(command: str):
    with pytest.raises(InvalidInput, match="once"):
        rule_for(bash(command), CWD)


def test_commands_remembered_one_by_one_do_not_allow_their_chain():
    kept = [rule_for(bash(command), CWD) for command in ("make", "git push")]
    assert decide(bash("make && git push"), "relay", kept, CWD) is None
    assert matching(kept, bash("git push"), CWD, DISK) == kept[1:]


def test_flags_with_values_are_plain_words():
    assert exact_argv("pytest -x --maxfail=1 tests/a.py") == ("pytest", "-x", "--maxfail=1", "tests/a.py")


def test_an_edit_is_remembered_by_its_path_only():
    rule = rule_for(asked("Edit", "edit", file_path=f"{CWD}/a.py", old_string="x", new_string="y"), CWD)
    assert matches(rule, asked("Edit", "edit", file_path=f"{CWD}/a.py", old_string="z", new_string=""), CWD)
    assert not matches(rule, asked("Edit", "edit", file_path=f"{CWD}/b.py", old_string="x"), CWD)
    assert not matches(rule, asked("Write", "edit", file_path=f"{CWD}/a.py", content="x"), CWD)
    assert not matches(rule, asked("Edit", "edit", file_path=f"{CWD}/sub/../a.py"), CWD)


@pytest.mark.parametrize("path", ["a.py", "/home/dev/../etc/passwd", "/home//dev", "/x/\u202ey", "", "/a\nb"])
def test_a_path_that_must_be_resolved_first_cannot_be_remembered(path: str):
    with pytest.raises(InvalidInput, match="once"):
        rule_for(asked("Write", "edit", file_path=path), CWD)


def test_another_tool_is_remembered_by_its_exact_input():
    rule = rule_for(asked("mcp__db__query", "other", sql="select 1"), CWD)
    assert matches(rule, asked("mcp__db__query", "other", sql="select 1"), CWD)
    assert not matches(rule, asked("mcp__db__query", "other", sql="select 2"), CWD)


def test_a_plan_is_never_remembered_and_never_answered_by_a_mode():
    plan = asked("ExitPlanMode", "plan", plan="do it")
    with pytest.raises(InvalidInput):
        rule_for(plan, CWD)
    assert decide(plan, "auto", [], CWD) is None


@pytest.mark.row("R9")
@pytest.mark.parametrize(
    ("mode", "kind", "decision"),
    [
        ("relay", "read", None),
        ("relay", "execute", None),
        ("auto_read", "read", None),  # with a command in it, it is no reading
        ("auto_read", "search", None),
        ("auto_read", "execute", None),
        ("auto_read", "edit", None),
        ("auto_read", "fetch", None),
        ("auto", "execute", "allow"),
        ("auto", "edit", "allow"),
        ("deny", "read", "deny"),
        ("deny", "plan", "deny"),
    ],
)
def test_each_permission_mode_answers_only_what_it_says(mode: str, kind: str, decision: str | None):
    verdict = decide(asked("T", kind, command="x y"), mode, [], CWD)
    assert (verdict.decision if verdict else None) == decision


def test_a_deny_rule_is_stronger_than_any_allow():
    allow = rule_for(bash("make"), CWD)
    deny = SessionRule(allow.tool, allow.cwd, "deny", argv=allow.argv)
    verdict = decide(bash("make"), "auto", [allow, deny], CWD)
    assert verdict is not None
    assert verdict.decision == "deny"


def test_a_rule_survives_the_log_and_reads_as_a_sentence():
    rule = rule_for(bash("git status"), CWD)
    assert decode_rule(encode_rule(rule)) == rule
    assert words(rule) == f"Allow `git status` in {CWD}, in this session"


@pytest.mark.row("S43")
@pytest.mark.parametrize("raw", [b"[]", b"null", b'"x"', b'{"command": 3}', b'{"command": {"a": 1}}'])
def test_an_input_with_other_fields_asks(raw: bytes):
    odd = PermissionRequested("r", "Bash", "Bash", "execute", Raw(raw), "0", ())
    assert decide(odd, "relay", [rule_for(bash("git status"), CWD)], CWD) is None
    with pytest.raises(InvalidInput):
        rule_for(odd, CWD)


SCOPES = json.loads((Path(__file__).parents[1] / "fixtures" / "scope.json").read_text())


@pytest.mark.row("F4")
@pytest.mark.parametrize("case", SCOPES, ids=lambda case: json.dumps(case["asked"])[:80])
def test_what_the_page_offers_for_the_session_is_what_can_be_remembered(case: dict[str, Any]):
    """The page's own reading is held to the same cases, in `pure_checks.mjs`."""
    told = case["asked"]
    request = asked(told["tool"], told["kind"], **told["input"])
    request = msgspec.structs.replace(request, blocked_path=told.get("blocked_path"))
    if case["offered"]:
        assert matches(rule_for(request, "/code"), request, "/code")
    else:
        with pytest.raises(InvalidInput, match="once"):
            rule_for(request, "/code")
