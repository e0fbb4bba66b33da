"""Reviving: what an agent's exit means, and what is said while it is being restarted."""

import asyncio

import pytest
from msgspec import Raw
from tests.session.playbook import Playbook
from tests.waiting import PATIENCE

from bascule.model.events import (
    AnyEvent,
    Interrupted,
    Note,
    PermissionRequested,
    PromptSent,
    ReconnectScheduled,
    SessionEnded,
    SessionFailed,
    SessionReady,
    TextAppended,
    TurnEnded,
)
from bascule.session.agent import Exit
from bascule.session.reviving import Revival, Reviving

pytestmark = pytest.mark.anyio

READY = SessionReady("conversation")
UNNAMED = SessionReady(None)
PROMPT = PromptSent("p", "Do it", "ana")
DONE = TurnEnded("end_turn")
ASKED = PermissionRequested("r", "Bash", "ls", "execute", Raw(b"{}"), "0", ())
TRY = ReconnectScheduled(1, 5)
WORD = TextAppended("m", "assistant", "a")
REFUSED = Note("session_refused", "No such session.", "error")
LOGIN = Note("login_needed", "Log in first.", "error")
OTHER = Note("other", "A note.")
FAILED = TurnEnded("error", message="It broke.")
MUTE = TurnEnded("error")
CRASH = Exit(3, None, 0, 0)
DEMO = Revival("Demo", resumes=True, unknown="not found")
CUT = (
    "Demo stopped in the middle of this turn. What it was doing may be half done: "
    "look, then ask for it again."
)
UNANSWERED = "It waited for an answer, which nobody can give any more; if it still needs one, it asks again."
UNDELIVERED = "The last answer did not reach it, and is not given to the process that follows."


def reviving(*before: AnyEvent, revival: Revival = DEMO) -> Reviving:
    return Reviving(Playbook(*before).ledger, revival)


@pytest.mark.parametrize(
    ("before", "said", "kept", "refused", "refusal"),
    [
        # An agent that is not being restarted: nothing is dropped.
        ([], [FAILED, REFUSED, WORD], [FAILED, REFUSED, WORD], False, ""),
        ([READY], [FAILED], [FAILED], False, ""),
        # While it is, its own failures are part of the outcome.
        ([TRY], [FAILED], [], False, "It broke."),
        ([TRY], [MUTE], [], False, ""),
        ([TRY], [FAILED, TurnEnded("error", message="Again.")], [], False, "It broke."),
        ([TRY], [REFUSED], [], True, "No such session."),
        ([TRY], [FAILED, LOGIN], [], True, "Log in first."),
        ([TRY], [LOGIN, FAILED], [], True, "Log in first."),
        ([TRY], [OTHER, WORD], [OTHER, WORD], False, ""),
        # Once it is back, it speaks for itself.
        ([TRY], [READY, FAILED, REFUSED], [READY, FAILED, REFUSED], False, ""),
        ([TRY], [FAILED, READY, MUTE], [READY, MUTE], False, "It broke."),
        ([TRY, READY], [FAILED, REFUSED], [FAILED, REFUSED], False, ""),
    ],
)
async def test_an_agents_own_failures_are_dropped_while_it_is_restarted(
    before: list[AnyEvent], said: list[AnyEvent], kept: list[AnyEvent], refused: bool, refusal: str
):
    run = reviving(*before)
    assert run.heard(said) == kept
    assert (run.refused, run.refusal) == (refused, refusal)


@pytest.mark.parametrize(
    ("before", "trying"), [([], False), ([READY], False), ([TRY], True), ([TRY, READY], False)]
)
async def test_a_run_is_a_try_until_the_agent_is_ready(before: list[AnyEvent], trying: bool):
    assert reviving(*before).trying is trying


async def test_the_outcome_is_told_once_and_only_after_the_events_are_logged():
    run, told = reviving(TRY), list[str]()
    run.on_outcome = lambda: told.append("outcome")
    run.heard([WORD])
    run.heard([READY])
    assert (told, run.outcome.is_set()) == ([], False)
    async with asyncio.timeout(PATIENCE):
        await run.outcome.wait()
    run.settle()
    later = asyncio.Event()
    asyncio.get_running_loop().call_soon(later.set)
    await later.wait()
    assert told == ["outcome"]


