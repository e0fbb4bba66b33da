"""Deadlines of requests: from when they were asked, by the limits of now, denied once and audited."""

from collections.abc import Sequence

import pytest
from msgspec import Raw
from msgspec.structs import replace
from tests.session.hand_timers import HandTimers
from tests.session.playbook import LineDriver

from bascule.model.codec import encode, timestamp
from bascule.model.commands import Actor
from bascule.model.event_values import Question
from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    QuestionAnswered,
    QuestionAsked,
)
from bascule.model.records import Pending, RequestRecord, RequestState, SessionRecord, Write
from bascule.model.settings import Limits
from bascule.session.answer_deadlines import NO_ANSWER, AnswerDeadlines, answer_audit
from bascule.session.ledger import Ledger
from bascule.store.base import AuditRecord, ResumePoint

NOW = 1_000_000.0
SHA = "0" * 64
PERMISSION = PermissionRequested("r", "Bash", "Run ls", "execute", Raw(b"{}"), SHA, ())
QUESTION = QuestionAsked("r", (Question("Which colour?"),), Raw(b"{}"), SHA)
LIMITS = Limits(permission_seconds=100, question_seconds=30)


class Session:
    """One request, asked some seconds ago, and what is logged about it."""

    def __init__(
        self, asked: PermissionRequested | QuestionAsked, *, ago: float = 0, state: RequestState = "open"
    ) -> None:
        kind = "permission" if isinstance(asked, PermissionRequested) else "question"
        opened = timestamp(NOW - ago)
        self.request = RequestRecord("s", "r", kind, state, SHA, Raw(encode(asked)), opened, 1)
        point = ResumePoint(SessionRecord("s"), Pending(), 0, 0, None, [], [self.request])
        ledger = Ledger(None, point, lambda: NOW)  # pyright: ignore[reportArgumentType] - nothing is appended
        self.timers = HandTimers()
        self.logged: list[tuple[list[AnyEvent], list[AuditRecord]]] = []
        self.deadlines = AnswerDeadlines(
            ledger,
            LineDriver(),  # pyright: ignore[reportArgumentType]
            self.timers,
            lambda: NOW,
            self._log,
        )

    def _log(
        self, events: Sequence[AnyEvent], *, writes: Sequence[Write], audit: Sequence[AuditRecord]
    ) -> None:
        assert len(writes) == 1
        self.logged.append((list(events), list(audit)))

    @property
    def left(self) -> dict[str, float]:
        return self.timers.left


@pytest.mark.parametrize(
    ("asked", "ago", "limits", "left"),
    [
        (PERMISSION, 0, LIMITS, {"answer r": 100}),
        (PERMISSION, 40, LIMITS, {"answer r": 60}),
        (PERMISSION, 500, LIMITS, {"answer r": 0.01}),
        (PERMISSION, -40, LIMITS, {"answer r": 100}),
        (QUESTION, 10, LIMITS, {"answer r": 20}),
        (PERMISSION, 0, Limits(permission_seconds=0), {}),
        (QUESTION, 0, Limits(question_seconds=0), {}),
    ],
    ids=[
        "new",
        "after a restart",
        "overdue",
        "clock set back",
        "question",
        "no limit",
        "no limit (question)",
    ],
)
def test_the_time_left_is_counted_from_when_it_was_asked(
    asked: PermissionRequested | QuestionAsked, ago: float, limits: Limits, left: dict[str, float]
):
    session = Session(asked, ago=ago)
    session.deadlines.set_all(limits)
    assert session.left == pytest.approx(left)


@pytest.mark.parametrize("state", ["answered", "delivered", "confirmed", "withdrawn"])
def test_a_request_that_is_not_open_has_no_deadline(state: RequestState):
    session = Session(PERMISSION, state=state)
    session.deadlines.set("r", LIMITS)
    session.deadlines.set("unknown", LIMITS)
    assert session.left == {}


def test_other_limits_replace_a_deadline_or_take_it_back():
    session = Session(PERMISSION)
    session.deadlines.set("r", LIMITS)
    session.deadlines.set("r", Limits(permission_seconds=7))
    assert session.left == pytest.approx({"answer r": 7})
    session.deadlines.set("r", Limits(permission_seconds=0))
    assert session.left == {}


@pytest.mark.parametrize(
    ("asked", "answer", "audited"),
    [
        (
            PERMISSION,
            PermissionAnswered("r", "deny", "timeout", message=NO_ANSWER),
            ("permission", "timeout", "r", "deny", SHA),
        ),
        (
            QUESTION,
            QuestionAnswered("r", "timeout", message=NO_ANSWER),
            ("question", "timeout", "r", "answered", SHA),
        ),
    ],
    ids=["permission", "question"],
)
def test_a_request_that_nobody_answered_is_denied_and_audited(
    asked: PermissionRequested | QuestionAsked, answer: AnyEvent, audited: tuple[str, ...]
):
    session = Session(asked)
    session.deadlines.set("r", LIMITS)
    session.timers.waiting["answer r"].action()
    ((events, (record,)),) = session.logged
    assert events == [answer]
    assert (
        record.action,
        record.actor,
        record.request_id,
        record.decision,
        record.input_sha256,
    ) == audited


def test_a_request_that_was_answered_meanwhile_is_not_denied():
    session = Session(PERMISSION)
    session.deadlines.set("r", LIMITS)
    session.request.state = "answered"
    session.timers.waiting["answer r"].action()
    assert session.logged == []


@pytest.mark.row("X3")
def test_the_audit_names_the_rule_that_answered_and_last_what_was_asked():
    answer = PermissionAnswered("r", "allow", "policy", rule="reads are allowed")
    record = answer_audit("s", PERMISSION, answer, Actor("policy"))
    assert (record.detail, record.decision, record.session_id) == ("reads are allowed; Run ls", "allow", "s")
    late = answer_audit("s", QUESTION, QuestionAnswered("r", "ana"), Actor("ana", given_at="yesterday"))
    assert (late.action, late.detail) == ("question", "given at yesterday; Which colour?")


@pytest.mark.row("X3", "S49")
def test_no_key_in_a_command_or_a_rule_reaches_the_audit():
    key = "sk-ant-api03" + "-Zq8vT2kLm4Np6Rs8Tu0Vw1"
    asked = replace(PERMISSION, input=Raw(encode({"command": f"TOKEN={key} make"})))
    answer = PermissionAnswered("r", "allow", "ana", rule=f"Allow `TOKEN={key} make`")
    record = answer_audit("s", asked, answer, Actor("ana"))
    assert record.detail == "Allow `TOKEN=[hidden] make`; Bash: TOKEN=[hidden] make"
