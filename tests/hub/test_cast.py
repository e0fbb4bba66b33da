"""A recording's lines: whole characters, exact bytes, in the order of time."""

import json

import pytest

from bascule.hub.api.cast import time_at, timed_lines, whole_characters

TIMES = [(0, 1000), (4, 1500), (9, 3000)]


def lines(data: bytes, resizes: list[tuple[int, int, int]], start: int = 0) -> list[list[object]]:
    return [json.loads(line) for line in timed_lines(data, start, TIMES, 1000, resizes)]


def exact(said: list[list[object]]) -> bytes:
    return b"".join(str(text).encode(errors="surrogateescape") for _, kind, text in said if kind == "o")


def test_each_piece_has_its_time_and_a_resize_its_place():
    said = lines(b"abcdefghijkl", [(1000, 80, 24), (2000, 100, 30), (9000, 40, 10)])
    assert said == [
        [0.0, "r", "80x24"],
        [0.0, "o", "abcd"],
        [0.5, "o", "efghi"],
        [1.0, "r", "100x30"],
        [2.0, "o", "jkl"],
        [8.0, "r", "40x10"],
    ]


@pytest.mark.parametrize(
    "data", ["aü€😀zü€😀".encode(), b"\xff\xfe\x80abc\xe2\x82", b"\xf0\x9f\x98", bytes(range(256)), b""]
)
def test_every_byte_is_there_whatever_it_is(data: bytes):
    assert exact(lines(data, [])) == data


def test_a_character_is_not_cut_between_two_pieces():
    assert [text for _, _, text in lines("abc€def".encode(), [])] == ["abc", "€def"]
    assert whole_characters("ab€".encode()[:-1]) == b"ab"
    assert whole_characters(b"ab") == b"ab"


def test_the_time_of_an_offset_is_the_last_noted_before_it():
    assert [time_at(TIMES, offset, 7) for offset in (0, 3, 4, 8, 100)] == [1000, 1000, 1500, 1500, 3000]
    assert time_at([], 5, 7) == 7
