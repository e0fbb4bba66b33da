"""Collects decoded events and joins adjacent pieces of one text into one event."""

from bascule.model.events import AnyEvent, TextAppended, TextKind


class EventBuffer:
    def __init__(self) -> None:
        self._events: list[AnyEvent] = []
        self._entry_id = ""
        self._kind: TextKind = "assistant"
        self._pieces: list[str] = []

    def put(self, event: AnyEvent) -> None:
        if self._pieces:
            self._close_text()
        self._events.append(event)

    def append_text(self, entry_id: str, kind: TextKind, text: str) -> None:
        if self._pieces and self._entry_id != entry_id:
            self._close_text()
        self._entry_id, self._kind = entry_id, kind
        self._pieces.append(text)

    def take(self) -> list[AnyEvent]:
        if self._pieces:
            self._close_text()
        events, self._events = self._events, []
        return events

    def _close_text(self) -> None:
        self._events.append(TextAppended(self._entry_id, self._kind, "".join(self._pieces)))
        self._pieces = []