def ended(words: str, reason: str = "disconnected", code: int | None = 3) -> SessionEnded:
    return SessionEnded(reason, code, None, words)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("before", "revival", "exit", "unheard", "words", "lost"),
    [
        # It is started again.
        ([READY], DEMO, CRASH, False, [ended("Demo stopped (how).")], True),
        ([UNNAMED], DEMO, CRASH, False, [ended("Demo stopped (how).")], True),  # nothing was sent yet
        (
            [READY, PROMPT],
            DEMO,
            CRASH,
            False,
            [Note("turn_cut", CUT, "warning"), ended("Demo stopped (how).")],
            True,
        ),
        (
            [READY, PROMPT, Interrupted("ana")],
            DEMO,
            CRASH,
            False,
            [Note("turn_cut", CUT, "warning"), ended("Demo stopped (how).")],
            True,
        ),
        ([READY, PROMPT, DONE], DEMO, CRASH, False, [ended("Demo stopped (how).")], True),
        (
            [READY, PROMPT, ASKED],
            DEMO,
            CRASH,
            True,
            [Note("turn_cut", f"{CUT} {UNANSWERED} {UNDELIVERED}", "warning"), ended("Demo stopped (how).")],
            True,
        ),
        (
            [READY],
            DEMO,
            CRASH,
            True,
            [Note("turn_cut", UNDELIVERED, "warning"), ended("Demo stopped (how).")],
            True,
        ),
        # It can't be.
        (
            [READY, PROMPT],
            Revival("Demo"),
            CRASH,
            False,
            [
                ended(
                    "Demo stopped (how). It can't take up an earlier conversation: start a new session.",
                    "exited",
                )
            ],
            False,
        ),
        (
            [READY],
            Revival("Demo"),
            Exit(None, None, 0, 0, lost=True),
            False,
            [
                ended(
                    "Demo stopped (how). It can't take up an earlier conversation: start a new session.",
                    "lost",
                    None,
                )
            ],
            False,
        ),
        (
            [PROMPT, DONE],
            DEMO,
            CRASH,
            False,
            [
                ended(
                    "Demo stopped (how) before it named its conversation, so it can't be resumed. "
                    "What you sent is kept here: start a new session and send it again.",
                    "exited",
                )
            ],
            False,
        ),
        # A try that failed is tried again.
        ([READY, TRY], DEMO, CRASH, False, [ended("Demo could not be started again (how).")], True),
        ([TRY], Revival("Demo"), CRASH, True, [ended("Demo could not be started again (how).")], True),
    ],
)
async def test_the_end_of_a_run_nobody_asked_for(
    before: list[AnyEvent],
    revival: Revival,
    exit: Exit,
    unheard: bool,
    words: list[AnyEvent],
    lost: bool,
):
    run = reviving(*before, revival=revival)
    assert run.last_words(exit, "how", "", unheard=unheard) == words
    assert run.lost == (exit if lost else None)


UNKNOWN = (
    "Demo does not know this conversation any more ({}). "
    "It was not begun anew; everything is kept here. Start a new session to go on."
)


@pytest.mark.parametrize(
    ("said", "tail", "how"),
    [
        ([], "a\nsession not found", "session not found"),
        ([], "not found\nbye", "bye"),
        ([Note("session_refused", "It was not found.", "error")], "tail", "It was not found."),
        ([LOGIN], "not found", "Log in first."),
    ],
)
async def test_a_conversation_the_agent_does_not_know_is_lost(said: list[AnyEvent], tail: str, how: str):
    run = reviving(READY, TRY)
    run.heard(said)
    failed = SessionFailed("conversation_lost", UNKNOWN.format(how), tail, 3, None)
    assert run.last_words(CRASH, "how", tail) == [failed]
    assert run.lost is None


async def test_the_same_words_from_an_agent_that_was_ready_or_has_no_such_words_mean_nothing():
    run = reviving(READY)
    run.outcome.set()
    assert run.last_words(CRASH, "how", "not found") == [ended("Demo stopped (how).")]
    mute = reviving(READY, revival=Revival("Demo", resumes=True))
    assert mute.last_words(CRASH, "how", "not found") == [ended("Demo stopped (how).")]


async def test_a_try_that_was_refused_says_why_in_the_agents_words():
    run = reviving(READY, TRY)
    run.heard([LOGIN])
    assert run.last_words(CRASH, "how", "") == [ended("Demo could not be started again (Log in first.).")]
