"""Answers: which ones count, what fact each becomes, and why the others are refused."""

from typing import Any

import pytest
from msgspec import Raw

from bascule.model.codec import encode
from bascule.model.commands import Actor, AnswerPermission, AnswerQuestion
from bascule.model.errors import (
    AlreadyAnswered,
    BasculeError,
    InputChanged,
    InvalidInput,
    RequestNotFound,
    RequestWithdrawn,
    UnknownOption,
)
from bascule.model.event_values import PermissionOption, Question
from bascule.model.events import PermissionAnswered, PermissionRequested, QuestionAnswered, QuestionAsked
from bascule.model.records import RequestRecord
from bascule.policy.answer_checks import (
    DENIED,
    MESSAGE_LENGTH,
    allows_more,
    asked_permission,
    asked_question,
    check_open,
    permission_answer,
    question_answer,
)

ANA = Actor("ana")
ASKED = PermissionRequested(
    "r",
    "Bash",
    "ls",
    "execute",
    Raw(b"{}"),
    "ab",
    (
        PermissionOption("once", "allow_once", "Allow once"),
        PermissionOption("always", "allow_always", "Always"),
        PermissionOption("no", "deny", "Deny"),
    ),
)
QUESTION = QuestionAsked("q", (Question("Which?"), Question("When?")), Raw(b"{}"), "cd")


def record(**more: Any) -> RequestRecord:
    fields: dict[str, Any] = {"kind": "permission", "state": "open", "input_sha256": "ab", **more}
    return RequestRecord("s", "r", asked=Raw(encode(ASKED)), opened_at="", seq=1, **fields)


ANSWERED = {
    "answer": PermissionAnswered("r", "deny", "ben"),
    "answered_by": "ben",
    "answered_at": "noon",
}


@pytest.mark.parametrize("sha256", [None, "ab"])
def test_an_open_request_can_be_answered(sha256: str | None):
    request = record()
    assert check_open(request, "r", "permission", sha256) is request


@pytest.mark.parametrize(
    ("request_", "kind", "sha256", "error", "fields"),
    [
        (None, "permission", None, RequestNotFound, {"request_id": "r"}),
        (record(), "question", None, RequestNotFound, {"request_id": "r"}),
        (
            record(state="withdrawn", reason="ended"),
            "permission",
            None,
            RequestWithdrawn,
            {"request_id": "r", "reason": "ended"},
        ),
        (
            record(state="withdrawn"),
            "permission",
            None,
            RequestWithdrawn,
            {"request_id": "r", "reason": "withdrawn"},
        ),
        *(
            (
                record(state=state, **ANSWERED),
                "permission",
                "another",  # who was first is told before what was looked at
                AlreadyAnswered,
                {"request_id": "r", "by": "ben", "at": "noon", "decision": "deny"},
            )
            for state in ("answered", "delivered", "confirmed")
        ),
        (
            record(state="answered", kind="question", answer=QuestionAnswered("r", "ben")),
            "question",
            None,
            AlreadyAnswered,
            {"request_id": "r", "by": "", "at": "", "decision": "answered"},
        ),
        (record(), "permission", "cd", InputChanged, {"request_id": "r"}),
    ],
)
def test_a_request_that_cannot_be_answered_says_why(
    request_: RequestRecord | None,
    kind: str,
    sha256: str | None,
    error: type[BasculeError],
    fields: dict[str, str],
):
    with pytest.raises(error) as refused:
        check_open(request_, "r", kind, sha256)
    assert refused.value.fields == fields


def test_what_was_asked_is_read_back_from_the_record():
    assert asked_permission(record()) == ASKED
    kept = RequestRecord("s", "q", "question", "open", "cd", Raw(encode(QUESTION)), "", 1)
    assert asked_question(kept) == QUESTION


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ({"decision": "allow"}, PermissionAnswered("r", "allow", "ana")),
        ({"decision": "allow", "message": "Go"}, PermissionAnswered("r", "allow", "ana", message="Go")),
        ({"decision": "deny"}, PermissionAnswered("r", "deny", "ana", message=DENIED)),
        ({"decision": "deny", "message": "No"}, PermissionAnswered("r", "deny", "ana", message="No")),
        ({"decision": "allow", "option": "once"}, PermissionAnswered("r", "allow", "ana", "once")),
        ({"decision": "allow", "option": "always"}, PermissionAnswered("r", "allow", "ana", "always")),
        ({"decision": "deny", "option": "no"}, PermissionAnswered("r", "deny", "ana", "no", message=DENIED)),
        ({"decision": "allow", "remember": True}, PermissionAnswered("r", "allow", "ana")),
        (
            {"decision": "allow", "remember": True, "option": "once"},
            PermissionAnswered("r", "allow", "ana", "once"),
        ),
        (
            {"decision": "allow", "message": "x" * MESSAGE_LENGTH},
            PermissionAnswered("r", "allow", "ana", message="x" * MESSAGE_LENGTH),
        ),
    ],
)
def test_a_permission_is_answered_so(command: dict[str, Any], answer: PermissionAnswered):
    given = AnswerPermission(session_id="s", request_id="r", **command)
    assert permission_answer(ASKED, given, ANA.name) == answer


