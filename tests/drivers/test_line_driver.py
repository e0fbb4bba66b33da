"""The reading side that all drivers of line protocols share."""

from msgspec import Struct

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.line_driver import LineDriver
from bascule.drivers.writes import Replies
from bascule.model.events import Note, Unrecognised
from bascule.model.records import Write


class State(Struct):
    skipping: bool = False


class Echo:
    """Notes every line, and owes a reply for it."""

    def __init__(self, out: EventBuffer, replies: Replies) -> None:
        self._out = out
        self._replies = replies

    def line(self, line: bytes) -> str | None:
        self._out.put(Note("line", line.decode()))
        self._replies.add(Write("reply", line))
        return "odd" if line == b"odd" else None

    def finish(self) -> None:
        self._out.put(Note("end", "end"))


def echo() -> LineDriver[State]:
    out, replies = EventBuffer(), Replies()
    return LineDriver(State(), out, replies, Echo(out, replies))


def test_whole_lines_become_events_and_replies() -> None:
    driver = echo()
    assert driver.receive(b"on") == []
    assert (driver.consumed, driver.owes) == (0, False)
    assert driver.receive(b"e\ntw") == [Note("line", "one")]
    assert (driver.consumed, driver.owes) == (4, True)
    assert driver.data_to_send() == [Write("reply", b"one")]
    assert not driver.owes
    assert driver.finish() == [Note("line", "tw"), Note("end", "end")]


def test_what_is_not_understood_is_kept() -> None:
    assert echo().receive(b"odd\n") == [Note("line", "odd"), Unrecognised("odd", "odd")]


def test_the_stored_state_tells_that_a_line_is_being_skipped() -> None:
    out, replies = EventBuffer(), Replies()
    driver = LineDriver(State(skipping=True), out, replies, Echo(out, replies))
    assert driver.receive(b"rest of it") == []
    assert driver.state() == b'{"skipping":true}'
    assert driver.receive(b"\nnext\n") == [Note("line", "next")]
    assert driver.state() == b'{"skipping":false}'
