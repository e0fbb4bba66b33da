"""Guard rails in a session: warned, stopped after the current tool, asked, raised or ended."""

from typing import Any

import pytest
from tests.session.playbook import Playbook, Step

from bascule.model.commands import Actor, AnswerGuard, Envelope, SendPrompt
from bascule.model.errors import InvalidInput, RequestNotFound
from bascule.model.event_values import Usage
from bascule.model.events import (
    AnyEvent,
    GuardAnswered,
    GuardAsked,
    Interrupted,
    Note,
    PromptQueued,
    PromptSent,
    SessionReady,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    UsageChanged,
)
from bascule.model.settings import Limits
from bascule.session.commands import carry_out
from bascule.session.guard_answers import GO_ON, LOOP

pytestmark = [pytest.mark.anyio]

READY, PROMPT = SessionReady("abc"), PromptSent("p", "hi", "ana")
OWNER = Actor("ana", "grant-1")
STOPPED = TurnEnded("interrupted")


def book_of(*before: AnyEvent, **limits: int) -> Playbook:
    none = {"session_seconds": 0, "idle_seconds": 0, "start_seconds": 0, "quiet_seconds": 0}
    return Playbook(READY, PROMPT, *before, limits=Limits(**{**none, **limits}))


def kinds(step: Step) -> list[type]:
    return [type(event) for event in step.facts]


async def answer(book: Playbook, decision: str = "go_on", by: Actor = OWNER, **more: Any) -> Step:
    guard = book.ledger.record.guard
    named = {"guard_id": guard.guard_id if guard else "none", **more}
    command = AnswerGuard(session_id="s", decision=decision, **named)
    await carry_out(book.supervisor, Envelope(command, by), book.store)
    return await book.step()


@pytest.mark.row("R15")
async def test_a_cap_is_warned_of_once_and_asked_about_when_it_is_reached():
    book = book_of(session_cents=100)
    near = await book.says(UsageChanged(cost_usd=0.85))
    assert [event.text for event in near.facts if isinstance(event, Note)] == [
        "$0.85 of $1.00 are spent for this session. At $1.00 the agent is stopped."
    ]
    assert kinds(await book.says(UsageChanged(cost_usd=0.9))) == [UsageChanged]
    reached = await book.says(UsageChanged(cost_usd=1.2))
    assert kinds(reached) == [UsageChanged, Interrupted, Note, GuardAsked]
    assert reached.writes == [b"interrupt"]
    guard = book.ledger.record.guard
    assert guard is not None
    assert (guard.kind, guard.spent, guard.allowed, guard.cut_short) == ("session_cents", 120, 100, True)


@pytest.mark.row("R15")
async def test_the_turn_is_stopped_only_when_the_current_tool_is_done():
    book = book_of(session_tokens=1000)
    step = await book.says(ToolStarted("t", "Bash", "make"), UsageChanged(used=1500))
    assert GuardAsked not in kinds(step)
    step = await book.says(ToolChanged("t", "done", "built"))
    assert kinds(step) == [ToolChanged, Interrupted, Note, GuardAsked]


async def test_a_turn_that_is_over_is_not_interrupted_but_the_next_prompt_waits():
    book = book_of(session_tokens=100)
    step = await book.says(TurnEnded("end_turn", Usage(90, 20)))
    assert kinds(step) == [TurnEnded, Note, GuardAsked]
    sent = await carry_out(
        book.supervisor, Envelope(SendPrompt(session_id="s", text="more"), OWNER), book.store
    )
    assert sent.state == "queued"  # pyright: ignore[reportAttributeAccessIssue]
    await book.step()
    step = await answer(book)
    assert kinds(step) == [GuardAnswered, PromptSent]
    assert step.writes == [b"prompt more"]


async def test_who_raises_a_cap_lets_the_agent_go_on_where_it_was_stopped():
    book = book_of(session_tokens=1000)
    await book.says(UsageChanged(used=1500))
    await book.says(STOPPED)
    step = await answer(book, allowed=5000)
    assert kinds(step) == [GuardAnswered, PromptQueued, PromptSent]
    assert step.writes == [f"prompt {GO_ON}".encode()]
    assert step.audit == [("limit", "ana", "session_tokens: raised to 5000")]
    assert book.ledger.record.raised == {"session_tokens": 5000}
    assert GuardAsked not in kinds(await book.says(UsageChanged(used=3500)))
    assert GuardAsked in kinds(await book.says(UsageChanged(used=9000)))


async def test_a_raise_before_the_turn_has_stopped_waits_for_that():
    book = book_of(session_tokens=1000)
    await book.says(UsageChanged(used=1500))
    assert kinds(await answer(book)) == [GuardAnswered, PromptQueued]
    assert PromptSent in kinds(await book.says(STOPPED))


async def test_a_raise_below_what_is_spent_is_refused_and_changes_nothing():
    book = book_of(session_cents=100)
    await book.says(UsageChanged(cost_usd=1.5))
    with pytest.raises(InvalidInput, match="150 are spent already"):
        await answer(book, allowed=120)
    assert book.ledger.record.guard is not None


async def test_an_answer_to_another_question_is_refused():
    book = book_of(session_cents=100)
    await book.says(UsageChanged(cost_usd=1.5))
    with pytest.raises(RequestNotFound):
        await answer(book, guard_id="other")


@pytest.mark.row("R15")
async def test_the_same_call_with_the_same_outcome_is_asked_about():
    book = book_of(loop_repeats=3)
    for n in range(3):
        step = await book.says(ToolStarted(f"t{n}", "Bash", "ls"), ToolChanged(f"t{n}", "failed", "no"))
        assert (GuardAsked in kinds(step)) == (n == 2)
    guard = book.ledger.record.guard
    assert guard is not None
    assert guard.text == "Bash was called 3 times with the same input, and the same came of it each time."
    await book.says(STOPPED)
    step = await answer(book, by=Actor("ana", via="tower"))  # nothing is widened by that
    assert step.writes == [f"prompt {LOOP}".encode()]


async def test_a_raised_limit_of_the_owner_holds_at_once_and_a_lower_one_too():
    book = book_of(session_cents=1000)
    await book.says(UsageChanged(cost_usd=5.0))
    book.supervisor.set_limits(Limits(session_cents=400, session_seconds=0, idle_seconds=0))
    assert GuardAsked in kinds(await book.step())


@pytest.mark.row("R15")
async def test_the_output_limit_is_announced_before_it_ends_the_session():
    book = book_of(output_bytes=1000)
    book.supervisor.admit([], 850)
    notes = [event.code for event in (await book.step()).facts if isinstance(event, Note)]
    assert notes == ["limit_near"]
    book.supervisor.admit([], 900)
    assert not [event for event in (await book.step()).facts if isinstance(event, Note)]
