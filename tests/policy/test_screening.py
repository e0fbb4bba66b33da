"""What of a program's bytes reaches a viewer, and what a viewer's terminal may answer."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from bascule.policy.replies import take_apart
from bascule.policy.screening import Screening, safe_length, safe_start


@pytest.mark.row("REL-37")
@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (b"plain", 5),
        (b"ab\x1b", 2),
        (b"ab\x1b[31", 2),
        (b"ab\x1b[31m", 7),
        (b"ab\x1b]0;titl", 2),
        (b"ab\x1b]0;titl\x1b", 2),
        (b"ab\x1b]0;title\x07", 12),
        (b"ab\x1b]0;title\x1b\\x", 14),
        (b"ab\x1b]0;title\x1b[m", 14),
        (b"ab\x1bPq...", 2),
        (b"ab\x1b(", 2),
        (b"ab\x1b(B", 5),
        ("é".encode()[:1], 0),
        (b"a" + "😀".encode()[:3], 1),
        ("a😀".encode(), 5),
        (b"\xff\xff", 2),
        (b"", 0),
    ],
)
def test_a_chunk_never_ends_inside_an_escape_sequence_or_a_character(data: bytes, kept: int):
    assert safe_length(data) == kept


def test_a_very_long_sequence_goes_on_its_way():
    data = b"\x1b]1337;File=" + b"A" * 20_000
    assert safe_length(data) == len(data)


@pytest.mark.row("S54", "P9")
@pytest.mark.parametrize("ending", [b"\x07", b"\x1b\\"])
@pytest.mark.parametrize("start", [b"\x1b]52;c;", b"\x1b]052;;", "\x9d52;c;".encode()])
def test_escape_sequences_cannot_reach_the_clipboard(start: bytes, ending: bytes):
    data = b"before" + start + b"aGVsbG8=" + ending + b"after"
    seen = Screening(0).screened(data, 0)
    assert len(seen) == len(data)
    assert seen.replace(b"\0", b"") == b"beforeafter"


@pytest.mark.row("S54")
def test_a_clipboard_sequence_over_many_chunks_is_blanked_to_its_end():
    screening = Screening(0)
    pieces = [b"a\x1b]52;c;" + b"A" * 9000, b"B" * 9000, b"C\x07done"]
    assert b"".join(screening.screened(one, 0) for one in pieces).replace(b"\0", b"") == b"adone"


QUESTIONS = [
    b"\x05",
    b"\x1bZ",
    b"\x1b[c",
    b"\x1b[0c",
    b"\x1b[>c",
    b"\x1b[=c",
    b"\x1b[5n",
    b"\x1b[6n",
    b"\x1b[?6n",
    b"\x1b[?2004$p",
    b"\x1b[4$p",
    b"\x1b[21t",
    b"\x1b[18t",
    b"\x1b[x",
    b"\x1b[>q",
    b"\x1b[?u",
    b"\x1bP$qm\x1b\\",
    b"\x1bP+q544e\x1b\\",
    b"\x1b]10;?\x07",
    b"\x1b]11;?\x1b\\",
    b"\x1b]4;1;?\x07",
    b"\x1b]50;?\x07",
]


@pytest.mark.row("S54")
@pytest.mark.parametrize("asked", QUESTIONS)
def test_terminal_queries_are_not_sent_again_in_replayed_output(asked: bytes):
    data = b"a" + asked + b"z"
    assert Screening(100).screened(data, 0) == b"a" + bytes(len(asked)) + b"z"
    assert Screening(0).screened(data, 0) == data, "live, they are the program's own business"


@pytest.mark.parametrize("kept", [b"\x1b[31m", b"\x1b[2J", b"\x1b[?1049h", b"\x1b]0;t\x07", b"\x1b[10;5H"])
def test_what_draws_is_shown_again_as_it_is(kept: bytes):
    assert Screening(100).screened(kept, 0) == kept


def test_safe_start_skips_a_broken_beginning():
    assert safe_start(b"31mred\nnext") == 7
    assert safe_start(b"tle\x07text\x1b[mX") == 8
    assert safe_start(b"nothing") == 7


SAFE = [
    b"\x1b[?1;2c",
    b"\x1b[>0;276;0c",
    b"\x1b[0n",
    b"\x1b[12;40R",
    b"\x1b[?2004;1$y",
    b"\x1b[8;24;80t",
    b"\x1b[?0u",
    b"\x1bP1$r0m\x1b\\",
    b"\x1bP>|xterm.js(5.6.0)\x1b\\",
    b"\x1b]11;rgb:1a1a/1b1b/2626\x1b\\",
    b"\x1b]4;1;rgb:ff/00/00\x07",
]
UNSAFE = [
    b"\x1b]lrm -rf ~\x1b\\",
    b"\x1b]Lx\x1b\\",
    b"\x1b]52;c;aGVsbG8=\x07",
    b"\x1b]50;Fixed; rm\x07",
    b"\x1bP1+r544e=78\x1b\\",
    b"\x1bP1$r$(rm)\x1b\\",
    b"\x1bP>|a\nrm\x1b\\",
    b"\x1b]10;$(rm)\x07",
]


@pytest.mark.row("S54")
@pytest.mark.parametrize("reply", SAFE)
def test_fixed_safe_query_answers_are_recognised(reply: bytes):
    assert take_apart(b"a" + reply + b"b") == (b"ab", reply, 0)


@pytest.mark.row("S54")
@pytest.mark.parametrize("reply", UNSAFE)
def test_query_answers_with_free_text_are_never_passed_on(reply: bytes):
    assert take_apart(b"a" + reply + b"b") == (b"ab", b"", 1)


@pytest.mark.parametrize(
    "keys",
    [
        b"ls -la\r",
        b"\x1b[A",
        b"\x1bOP",
        b"\x1b[15~",
        b"\x1b[1;5C",
        b"\x1b[<0;10;20M",
        b"\x1b[200~pasted\x1b[201~",
        b"\x1b",
        b"\x1b]",
        b"\x1b[I",
        b"\x1b[Z",
        "é😀".encode(),
        b"\x03",
    ],
)
def test_keys_are_keys(keys: bytes):
    assert take_apart(keys) == (keys, b"", 0)


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=5))
@settings(max_examples=300, deadline=None)
def test_screening_keeps_every_length(data: bytes, cuts: list[int]):
    screening = Screening(150)
    offset = 0
    for cut in [*sorted(cuts), len(data)]:
        piece = data[offset:cut]
        assert len(screening.screened(piece, offset)) == len(piece)
        offset += len(piece)
