"""Arbiter of a terminal's viewers: decides whose window sets the size, and whose terminal answers queries."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from bascule.daemon.terminals.size_policy import SIZE_POLICIES, Size, SizePolicy
from bascule.link.tape import Arrangement, Participant, ParticipantEvents
from bascule.model.commands import Actor
from bascule.model.errors import BasculeError
from bascule.model.records import SessionRecord
from bascule.model.settings import TerminalSettings

log = logging.getLogger(__name__)

REDRAW_PAUSE = 0.5  # viewers who arrive within this time share one redraw
TYPING_PAUSE = 1.0  # between two messages to the other viewers that one of them types
SMALLEST = 1
LARGEST = 1000
MAX_REMEMBERED = 10_000
FRESH_SECONDS = 10.0  # in which a program may still wait for an answer to its first query
DEFAULT_SIZE = (80, 24)


class Terminal(Protocol):
    """What an arbiter changes. Both raise `BasculeError` when the terminal has ended or can't be reached."""

    def resize(self, cols: int, rows: int, by: Actor) -> None: ...
    def redraw(self) -> None: ...


class LocalParticipant(Participant):
    """A viewer whose terminal is on this machine."""

    def __init__(
        self, arbiter: "Arbiter", by: Actor, may_write: bool, events: ParticipantEvents, terminal: Terminal
    ) -> None:
        self._arbiter = arbiter
        self.by, self.may_write, self.events, self.terminal = by, may_write, events, terminal

    def resize(self, cols: int, rows: int) -> None:
        self._arbiter.resized(self, cols, rows)

    def claim(self) -> None:
        self._arbiter.claim(self)

    def typed(self) -> None:
        self._arbiter.typed(self)

    def redraw(self) -> None:
        self._arbiter.redraw(self)

    def leave(self) -> None:
        self._arbiter.leave(self)


class Arbiter:
    def __init__(
        self,
        session_id: str,
        size: Size,
        policy: SizePolicy,
        steady: Callable[[], float],
        empty: Callable[[], object],
    ) -> None:
        self.policy, self._empty = policy, empty
        self._session_id = session_id
        self._steady = steady
        self._typing_announced = 0.0
        self._redrawn = -REDRAW_PAUSE
        self._participants: list[LocalParticipant] = []
        self._windows: dict[LocalParticipant, Size] = {}
        self._claimed: LocalParticipant | None = None
        self._typist: LocalParticipant | None = None
        self._responder: LocalParticipant | None = None
        self.size: Size = size  # of the terminal

    def join(
        self, by: Actor, may_write: bool, events: ParticipantEvents, terminal: Terminal
    ) -> LocalParticipant:
        participant = LocalParticipant(self, by, may_write, events, terminal)
        self._participants.append(participant)
        self._arrange()
        return participant

    def leave(self, participant: LocalParticipant) -> None:
        self._participants.remove(participant)
        self._windows.pop(participant, None)
        if not self._participants:
            self._empty()
        else:
            self._arrange()

    def resized(self, participant: LocalParticipant, cols: int, rows: int) -> None:
        self._windows[participant] = _clamped(cols), _clamped(rows)
        self._arrange()

    def claim(self, participant: LocalParticipant) -> None:
        self._claimed = participant
        self._arrange()

    def typed(self, participant: LocalParticipant) -> None:
        now, another = self._steady(), self._typist is not participant
        if another or now - self._typing_announced >= TYPING_PAUSE:
            self._typing_announced = now
            for other in self._participants:
                if other is not participant:
                    other.events.notify_typing(participant.by.name)
        if another:
            self._typist = participant
            self._arrange()

    def redraw(self, participant: LocalParticipant) -> None:
        """At most every 0.5 s."""
        now = self._steady()
        if now - self._redrawn >= REDRAW_PAUSE:
            self._redrawn = now
            self._try(participant.terminal.redraw)

    def _arrange(self) -> None:
        """Decide the size and the responder again, and tell every viewer."""
        owner = self._set_size()
        self._choose_responder()
        by = owner.by.name if owner is not None else ""
        for participant in list(self._participants):
            replies = participant is self._responder
            cols, rows = self.size
            participant.events.arranged(
                Arrangement(cols, rows, participant is owner, by, self.policy.rule, replies)
            )

    def _set_size(self) -> LocalParticipant | None:
        """Resize the terminal if need be. Returns the participant whose window decides its size."""
        writers = [participant for participant in self._participants if participant.may_write]
        windows = {writer: self._windows[writer] for writer in writers if writer in self._windows}
        if not windows:
            return None
        if self._claimed is not None and self._claimed in windows:
            owner, size = self._claimed, windows[self._claimed]
        else:
            owner, size = self.policy.choose(windows, self._typist)
        if size != self.size and self._try(lambda: owner.terminal.resize(*size, owner.by)):
            self.size = size
        return owner

    def _choose_responder(self) -> None:
        """Keep the responder while it is there: a change in the middle of a query would answer it twice."""
        writers = [participant for participant in self._participants if participant.may_write]
        wanted = self._claimed if self._claimed in writers else self._responder
        if wanted not in writers:
            wanted = next(iter(writers), None)
        if wanted is not self._responder:
            self._responder = wanted
            if wanted is not None:
                wanted.events.elected()

    def _try(self, change: Callable[[], None]) -> bool:
        try:
            change()
        except BasculeError as error:  # it has ended, or its device is away; the viewers hear that elsewhere
            log.debug("terminal %s: %s", self._session_id, error.message)
            return False
        return True


class Arbiters:
    """One arbiter for each run of a terminal, as long as it has viewers."""

    def __init__(
        self, settings: TerminalSettings, clock: Callable[[], float], steady: Callable[[], float]
    ) -> None:
        self._settings, self._clock, self._steady = settings, clock, steady
        self._arbiters: dict[tuple[str, int], Arbiter] = {}
        self._answered: dict[tuple[str, int], None] = {}

    def first_to_answer(self, record: SessionRecord) -> bool:
        """True once for each run: for the first viewer whose terminal may answer its program's queries."""
        key = (record.session_id, record.started_seq)
        if key in self._answered:
            return False
        self._answered[key] = None
        if len(self._answered) > MAX_REMEMBERED:
            del self._answered[next(iter(self._answered))]
        return self._clock() - datetime.fromisoformat(record.started_at).timestamp() < FRESH_SECONDS

    def of(self, record: SessionRecord) -> Arbiter:
        key = (record.session_id, record.started_seq)
        arbiter = self._arbiters.get(key)
        if arbiter is None:
            size = record.cols or DEFAULT_SIZE[0], record.rows or DEFAULT_SIZE[1]
            policy = SIZE_POLICIES[self._settings.size_owner]
            arbiter = self._arbiters[key] = Arbiter(
                record.session_id, size, policy, self._steady, lambda: self._arbiters.pop(key, None)
            )
        return arbiter


def _clamped(side: int) -> int:
    return min(max(SMALLEST, side), LARGEST)
