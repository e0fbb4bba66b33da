"""The idle and age limits of a session: announced before, cancelled by use, postponed by a person."""

from typing import Any

import pytest
from tests.session.hand_timers import HandTimers
from tests.session.playbook import NOW, Playbook, Step

from bascule.model.codec import timestamp
from bascule.model.events import (
    AnyEvent,
    EndCancelled,
    EndScheduled,
    PromptSent,
    SessionEnding,
    SessionReady,
    TurnEnded,
)
from bascule.model.settings import Limits
from bascule.session import supervisor
from bascule.session.time_limits import AGE, IDLE

pytestmark = [pytest.mark.anyio, pytest.mark.row("R15")]

READY, PROMPT, DONE = SessionReady("abc"), PromptSent("p", "hi", "ana"), TurnEnded("end_turn")
LIMITS = {"idle_seconds": 1800, "session_seconds": 14_400, "start_seconds": 0, "quiet_seconds": 0}


def book_of(*before: AnyEvent, **limits: Any) -> Playbook:
    return Playbook(*before, limits=Limits(**{**LIMITS, **limits}))


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "Deadlines", HandTimers)


def timers(book: Playbook) -> HandTimers:
    made = book.supervisor._deadlines  # pyright: ignore[reportPrivateUsage]
    assert isinstance(made, HandTimers)
    return made


def left(book: Playbook, name: str) -> float | None:
    """Seconds until a clock rings next."""
    return timers(book).left.get(name)


def ring(book: Playbook, name: str) -> None:
    """Let a clock ring now."""
    timers(book).ring(name)


def begin(book: Playbook) -> None:
    book.supervisor._begin_waiting()  # pyright: ignore[reportPrivateUsage]


async def test_an_idle_session_is_warned_five_minutes_before_it_ends():
    book = book_of(READY)
    begin(book)
    assert left(book, IDLE) == 1500
    ring(book, IDLE)
    assert await book.step() == Step([EndScheduled(timestamp(NOW + 300), "idle_limit")])
    assert (book.ledger.record.ends_at, left(book, IDLE)) == (timestamp(NOW + 300), 300)
    ring(book, IDLE)
    assert await book.step() == Step([SessionEnding("idle_limit", "limit")])
    assert book.ledger.record.ends_at is None


async def test_a_turn_that_runs_at_the_age_limit_is_warned_too_and_ends_only_then():
    book = book_of(READY, PROMPT)
    begin(book)
    assert left(book, AGE) == 14_100
    ring(book, AGE)
    assert await book.step() == Step([EndScheduled(timestamp(NOW + 300), "time_limit")])
    ring(book, AGE)
    assert await book.step() == Step([SessionEnding("time_limit", "limit")])


async def test_use_takes_back_the_end_of_an_idle_session_but_not_that_of_an_old_one():
    book = book_of(READY)
    begin(book)
    ring(book, IDLE)
    await book.step()
    book.ledger.log([PROMPT])
    book.supervisor.touch()
    assert EndCancelled() in (await book.step()).facts
    assert (book.ledger.record.ends_at, left(book, IDLE)) == (None, None)
    ring(book, AGE)
    await book.says(DONE)
    assert book.ledger.record.ends_for == "time_limit"


async def test_a_person_who_keeps_a_session_starts_both_clocks_again():
    book = book_of(READY)
    begin(book)
    ring(book, AGE)
    book.now += 200
    book.supervisor.keep("ana")
    step = await book.step()
    assert step.facts[-1] == EndCancelled("ana")
    assert (book.ledger.record.ends_at, book.ledger.record.kept_at) == (None, timestamp(NOW + 200))
    assert (left(book, AGE), left(book, IDLE)) == (14_100, 1500)
    # A server that starts later counts from then, too.
    book.now += 1000
    begin(book)
    assert left(book, AGE) == 13_100


async def test_a_session_that_grew_too_old_while_no_server_ran_is_warned_first():
    book = book_of(READY, PROMPT)
    book.now += 100_000
    begin(book)
    assert await book.step() == Step([EndScheduled(timestamp(book.now + 300), "time_limit")])
    assert left(book, AGE) == 300


async def test_a_short_limit_is_announced_halfway():
    book = book_of(READY, idle_seconds=60)
    begin(book)
    assert left(book, IDLE) == 30


async def test_no_limit_means_no_clock():
    book = book_of(READY, idle_seconds=0, session_seconds=0)
    begin(book)
    assert (left(book, IDLE), left(book, AGE)) == (None, None)


async def test_changed_limits_hold_for_a_session_that_runs():
    book = book_of(READY)
    begin(book)
    ring(book, AGE)
    await book.step()
    book.supervisor.set_limits(Limits(**{**LIMITS, "session_seconds": 0, "idle_seconds": 7200}))
    assert await book.step() == Step([EndCancelled()])
    assert (left(book, IDLE), left(book, AGE)) == (6900, None)
    # What is too old by the new limit is warned, not ended at once.
    book.now += 1000
    book.supervisor.set_limits(Limits(**{**LIMITS, "session_seconds": 900}))
    assert await book.step() == Step([EndScheduled(timestamp(book.now + 300), "time_limit")])
