"""The lifecycle of a session: its phases and transitions, in one table."""

from enum import StrEnum

from bascule.model.events import (
    AnyEvent,
    Event,
    Interrupted,
    PromptSent,
    SessionEnded,
    SessionEnding,
    SessionFailed,
    SessionReady,
    SessionStarted,
    TurnEnded,
)


class Phase(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    INTERRUPTED = "interrupted"
    ENDING = "ending"
    ENDED = "ended"
    FAILED = "failed"


S, R, W, I, X, E, F = Phase  # noqa: E741 - one letter a phase, so that the table reads as a table

# Events that are not in a phase's row leave the phase as it is.
NEXT: dict[Phase, dict[type[Event], Phase]] = {
    S: {SessionReady: W, PromptSent: R, SessionFailed: F, SessionEnding: X, SessionEnded: E},
    R: {TurnEnded: W, Interrupted: I, SessionEnding: X, SessionEnded: E, SessionFailed: F},
    W: {PromptSent: R, SessionEnding: X, SessionEnded: E, SessionFailed: F},
    I: {TurnEnded: W, PromptSent: R, SessionEnding: X, SessionEnded: E, SessionFailed: F},
    X: {SessionEnded: E, SessionFailed: E},
    # An ended session may be brought back by a person: the log goes on, the agent is a new process.
    # One that lost its agent has failed once every try to start it again has.
    E: {SessionStarted: S, SessionFailed: F},
    F: {SessionStarted: S},
}

LIVE = frozenset({Phase.STARTING, Phase.RUNNING, Phase.WAITING, Phase.INTERRUPTED, Phase.ENDING})


def step(phase: Phase, event: AnyEvent | Event) -> Phase:
    """The phase after this event."""
    return NEXT[phase].get(type(event), phase)


def chat_status(phase: Phase, end_reason: str | None) -> str:
    """The five status words of the chat API, as a view of the phase."""
    match phase:
        case Phase.STARTING:
            return "starting"
        case Phase.RUNNING | Phase.WAITING | Phase.INTERRUPTED | Phase.ENDING:
            return "running"
        case Phase.FAILED:
            return "error"
        case Phase.ENDED:
            return "closed" if end_reason in ("closed", "killed", "user_terminated") else "exited"
