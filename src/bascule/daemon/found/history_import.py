"""Imports a conversation file into the store as a session log: appends only new events, exactly once.

What has been written is counted and hashed, in the transaction that writes it. A file that grew goes on from
there; one in which that beginning no longer stands was rewritten, and has to be read anew.
"""

import hashlib
from collections.abc import Iterator
from itertools import groupby

import msgspec
from msgspec import Struct

from bascule.drivers.history.builder import SOMEBODY, History, TimedEvent
from bascule.model.codec import encode
from bascule.model.events import (
    AnyEvent,
    Note,
    PromptSent,
    SessionEnded,
    SessionReady,
    SessionStarted,
    TitleChanged,
    UsageChanged,
)
from bascule.store.base import Batch

NOT_SEEN = (
    "A message was handed to the agent in its terminal, but the agent's own file does not show it. "
    "It may not have reached it."
)
READER = 2  # counted up when a reader tells the same file differently


class Noted(Struct, omit_defaults=True):
    """The import state of a conversation, stored beside its log."""

    key: str
    stamp: str
    reader: int = 1  # as it was before there were others
    generation: int = 0  # how often it had to be read anew
    count: int = 0  # facts that are in the log
    digest: str = ""  # of those facts
    ended: bool = False
    title: str = ""
    cost_usd: float | None = None
    messages: int = 0
    handed: list[str] = []  # messages the agent was given in its terminal and has not noted in its file yet


_noted = msgspec.json.Decoder(Noted)


def decode_noted(state: bytes | None) -> Noted | None:
    try:
        return _noted.decode(state) if state else None
    except msgspec.MsgspecError:
        return None


def session_id_of(device: str, agent: str, agent_session_id: str, generation: int) -> str:
    """The same conversation has the same id, also after the database was lost."""
    words = "\n".join((device, agent, agent_session_id, str(generation)))
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def still_stands(noted: Noted, history: History) -> bool:
    """Does the conversation begin with all that is in the log?"""
    if noted.reader != READER or len(history.events) < noted.count:
        return False
    digest = hashlib.sha256()
    for said in history.events[: noted.count]:
        digest.update(encode(said.event))
    return digest.hexdigest() == noted.digest


class Writing:
    """The batches that bring a session's log up to date with its conversation file."""

    def __init__(self, session_id: str, seq: int, device: str, agent: str, noted: Noted) -> None:
        self.noted = noted
        self._session_id = session_id
        self._seq = seq
        self._device = device
        self._agent = agent
        self._digest = hashlib.sha256()

    def steps(self, history: History, *, live: bool) -> Iterator[Batch]:
        """`live`: more may come, so the session is not over."""
        noted = self.noted
        noted.messages = history.messages
        for said in history.events[: noted.count]:
            self._digest.update(encode(said.event))
        new = history.events[noted.count :]
        last = history.ended_at
        if self._seq == 0:
            yield self._step(history.started_at or last, self._beginning(history))
        elif noted.ended and (new or live):
            noted.ended = False
            yield self._step(new[0].at if new else last, self._beginning(history))
        for at, group in groupby(new, lambda said: max(said.at, history.started_at)):
            yield self._tell(at, list(group))
        closing = self._changes(history)
        if not live and not noted.ended:
            noted.ended = True
            closing += [Note("not_seen", NOT_SEEN, "warning") for _ in noted.handed]
            noted.handed = []
            closing.append(SessionEnded("elsewhere"))
        yield self._step(last, closing)

    def _beginning(self, history: History) -> list[AnyEvent]:
        started = SessionStarted(
            self._agent, "", history.cwd, SOMEBODY, self._device, model=history.model, found=True
        )
        return [started, SessionReady(history.agent_session_id, history.model, history.version)]

    def _changes(self, history: History) -> list[AnyEvent]:
        noted, events = self.noted, list[AnyEvent]()
        if history.title and history.title != noted.title:
            noted.title = history.title
            events.append(TitleChanged(history.title))
        if history.cost_usd is not None and history.cost_usd != noted.cost_usd:
            noted.cost_usd = history.cost_usd
            events.append(UsageChanged(cost_usd=history.cost_usd))
        return events

    def _tell(self, at: str, said: list[TimedEvent]) -> Batch:
        for one in said:
            self._digest.update(encode(one.event))
        self.noted.count += len(said)
        return self._step(at, [one.event for one in said if not self._stands(one.event)])

    def _stands(self, event: AnyEvent) -> bool:
        """A message from here is in the log since it was handed over; now its agent has noted it, too."""
        if not isinstance(event, PromptSent) or event.prompt_id not in self.noted.handed:
            return False
        self.noted.handed = [one for one in self.noted.handed if one != event.prompt_id]
        return True

    def _step(self, at: str, events: list[AnyEvent]) -> Batch:
        self.noted.digest = self._digest.hexdigest()
        batch = Batch(self._session_id, self._seq + 1, at, events, driver_state=encode(self.noted))
        self._seq += len(events)
        return batch
