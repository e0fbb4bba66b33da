"""The line splitter: every cut gives the same lines, and nothing it keeps is unbounded."""

import hashlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bascule.drivers.line_splitter import LineSplitter, Oversize


class Small(LineSplitter):
    """The same code with limits a test can reach."""

    MAX_LINE = 16
    GIVE_UP = 64
    HEAD = 4


def split_in(pieces: list[bytes], splitter: LineSplitter) -> list[bytes | Oversize]:
    found = [item for piece in pieces for item in splitter.feed(piece)]
    return [*found, *splitter.finish()]


@given(st.lists(st.binary(max_size=40)))
def test_lines_are_the_same_however_the_bytes_are_cut(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    expected = whole.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    assert split_in(pieces, LineSplitter()) == expected


@given(st.lists(st.sampled_from([b"a", b"bb" * 9, b"\n", b"c\nd", b"x" * 50])), st.integers(1, 9))
def test_oversized_lines_are_the_same_however_the_bytes_are_cut(parts: list[bytes], size: int) -> None:
    whole = b"".join(parts)
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    lines = whole.split(b"\n")
    kept = [line for line in lines if len(line) <= 16]
    if lines[-1] == b"":
        kept.pop()
    found = split_in(pieces, Small())
    assert [item for item in found if not isinstance(item, Oversize)] == kept
    assert sum(isinstance(item, Oversize) for item in found) == sum(len(line) > 16 for line in lines)


def test_consumed_stands_at_the_last_line_end() -> None:
    splitter = LineSplitter()
    splitter.feed(b"one\ntwo\nthr")
    assert splitter.consumed == 8
    splitter.feed(b"ee\n")
    assert splitter.consumed == 14


def test_a_line_too_long_is_reported_once_with_head_length_and_hash() -> None:
    splitter = Small()
    line = b"0123456789" * 3
    found = splitter.feed(line[:11]) + splitter.feed(line[11:] + b"\nnext\n")
    assert found == [Oversize(b"0123", 30, hashlib.sha256(line).hexdigest(), True), b"next"]
    assert splitter.consumed == 36


def test_a_line_too_long_is_reported_at_the_end_of_the_stream() -> None:
    splitter = Small()
    assert splitter.feed(b"x" * 30) == []
    assert splitter.finish() == [Oversize(b"xxxx", 30, hashlib.sha256(b"x" * 30).hexdigest(), True)]
    assert splitter.consumed == 30


def test_a_line_that_never_ends_is_reported_once_and_then_skipped() -> None:
    splitter = Small()
    found = [item for _ in range(20) for item in splitter.feed(b"x" * 10)]
    assert [item.ended for item in found if isinstance(item, Oversize)] == [False]
    assert splitter.skipping
    assert splitter.consumed == 200
    assert splitter.feed(b"rest\nnext\n") == [b"next"]
    assert not splitter.skipping


def test_skipping_goes_on_after_a_restart() -> None:
    splitter = Small(skipping=True)
    assert splitter.feed(b"still the old line\nnew\n") == [b"new"]
    assert splitter.consumed == 23


def test_a_line_of_sixteen_mebibytes_is_kept_whole() -> None:
    line = b"y" * LineSplitter.MAX_LINE
    pieces = [line[at : at + 262_144] for at in range(0, len(line), 262_144)]
    assert split_in([*pieces, b"\n"], LineSplitter()) == [line]


MEASURE = """
import resource, sys
from bascule.drivers.stream_json import StreamJsonDriver
driver = StreamJsonDriver()
chunk = b"z" * 65536
driver.receive(chunk)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
events = [event for _ in range(100 * 16) for event in driver.receive(chunk)]
assert events == [], events
sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""


@pytest.mark.row("REL-31")
def test_a_hundred_megabytes_without_a_newline_stay_within_64_mb() -> None:
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 64 * 1024
