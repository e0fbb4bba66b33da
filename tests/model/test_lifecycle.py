"""The lifecycle table holds what the design promises."""

import pytest

from bascule.model.events import (
    Interrupted,
    PromptSent,
    SessionEnded,
    SessionEnding,
    SessionFailed,
    SessionReady,
    SessionStarted,
    TextAppended,
    TurnEnded,
)
from bascule.model.lifecycle import LIVE, NEXT, Phase, chat_status, step


def walk(*events: object) -> Phase:
    phase = Phase.STARTING
    for event in events:
        phase = step(phase, event)  # pyright: ignore
    return phase


SENT = PromptSent("p", "hi", "ana")
DONE = TurnEnded("end_turn")


def test_a_session_waits_and_runs_in_turn():
    assert walk(SessionReady()) is Phase.WAITING
    assert walk(SessionReady(), SENT) is Phase.RUNNING
    assert walk(SessionReady(), SENT, DONE) is Phase.WAITING
    assert walk(SENT, SessionReady(), DONE) is Phase.WAITING


def test_an_interrupted_turn_waits_once_it_ended():
    assert walk(SENT, Interrupted("ana")) is Phase.INTERRUPTED
    assert walk(SENT, Interrupted("ana"), TurnEnded("interrupted")) is Phase.WAITING


@pytest.mark.parametrize("phase", sorted(LIVE))
def test_every_live_phase_can_end(phase: Phase):
    assert step(phase, SessionEnded("exited", 0)) is Phase.ENDED
    assert step(phase, SessionEnding("closed", "ana")) is Phase.ENDING


def test_text_never_changes_the_phase():
    assert all(step(phase, TextAppended("e", "assistant", "x")) is phase for phase in Phase)


def test_what_ended_stays_ended_until_a_person_brings_it_back():
    ended = walk(SessionEnded("exited"))
    assert step(step(ended, SENT), SessionReady()) is Phase.ENDED
    assert step(ended, SessionStarted("a", "d", "/", "ana")) is Phase.STARTING


def test_a_start_can_fail():
    assert walk(SessionFailed("spawn_failed", "no")) is Phase.FAILED


def test_the_table_names_every_phase():
    assert set(NEXT) == set(Phase)


@pytest.mark.row("C2")
@pytest.mark.parametrize(
    ("phase", "reason", "word"),
    [
        (Phase.STARTING, None, "starting"),
        (Phase.RUNNING, None, "running"),
        (Phase.WAITING, None, "running"),
        (Phase.INTERRUPTED, None, "running"),
        (Phase.ENDING, "closed", "running"),
        (Phase.ENDED, "closed", "closed"),
        (Phase.ENDED, "killed", "closed"),
        (Phase.ENDED, "exited", "exited"),
        (Phase.ENDED, "idle_limit", "exited"),
        (Phase.FAILED, "spawn_failed", "error"),
    ],
)
def test_the_chat_status_is_derived_from_the_phase(phase: Phase, reason: str | None, word: str):
    assert chat_status(phase, reason) == word
