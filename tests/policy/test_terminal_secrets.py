"""What looks like a key in a terminal's output: overwritten in place, whatever colours stand in it."""

import pytest

from bascule.policy.terminal_secrets import hide_in_output, whole_lines

KEY = b"sk-" + b"ant-api03-MadeUpForThisTest0123456789"
MASK = b"[hidden]" + b"*" * (len(KEY) - 8)
PEM = b"-----BEGIN OPENSSH PRIVATE " + b"KEY-----\r\nb3BlbnNzaC1r\r\n-----END OPENSSH PRIVATE KEY-----\r\n"

pytestmark = pytest.mark.row("S61")


@pytest.mark.parametrize(
    ("output", "hidden"),
    [
        (b"$ echo " + KEY + b"\r\n", b"$ echo " + MASK + b"\r\n"),
        (b"\x1b[31m" + KEY[:9] + b"\x1b[0m" + KEY[9:], b"\x1b[31m" + MASK[:9] + b"\x1b[0m" + MASK[9:]),
        (KEY[:20] + b" \r" + KEY[20:], MASK[:20] + b" \r" + MASK[20:]),  # a full row of readline
        (b"\x1b]0;" + KEY + b"\x07$ ", b"\x1b]0;" + MASK + b"\x07$ "),
        (b"\x1b]0;" + KEY + b"\x1b\\$ ", b"\x1b]0;" + MASK + b"\x1b\\$ "),
        (b"DB_PASSWORD=hunter2!\r\n", b"DB_PASSWORD=[hidden]\r\n"),
        ("caf\u00e9 ".encode() + KEY + b"\xff\x1b[", "caf\u00e9 ".encode() + MASK + b"\xff\x1b["),
        (b"ftp://ana:pw@host", b"ftp://ana:**@host"),
    ],
    ids=["plain", "coloured", "wrapped", "title", "title, other end", "variable", "other bytes", "short"],
)
def test_a_key_is_overwritten_where_it_stands(output: bytes, hidden: bytes) -> None:
    assert hide_in_output(output) == hidden


def test_a_private_key_keeps_its_lines_and_nothing_else() -> None:
    hidden = hide_in_output(b"$ cat id\r\n" + PEM + b"$ ")
    assert [len(line) for line in hidden.split(b"\r\n")] == [8, 35, 12, 33, 2]
    assert b"b3Blb" not in hidden
    assert b"KEY" not in hidden


@pytest.mark.parametrize(
    "output",
    [b"", bytes(range(256)), b"\x1b[?2004h\x1b[1;32mana\x1b[0m:~$ ls -la\r\ntotal 8\r\n", b"\x1b]0;x"],
)
def test_what_is_no_key_stays_byte_for_byte(output: bytes) -> None:
    assert hide_in_output(output) == output


@pytest.mark.parametrize(
    ("output", "kept"),
    [
        (b"one\r\n" + KEY[:12], b"one\r\n"),
        (b"one\r\ntwo\r\n", b"one\r\ntwo\r\n"),
        (KEY, KEY),
        (b"one\r\n" + PEM[:60], b"one\r\n"),
        (b"one\r\n" + PEM, b"one\r\n" + PEM),
        (PEM[:60], PEM[:60]),
    ],
    ids=["cut line", "whole", "no line", "begun key", "whole key", "nothing but a begun key"],
)
def test_a_page_ends_before_what_would_be_cut_in_two(output: bytes, kept: bytes) -> None:
    assert whole_lines(output) == kept
