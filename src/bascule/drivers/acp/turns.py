"""Ends a turn: its stop reason, usage and error, from the answer to `session/prompt`."""

import re

from bascule.drivers.acp.handshake import AUTH_REQUIRED, error_words, with_login
from bascule.drivers.acp.state import DriverState
from bascule.drivers.base import STOPPED_BY_ITSELF
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import JsonObject, clip, mapping, text, whole
from bascule.model.event_values import StopReason, Usage
from bascule.model.events import TurnEnded

_STOPS: dict[str, StopReason] = {
    "end_turn": "end_turn",
    "cancelled": "interrupted",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
}
_MORE = {"max_turn_requests": "The agent reached the number of requests it may make in one turn."}
NOTHING_SAID = "The agent ended this turn without a word. It may not be signed in, or its model is not there."
_ERROR_IN_DISGUISE = re.compile(r'(?:^|\n\n)\s*(?:Error: |API Error|\{"error":)')


def end_turn(state: DriverState, out: EventBuffer, answer: JsonObject, error: JsonObject | None) -> None:
    stop = text(answer, "stopReason") or ""
    reason, message = _STOPS.get(stop, "other"), _MORE.get(stop)
    if error is not None:
        # An agent that was asked to stop may answer with an error: still an interrupt.
        reason = "interrupted" if state.cancelling else "error"
        message = None if state.cancelling else clip(_error(state, error), 4096)
    elif reason == "interrupted" and not (state.cancelling or state.denying):
        reason, message = "other", STOPPED_BY_ITSELF
    elif reason == "end_turn" and state.quirk("errors_as_text"):
        failure = _failure_in_words(state, answer)
        if failure:
            reason, message = "error", clip(failure, 4096)
    if reason == "end_turn" and state.silent and not whole(mapping(answer, "usage"), "outputTokens"):
        reason, message = "error", NOTHING_SAID
    out.put(TurnEnded(reason, _usage(mapping(answer, "usage")), state.info.cost_usd, None, message))


def _error(state: DriverState, error: JsonObject) -> str:
    message = error_words(error)
    return with_login(message, state.info.logins) if error.get("code") == AUTH_REQUIRED else message


def _failure_in_words(state: DriverState, answer: JsonObject) -> str:
    """The error that the agent reported as text, if any. A turn without usage had no answer of the model."""
    found = _ERROR_IN_DISGUISE.search(state.last_said)
    if found is not None:
        return state.last_said[found.start() :].strip()
    own = state.own_words if not mapping(answer, "usage") else ""
    return "" if own.startswith("Warning: ") else own


def _usage(usage: JsonObject) -> Usage | None:
    if not usage:
        return None
    return Usage(
        whole(usage, "inputTokens") or 0,
        whole(usage, "outputTokens") or 0,
        whole(usage, "cachedReadTokens") or 0,
        whole(usage, "cachedWriteTokens") or 0,
    )
