"""A session's working time leaves out what people took to answer and to write."""

from typing import NamedTuple

import pytest
from msgspec import Raw

from bascule.model.codec import Logged, timestamp
from bascule.model.event_values import Question
from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PromptSent,
    QuestionAsked,
    SessionEnded,
    SessionReady,
    SessionStarted,
    TitleChanged,
    TurnEnded,
)
from bascule.model.records import Pending, SessionRecord
from bascule.model.session_fold import SessionFold


class At(NamedTuple):
    second: float
    event: AnyEvent


STARTED = At(0, SessionStarted("demo", "stream_json", "/x", "ana"))
SENT = At(1, PromptSent("p", "build it", "ana"))


def asked(second: float, request_id: str = "r") -> At:
    asks = PermissionRequested(request_id, "Bash", "ls", "execute", Raw(b"{}"), "ab", ())
    return At(second, asks)


def answered(second: float, request_id: str = "r") -> At:
    return At(second, PermissionAnswered(request_id, "allow", "ana"))


def folded(*log: At) -> SessionRecord:
    fold = SessionFold(SessionRecord("s"), Pending())
    for seq, (second, event) in enumerate(log, 1):
        fold.apply(Logged(seq, timestamp(second), event))
    return fold.record


def working(record: SessionRecord) -> tuple[int, str]:
    return record.worked_ms, record.working_since


@pytest.mark.row("X10")
def test_an_agent_that_was_answered_has_not_worked_while_it_waited() -> None:
    assert working(folded(STARTED, SENT)) == (0, timestamp(0))
    assert working(folded(STARTED, SENT, asked(3))) == (3000, "")
    log = (STARTED, SENT, asked(3), answered(20))
    assert working(folded(*log)) == (3000, timestamp(20))
    assert working(folded(*log, At(20.5, TurnEnded("end_turn")))) == (3500, "")


def test_two_requests_at_once_are_one_wait() -> None:
    log = (STARTED, SENT, asked(3, "a"), asked(5, "b"), answered(10, "b"))
    assert working(folded(*log)) == (3000, "")
    assert working(folded(*log, answered(30, "a"))) == (3000, timestamp(30))


def test_a_question_and_a_withdrawn_request_are_waits_too() -> None:
    question = QuestionAsked("q", (Question("Which one?"),), Raw(b"{}"), "ab")
    assert working(folded(STARTED, SENT, At(4, question))) == (4000, "")
    gone = At(9, PermissionWithdrawn("r", "agent"))
    assert working(folded(STARTED, SENT, asked(4), gone)) == (4000, timestamp(9))


def test_the_time_between_two_turns_and_between_two_runs_is_nobodys_work() -> None:
    turn = (
        STARTED,
        At(2, SessionReady("c")),
        At(60, PromptSent("p", "go", "ana")),
        At(63, TurnEnded("end_turn")),
    )
    assert working(folded(*turn)) == (5000, "")
    ended = (*turn, At(70, SessionEnded("exited", 0)), At(80, TitleChanged("Better", "ana")))
    assert working(folded(*ended)) == (5000, "")
    assert working(folded(*ended, At(100, STARTED.event))) == (5000, timestamp(100))


def test_a_clock_that_was_set_back_takes_nothing_away() -> None:
    assert (
        folded(STARTED, At(50, PromptSent("p", "go", "ana")), At(-10, TurnEnded("end_turn"))).worked_ms == 0
    )
