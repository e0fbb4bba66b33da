"""Events of turns: the queue of prompts, and what the guard rails ask."""

from bascule.model.event import Event
from bascule.model.event_values import (
    GuardDecision,
    Image,
    StopReason,
    Usage,
)
from bascule.model.guards import GuardKind


class PromptQueued(Event, frozen=True):
    prompt_id: str
    text: str
    by: str
    client_message_id: str | None = None
    images: tuple[Image, ...] = ()
    held: bool = False  # never logged: set in the queue by `queue_held`, until a person lets it go


class PromptEdited(Event, frozen=True):
    prompt_id: str
    text: str
    by: str


class PromptsReordered(Event, frozen=True):
    order: tuple[str, ...]
    by: str


class PromptWithdrawn(Event, frozen=True):
    prompt_id: str
    by: str


class QueueHeld(Event, frozen=True):
    """A turn was stopped while prompts waited: all that wait now stay until a person decides."""

    by: str


class QueueReleased(Event, frozen=True):
    """A person let held prompts go: these, or all of them."""

    by: str
    prompt_ids: tuple[str, ...] = ()


class PromptSent(Event, frozen=True):
    prompt_id: str
    text: str
    by: str
    client_message_id: str | None = None
    images: tuple[Image, ...] = ()


class TurnEnded(Event, frozen=True):
    stop_reason: StopReason
    usage: Usage | None = None
    cost_usd: float | None = None  # of the whole session so far, as the agent counts it
    duration_ms: int | None = None
    message: str | None = None  # what went wrong, in the agent's words
    fork_at: str | None = None  # the agent's own id of this point, if a copy of the conversation can end here


class Interrupted(Event, frozen=True):
    by: str


class GuardAsked(Event, frozen=True):
    """A guard rail holds the agent: a cap on spending is reached, or the same call was repeated too often.

    Nothing is sent to the agent until a person decides. `spent` and `allowed` are in the cap's own unit.
    `cut_short`: a turn was interrupted for it.
    """

    guard_id: str
    kind: GuardKind
    text: str
    spent: int = 0
    allowed: int = 0
    cut_short: bool = False


class GuardAnswered(Event, frozen=True):
    """A person decided. `allowed` is the session's cap from now on; `end` is followed by the end."""

    guard_id: str
    decision: GuardDecision
    by: str
    allowed: int = 0
