"""Errors: each has a code for programs, a sentence for people and the fields both may need."""

import pytest

from bascule.model.errors import (
    AgentNotInstalled,
    AlreadyAnswered,
    BasculeError,
    CallerError,
    HostError,
    InputChanged,
    InvalidInput,
    KeyReused,
    Refusal,
    Refused,
    RequestNotFound,
    RequestWithdrawn,
    SessionNotFound,
    StorageFull,
)

CASES: list[tuple[BasculeError, Refusal]] = [
    (BasculeError("Odd."), Refusal("INTERNAL_ERROR", "Odd.")),
    (CallerError("Change it."), Refusal("INVALID_MESSAGE", "Change it.")),
    (InvalidInput("Too long.", limit=3), Refusal("INVALID_INPUT", "Too long.", {"limit": 3})),
    (
        SessionNotFound("s1"),
        Refusal("SESSION_NOT_FOUND", "There is no session 's1'.", {"session_id": "s1"}),
    ),
    (
        RequestNotFound("r1"),
        Refusal("REQUEST_NOT_FOUND", "There is no request 'r1' in this session.", {"request_id": "r1"}),
    ),
    (
        AlreadyAnswered("r1", by="ana", at="12:00", decision="deny"),
        Refusal(
            "ALREADY_ANSWERED",
            "ana already answered this request (deny) at 12:00.",
            {"request_id": "r1", "by": "ana", "at": "12:00", "decision": "deny"},
        ),
    ),
    (
        RequestWithdrawn("r1", reason="ended"),
        Refusal(
            "REQUEST_WITHDRAWN",
            "This request is no longer open (ended); nothing was run.",
            {"request_id": "r1", "reason": "ended"},
        ),
    ),
    (
        InputChanged("r1"),
        Refusal(
            "INPUT_MISMATCH",
            "The answer was given for another input than this request's; look at it again.",
            {"request_id": "r1"},
        ),
    ),
    (
        KeyReused("k"),
        Refusal(
            "KEY_REUSED",
            "This idempotency key was used for a different request; use a new key.",
            {"key": "k"},
        ),
    ),
    (AgentNotInstalled("Install it."), Refusal("AGENT_UNAVAILABLE", "Install it.")),
    (StorageFull("Make room."), Refusal("STORAGE_FULL", "Make room.")),
]


@pytest.mark.parametrize(("error", "refusal"), CASES, ids=lambda case: type(case).__name__)
def test_an_error_crosses_a_link_as_code_sentence_and_fields(error: BasculeError, refusal: Refusal):
    assert error.refusal() == refusal
    assert str(error) == refusal.message


@pytest.mark.parametrize(("error", "refusal"), CASES, ids=lambda case: type(case).__name__)
def test_a_refusal_raised_on_this_side_is_the_same_refusal(error: BasculeError, refusal: Refusal):
    raised = Refused(refusal)
    assert (raised.refusal(), raised.message, raised.fields) == (refusal, refusal.message, refusal.fields)


def every(base: type[BasculeError]) -> set[type[BasculeError]]:
    ours = {kind for kind in base.__subclasses__() if kind.__module__ == BasculeError.__module__}
    return ours.union(*map(every, ours))


def test_every_error_but_three_is_the_callers_or_this_machines_fault():
    neither = {kind.__name__ for kind in every(BasculeError) if not issubclass(kind, CallerError | HostError)}
    assert neither == {"StoreConflict", "Diverged", "Refused"}


def test_no_two_errors_share_a_code_unless_one_is_a_kind_of_the_other():
    for kind in every(CallerError) | every(HostError):
        for other in every(CallerError) | every(HostError):
            related = issubclass(kind, other) or issubclass(other, kind)
            assert related or kind.code != other.code or "INTERNAL_ERROR" in (kind.code, other.code)
