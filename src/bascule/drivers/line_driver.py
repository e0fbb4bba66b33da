"""The reading side of a driver whose agent writes one message per line."""

from typing import Generic, Protocol, TypeVar

import msgspec

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.line_reader import LineReader
from bascule.drivers.writes import Replies
from bascule.model.events import AnyEvent
from bascule.model.records import Write


class LineDecoder(Protocol):
    def line(self, line: bytes) -> str | None:
        """Turn one line into events. Returns what about it was not understood."""
        ...

    def finish(self) -> None:
        """The output ended: close what is open."""
        ...


class LineState(Protocol):
    skipping: bool


StateT = TypeVar("StateT", bound=LineState)


class LineDriver(Generic[StateT]):
    def __init__(self, state: StateT, out: EventBuffer, replies: Replies, decoder: LineDecoder) -> None:
        self._state = state
        self._out = out
        self._replies = replies
        self._lines = LineReader(out, decoder.line, skipping=state.skipping)
        self._finish = decoder.finish

    @property
    def consumed(self) -> int:
        return self._lines.consumed

    @property
    def repeatable(self) -> bool:
        return True

    def receive(self, chunk: bytes) -> list[AnyEvent]:
        self._lines.feed(chunk)
        return self._out.take()

    def finish(self) -> list[AnyEvent]:
        self._lines.finish()
        self._finish()
        return self._out.take()

    @property
    def owes(self) -> bool:
        return bool(self._replies)

    def data_to_send(self) -> list[Write]:
        return self._replies.take()

    def settled(self) -> list[AnyEvent]:
        return self._out.take()

    def state(self) -> bytes:
        self._state.skipping = self._lines.skipping
        return msgspec.json.encode(self._state)
