"""A terminal's output read as it goes by: titles, bells, modes, places to begin."""

import itertools

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from bascule.drivers.terminal import Signals, TerminalDriver
from bascule.drivers.terminal.driver import CHECKPOINT_BYTES
from bascule.drivers.terminal.mode_tracker import FOLLOWED, ModeTracker, prelude
from bascule.drivers.terminal.strings import MAX_KEPT, StringScanner, clean_title

SCRIPT = (
    b"plain \x1b]0;first title\x07 text \x07 more\r\n"
    b"\x1b]2;second \xe2\x9c\x93\x1b\\ \x1bPq#0;2;0;0;0#0\x07not a bell\x1b\\ "
    b"\x1b]52;c;aGVsbG8=\x07 \x1b[?1049h\x1b[?2004h\x1b[31mred \xc3\xa9\x1b[0m\x07"
)


def told(pieces: list[bytes]) -> tuple[int, str | None, int, set[int]]:
    driver = TerminalDriver(80, 24)
    bells, title, clipboard = 0, None, 0
    for piece in pieces:
        one = driver.receive(piece)
        bells, clipboard = bells + one.bells, clipboard + one.clipboard
        title = one.title if one.title is not None else title
        fresh = TerminalDriver(80, 24)
        fresh.restore(driver.state())
        driver = fresh
    return bells, title, clipboard, driver._modes.on


def test_titles_bells_and_clipboard_wishes_are_found():
    assert told([SCRIPT]) == (2, "second ✓", 1, {7, 25, 1049, 2004})


@given(st.lists(st.integers(0, len(SCRIPT)), max_size=12))
@settings(max_examples=200, deadline=None)
def test_output_cut_anywhere_and_taken_up_by_another_says_the_same(cuts: list[int]):
    places = [0, *sorted(cuts), len(SCRIPT)]
    pieces = [SCRIPT[a:b] for a, b in itertools.pairwise(places)]
    assert told(pieces) == told([SCRIPT])


@given(st.binary(max_size=2000))
@settings(max_examples=200, deadline=None)
def test_no_bytes_make_it_raise(data: bytes):
    driver = TerminalDriver(20, 5)
    driver.receive(data)
    driver.restore(driver.state())
    assert driver.consumed == len(data)


@pytest.mark.row("P9")
def test_a_title_is_one_clean_bounded_line():
    assert clean_title(b"  a\nb\x1b[31m \xe2\x80\xae evil \xff") == "a b[31m evil �"
    assert len(clean_title(b"x" * 5000)) == 120


def test_a_string_that_never_ends_is_not_kept():
    scanner = StringScanner()
    for _ in range(100):
        scanner.feed(b"\x1b]0;" + b"x" * 5000)
    assert len(scanner.unfinished.kept) <= MAX_KEPT
    assert scanner.feed(b"y\x07").bells == 0


@pytest.mark.parametrize("ending", [b"\x18", b"\x1a", b"\x1b[m"])
def test_a_cancelled_title_is_none(ending: bytes):
    scanner = StringScanner()
    assert scanner.feed(b"\x1b]0;no" + ending).title is None
    assert scanner.at_ground


def test_a_reset_switches_modes_back():
    tracker = ModeTracker()
    tracker.feed(b"\x1b[?1049;2004h\x1b[?25l")
    assert tracker.alternate
    tracker.feed(b"\x1bc")
    assert tracker.on == {7, 25}


def test_the_prelude_speaks_of_every_followed_mode():
    words = prelude({25, 7, 1049})
    assert words.endswith(b"\x1b[?1049h")
    for mode in FOLLOWED - {7, 25}:
        assert b"\x1b[?%dl" % mode in words
    assert prelude({7}).endswith(b"\x1b[?25l")


@pytest.mark.row("P7")
def test_a_tail_begins_at_a_line_with_the_modes_of_that_place():
    driver = TerminalDriver(80, 24)
    driver.receive(b"\x1b[?1049h")
    line = b"x" * 99 + b"\n"
    for _ in range(40):
        driver.receive(line * 300)
    end = driver.consumed
    driver.receive(b"\x1b[?1049l")
    tail = driver.tail(driver.consumed, 0, 256 * 1024)
    assert end - tail.offset >= 256 * 1024 - 100
    assert end - tail.offset < 256 * 1024 + 2 * CHECKPOINT_BYTES
    assert (tail.offset - len(b"\x1b[?1049h")) % 100 == 0
    assert tail.prelude.endswith(b"\x1b[?1049h")
    short = driver.tail(driver.consumed, driver.consumed - 200_000, 256 * 1024)
    assert short.offset >= driver.consumed - 200_000


def test_a_quiet_piece_says_nothing():
    assert TerminalDriver(80, 24).receive(b"hello\r\n") == Signals()