@pytest.mark.parametrize(
    ("command", "error", "words"),
    [
        ({"decision": "allow", "option": "never"}, UnknownOption, "This request has no option 'never'."),
        ({"decision": "allow", "option": "no"}, UnknownOption, "Option 'no' does not mean 'allow'."),
        ({"decision": "deny", "option": "once"}, UnknownOption, "Option 'once' does not mean 'deny'."),
        (
            {"decision": "allow", "option": "always", "remember": True},
            InvalidInput,
            "Choose either the agent's own rule or a rule of this session.",
        ),
        ({"decision": "deny", "remember": True}, InvalidInput, "Only an allowed request can be remembered."),
        (
            {"decision": "allow", "message": "x" * (MESSAGE_LENGTH + 1)},
            InvalidInput,
            f"The message is longer than {MESSAGE_LENGTH} characters.",
        ),
    ],
)
def test_an_answer_to_a_permission_is_refused(command: dict[str, Any], error: type[BasculeError], words: str):
    given = AnswerPermission(session_id="s", request_id="r", **command)
    with pytest.raises(error) as refused:
        permission_answer(ASKED, given, ANA.name)
    assert refused.value.message == words


@pytest.mark.parametrize(
    "given",
    [
        {"answers": {"Which?": "a"}},
        {"answers": {"Which?": "a", "When?": "b"}, "notes": {"When?": "soon"}},
        {"message": "None of these."},
        {"answers": {"Which?": "a"}, "message": "And hurry."},
    ],
)
def test_a_question_is_answered_so(given: dict[str, Any]):
    command = AnswerQuestion(session_id="s", request_id="q", **given)
    assert question_answer(QUESTION, command, ANA.name) == QuestionAnswered("q", "ana", **given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "Answer at least one question, or decline with a message."),
        ({"notes": {"Which?": "a"}}, "Answer at least one question, or decline with a message."),
        ({"answers": {"Who?": "a"}}, "There is no question 'Who?' in this request."),
        (
            {"answers": {"Which?": "a"}, "notes": {"Who?": "a"}},
            "There is no question 'Who?' in this request.",
        ),
        (
            {"answers": {"?" * 100: "a"}},
            f"There is no question {'?' * 80!r} in this request.",
        ),
        (
            {"message": "x" * (MESSAGE_LENGTH + 1)},
            f"The message is longer than {MESSAGE_LENGTH} characters.",
        ),
    ],
)
def test_an_answer_to_a_question_is_refused(given: dict[str, Any], words: str):
    command = AnswerQuestion(session_id="s", request_id="q", **given)
    with pytest.raises(InvalidInput) as refused:
        question_answer(QUESTION, command, ANA.name)
    assert refused.value.message == words


@pytest.mark.row("R17", "S39")
@pytest.mark.parametrize(
    ("kinds", "option", "more"),
    [
        (("allow_once", "allow_always", "deny"), "o0", False),
        (("allow_once", "allow_always", "deny"), "o1", True),
        (("allow_once", "allow_always", "deny"), None, False),
        (("allow_always", "deny"), None, True),  # the driver has nothing narrower to choose
        (("deny",), None, False),
        ((), None, False),
        (("allow_once",), "unknown", False),  # refused by its own check
    ],
)
def test_an_allow_that_reaches_further_than_its_request_is_known(
    kinds: tuple[Any, ...], option: str | None, more: bool
) -> None:
    options = tuple(PermissionOption(f"o{n}", kind, kind) for n, kind in enumerate(kinds))
    asked = PermissionRequested("r", "T", "t", "other", Raw(b"{}"), "0" * 64, options)
    assert allows_more(asked, option) is more
