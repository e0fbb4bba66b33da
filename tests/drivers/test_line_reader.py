"""The line reader: no line is lost, none raises, and what is kept of a bad one is bounded."""

import hashlib

import msgspec
import pytest

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.line_reader import MAX_RAW, LineReader
from bascule.model.events import Unrecognised

_json = msgspec.json.Decoder(dict[str, str])


def read(data: bytes, fault: Exception | None = None) -> tuple[list[dict[str, str]], list[Unrecognised]]:
    out, understood = EventBuffer(), list[dict[str, str]]()

    def understand(line: bytes) -> str | None:
        if fault is not None:
            raise fault
        message = _json.decode(line)
        understood.append(message)
        return message.get("why")

    reader = LineReader(out, understand)
    reader.feed(data)
    reader.finish()
    assert reader.consumed == len(data)
    return understood, [event for event in out.take() if isinstance(event, Unrecognised)]


def test_blank_lines_are_passed_over_and_the_last_needs_no_newline() -> None:
    assert read(b'\n{"a":"1"}\n  \n{"b":"2"}') == ([{"a": "1"}, {"b": "2"}], [])


def test_half_an_emoji_is_repaired_before_the_line_is_given_up() -> None:
    assert read(rb'{"a":"\ud83d"}' + b"\n") == ([{"a": "\ufffd"}], [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"why":"odd"}', "odd"),
        (b"[1]", "not as expected: "),
        (b"{", "not JSON: "),
        (b'{"a":"\xff"}', "not "),
    ],
)
def test_a_line_that_is_not_understood_is_kept_with_the_reason(line: bytes, reason: str) -> None:
    (kept,) = read(line + b"\n")[1]
    assert kept.reason.startswith(reason)
    assert kept.raw == line.decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (RecursionError(), "nested too deeply"),
        (UnicodeError(), "not UTF-8"),
        (KeyError("x"), "driver fault: KeyError"),
    ],
)
def test_a_fault_of_the_driver_never_stops_the_stream(fault: Exception, reason: str) -> None:
    assert [event.reason for event in read(b"one\ntwo\n", fault)[1]] == [reason, reason]


def test_a_long_line_is_kept_by_its_head_its_length_and_its_hash() -> None:
    line = b"x" * (MAX_RAW + 1)
    (kept,) = read(line + b"\n")[1]
    assert (len(kept.raw), kept.length) == (MAX_RAW, len(line))
    assert kept.sha256 == hashlib.sha256(line).hexdigest()
