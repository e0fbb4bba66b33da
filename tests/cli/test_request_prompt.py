"""What a typed line means, and what a request looks like before it is typed."""

import io
from typing import Any

import pytest
from msgspec import Raw
from msgspec.json import encode

from bascule.commands.console import Console
from bascule.commands.request_prompt import (
    TypedAnswer,
    permission_keys,
    permission_text,
    question_keys,
    read_answer,
    read_permission_answer,
)
from bascule.model.event_values import PermissionOption, Question, QuestionOption
from bascule.model.events import PermissionRequested


def asked(value: Any, **fields: Any) -> PermissionRequested:
    options = (
        PermissionOption("once", "allow_once", "Yes"),
        PermissionOption("always", "allow_always", "Always allow git", "in this project"),
        PermissionOption("no", "deny", "No"),
    )
    said = {"tool": "Bash", "title": "Run", "kind": "execute", "options": options, **fields}
    return PermissionRequested(request_id="r1", input=Raw(encode(value)), input_sha256="0" * 64, **said)


def shown(value: Any, *, colour: bool = False, **fields: Any) -> str:
    terminal = Console(io.StringIO(), colour=colour, interactive=False)
    return permission_text(asked(value, **fields), terminal)


@pytest.mark.parametrize(
    ("typed", "verdict"),
    [
        ("y", TypedAnswer("allow", option="once")),
        (" YES ", TypedAnswer("allow", option="once")),
        ("s", TypedAnswer("allow", remember=True)),
        ("a1", TypedAnswer("allow", option="always")),
        ("n", TypedAnswer("deny")),
        ("n  not on Friday ", TypedAnswer("deny", message="not on Friday")),
        ("", None),
        ("   ", None),
        ("a2", None),
        ("a", None),
        ("a0", None),
        ("y please", None),
        ("s now", None),
        ("yy", None),
        ("allow", None),
        ("\x1b[A", None),
        ("1", None),
    ],
)
def test_only_clear_words_are_an_answer(typed: str, verdict: TypedAnswer | None):
    assert read_permission_answer(typed, asked({"command": "ls"})) == verdict


def test_where_its_machine_takes_one_answer_for_one_request_no_more_is_offered_or_read():
    request = asked({"command": "ls"})
    terminal = Console(io.StringIO(), colour=False, interactive=False)
    text = permission_text(request, terminal, only_once="laptop")
    assert "a1 =" not in text
    assert "laptop takes an answer for more than one request only on laptop itself" in text
    assert "`bascule daemon hub-may-widen yes`" in text
    assert permission_keys(request, only_once=True) == "[y allow once, n [reason] deny, v view all] "
    assert read_permission_answer("y", request, only_once=True) == TypedAnswer("allow", option="once")
    assert read_permission_answer("n", request, only_once=True) == TypedAnswer("deny")
    for more in ("s", "a1"):
        assert read_permission_answer(more, request, only_once=True) is None


def test_an_agent_without_an_allow_once_option_is_allowed_without_naming_one():
    request = PermissionRequested("r", "T", "t", "other", Raw(b"{}"), "0" * 64, ())
    assert read_permission_answer("y", request) == TypedAnswer("allow")


def test_a_command_is_shown_with_all_its_fields_and_the_options_with_their_reach():
    text = shown({"command": "git push\nrm x", "timeout": 5, "nested": {"a": ["b"]}})
    assert "  $ git push\n  rm x\n" in text
    assert "  timeout: 5\n" in text
    assert '"b"' in text
    assert "a1 = Always allow git (in this project)" in text


def test_an_edit_is_shown_as_a_diff():
    text = shown({"file_path": "/a.py", "old_string": "one\ntwo", "new_string": "one\nthree"})
    assert "  file_path: /a.py" in text
    assert "  -two\n" in text
    assert "  +three\n" in text
    assert "\x1b[32m" in shown({"old_string": "a", "new_string": "b"}, colour=True)


@pytest.mark.row("S44")
@pytest.mark.parametrize("field", ["tool", "title", "note", "blocked_path"])
def test_hidden_characters_are_shown_in_every_field(field: str):
    text = shown({"command": "ls"}, **{field: "a\u202e\u200b\x1b[2Jb\rc\nPermission: fake"})
    assert "a\\u{202e}\\u{200b}\\u{1b}[2Jb\\u{d}c\\nPermission: fake" in text
    assert "invisible characters" in text
    assert "\nPermission: fake" not in text


@pytest.mark.row("S44")
def test_hidden_characters_deep_in_the_input_are_shown_and_warned_of():
    text = shown({"a": {"b\u2066": ["x\u00a0y"]}})
    assert "x\\u{a0}y" in text
    assert "b\\u{2066}" in text
    assert "invisible characters" in text


def test_an_honest_request_carries_no_warning():
    assert "invisible characters" not in shown({"command": "echo naïve 漢字"})


@pytest.mark.row("S44")
def test_input_that_is_no_object_or_no_json_is_shown_too():
    assert "[\n" in shown(["a"])
    terminal = Console(io.StringIO(), interactive=False)
    broken = PermissionRequested("r", "T", "t", "other", Raw(b"{oops\x1b"), "0" * 64, ())
    assert "{oops\\u{1b}" in permission_text(broken, terminal)


COLOURS = Question("Which?", options=(QuestionOption("red"), QuestionOption("blue")))
SEVERAL = Question("Which?", options=(QuestionOption("red"), QuestionOption("blue")), multi_select=True)
FREE = Question("Name?")


@pytest.mark.parametrize(
    ("question", "typed", "answer"),
    [
        (COLOURS, "1", "red"),
        (COLOURS, " 2 ", "blue"),
        (COLOURS, "3", None),
        (COLOURS, "0", None),
        (COLOURS, "1,2", None),
        (COLOURS, "", None),
        (COLOURS, "green, maybe", "green, maybe"),
        (SEVERAL, "1,2", "red, blue"),
        (SEVERAL, "2 2 1", "blue, red"),
        (SEVERAL, "1,9", None),
        (FREE, "7", "7"),
        (FREE, "Ana", "Ana"),
    ],
)
def test_numbers_mean_options_and_words_mean_themselves(question: Question, typed: str, answer: str | None):
    assert read_answer(typed, question) == answer


def test_the_keys_say_what_can_be_typed():
    assert "your answer" in question_keys(FREE)
    assert "1,3" in question_keys(SEVERAL)
