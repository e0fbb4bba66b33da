"""Decides whether an agent that exited is restarted, and which events say so."""

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct

from bascule.model.events import AnyEvent, Note, SessionEnded, SessionFailed, SessionReady, TurnEnded
from bascule.model.lifecycle import Phase
from bascule.session.agent import Exit
from bascule.session.ledger import Ledger

COULD_NOT_CONNECT = "could_not_connect"
CONVERSATION_LOST = "conversation_lost"
# What an agent says instead of taking up a conversation.
REFUSALS = frozenset({"session_refused", "login_needed"})

WENT = "{title} stopped ({how})."
CUT = (
    "{title} stopped in the middle of this turn. What it was doing may be half done: "
    "look, then ask for it again."
)
UNANSWERED = "It waited for an answer, which nobody can give any more; if it still needs one, it asks again."
UNDELIVERED = "The last answer did not reach it, and is not given to the process that follows."
NO_RESUME = "{title} stopped ({how}). It can't take up an earlier conversation: start a new session."
NO_NAME = (
    "{title} stopped ({how}) before it named its conversation, so it can't be resumed. "
    "What you sent is kept here: start a new session and send it again."
)
UNKNOWN = (
    "{title} does not know this conversation any more ({how}). "
    "It was not begun anew; everything is kept here. Start a new session to go on."
)
NOT_BACK = "{title} could not be started again ({how})."


class Revival(Struct, frozen=True):
    """What is needed to decide whether an agent can be restarted."""

    title: str = "The agent"
    resumes: bool = False  # it can take up an earlier conversation
    unknown: str = ""  # what it prints when it does not know the conversation


class Reviving:
    """One run of a session's agent. `lost` is set if the run ended in a way that needs a restart."""

    def __init__(self, ledger: Ledger, revival: Revival) -> None:
        self.lost: Exit | None = None
        self.outcome = asyncio.Event()  # the agent is ready, or this run is over
        self.on_outcome: Callable[[], None] = lambda: None
        self.refused = False  # the agent runs, but does not take up the conversation
        self.refusal = ""  # why it does not, in its words
        self.revival = revival
        self._ledger = ledger

    @property
    def trying(self) -> bool:
        """This run is a try to have a lost agent back, and it is not back yet."""
        return self._ledger.record.attempt > 0

    def heard(self, events: Sequence[AnyEvent]) -> list[AnyEvent]:
        """Filters the agent's events: drops its own failures while it is being restarted."""
        ready = any(type(event) is SessionReady for event in events)
        kept = self._without_failures(events) if self.trying else list(events)
        if ready:
            self.settle()
        return kept

    def _without_failures(self, events: Sequence[AnyEvent]) -> list[AnyEvent]:
        back = False
        kept: list[AnyEvent] = []
        for event in events:
            back = back or isinstance(event, SessionReady)
            match event:
                case TurnEnded() if not back:  # nothing was asked of it, so nothing ended
                    self.refusal = self.refusal or event.message or ""
                case Note(code=code) if not back and code in REFUSALS:
                    self.refused, self.refusal = True, event.text
                case _:
                    kept.append(event)
        return kept

    def settle(self) -> None:
        """Reports whether the agent came up, once its current events are logged."""
        if not self.outcome.is_set():
            asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        self.outcome.set()
        self.on_outcome()

    def last_words(self, exit: Exit, how: str, tail: str, *, unheard: bool = False) -> list[AnyEvent]:
        """The end of a run that nobody asked for. `unheard`: an answer had not reached the agent."""
        ready = self.outcome.is_set()
        if not ready and self.revival.unknown and self.revival.unknown in f"{self.refusal}\n{tail}":
            said = self.refusal or tail.splitlines()[-1]
            return [SessionFailed(CONVERSATION_LOST, self._say(UNKNOWN, said), tail, exit.code, exit.signal)]
        if self.trying:
            self.lost = exit
            words = self._say(NOT_BACK, self.refusal or how)
            return [SessionEnded("disconnected", exit.code, exit.signal, words)]
        record = self._ledger.record
        named = record.agent_session_id is not None or record.turns == 0
        if not self.revival.resumes or not named:
            words = self._say(NO_NAME if self.revival.resumes else NO_RESUME, how)
            return [SessionEnded("lost" if exit.lost else "exited", exit.code, exit.signal, words)]
        self.lost = exit
        ended = SessionEnded("disconnected", exit.code, exit.signal, self._say(WENT, how))
        return [*self._cut(unheard=unheard), ended]

    def _cut(self, *, unheard: bool) -> list[AnyEvent]:
        """Notes the turn that was cut off. Its prompt is not sent again."""
        words = [CUT] if self._ledger.record.phase in (Phase.RUNNING, Phase.INTERRUPTED) else []
        words += [UNANSWERED] if self._ledger.open_requests() else []
        words += [UNDELIVERED] if unheard else []
        return [Note("turn_cut", self._say(" ".join(words), ""), "warning")] if words else []

    def _say(self, words: str, how: str) -> str:
        return words.format(title=self.revival.title, how=how)
