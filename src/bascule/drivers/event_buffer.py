"""Collects decoded events and joins adjacent pieces of one text into one event."""

from typing import Protocol

from bascule.model.events import AnyEvent, TextAppended, TextKind


class Tally(Protocol):
    """Counts what was said of a text, many pieces at a time."""

    def count(self, text: str) -> None: ...


class EventBuffer:
    def __init__(self) -> None:
        self._events: list[AnyEvent] = []
        self._entry_id = ""
        self._kind: TextKind = "assistant"
        self._pieces: list[str] = []
        self._counted = 0  # pieces
        self._tally: Tally | None = None

    def put(self, event: AnyEvent) -> None:
        if self._pieces:
            self._join_text()
        self._events.append(event)

    def append_text(self, entry_id: str, kind: TextKind, text: str, tally: Tally | None = None) -> None:
        if self._pieces and self._entry_id != entry_id:
            self._join_text()
        self._entry_id, self._kind, self._tally = entry_id, kind, tally
        self._pieces.append(text)

    def take(self) -> list[AnyEvent]:
        if self._pieces:
            self._join_text()
        events, self._events = self._events, []
        return events

    def count_text(self) -> None:
        """Have the pieces counted that are not yet; they may still be joined with more."""
        if self._tally is not None and self._counted < len(self._pieces):
            self._tally.count("".join(self._pieces[self._counted :]))
            self._counted = len(self._pieces)

    def _join_text(self) -> None:
        self.count_text()
        self._events.append(TextAppended(self._entry_id, self._kind, "".join(self._pieces)))
        self._pieces, self._counted = [], 0
