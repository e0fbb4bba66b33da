"""Replies: every form of a terminal's answer, told apart from keys and from what a program could plant."""

import pytest

from bascule.policy.replies import Spoken, take_apart

ESC = b"\x1b"
ST = b"\x1b\\"


@pytest.mark.parametrize(
    "reply",
    [
        b"\x1b[?62;22c",
        b"\x1b[>0;276;0c",
        b"\x1bP!|00000000\x1b\\",
        b"\x1b[0n",
        b"\x1b[3n",
        b"\x1b[24;80R",
        b"\x1b[?24;80R",
        b"\x1b[?24;80;1R",
        b"\x1b[?997;1n",
        b"\x1b[?13n",
        b"\x1b[?2026;2$y",
        b"\x1b[4;1$y",
        b"\x1b[4;600;800t",
        b"\x1b[6;20;10t",
        b"\x1b[8;24;80t",
        b"\x1b[?1u",
        b"\x1bP1$r0m\x1b\\",
        b'\x1bP1$r61;1"p\x1b\\',
        b"\x1bP0$r\x1b\\",
        b"\x1bP>|xterm.js(5.5.0)\x1b\\",
        b"\x1b]10;rgb:ffff/ffff/ffff\x07",
        b"\x1b]11;rgb:00/00/00\x1b\\",
        b"\x1b]11;rgba:00/00/00/ff\x1b\\",
        b"\x1b]4;255;rgb:0/0/0\x1b\\",
    ],
)
def test_a_known_form_is_a_reply(reply: bytes):
    assert take_apart(reply) == Spoken(b"", reply, 0)
    assert take_apart(b"a" + reply + b"b") == Spoken(b"ab", reply, 0)


@pytest.mark.parametrize(
    "planted",
    [
        b"\x1b]l a title\x1b\\",  # the title of the window
        b"\x1b]2;rm -rf\x07",
        b"\x1b]52;c;cm0gLXJm\x07",  # the clipboard
        b"\x1b]50;a font\x07",
        b"\x1b]10;red\x07",
        b"\x1b]10;rgb:ffff/ffff\x07",
        b"\x1b]10;rgb:fffff/0/0\x07",
        b"\x1b]4;1000;rgb:0/0/0\x07",
        b"\x1b]20;rgb:0/0/0\x07",
        b"\x1bP>|a name;rm\x1b\\",
        b"\x1bP>|" + b"x" * 41 + ST,
        b"\x1bP1$rwords m\x1b\\",
        b"\x1bP2$r0m\x1b\\",
        b"\x1bP1+r544e=78\x1b\\",  # a capability
        b"\x1bP!|xyz\x1b\\",
        b"\x1b_Gi=1;OK\x1b\\",  # an image's
        b"\x1b^private\x1b\\",
        b"\x1bXstring\x1b\\",
        b"\x1b[1n",
        b"\x1b[?1;2;3n",
        b"\x1b[?62;22;" + b"1" * 40 + b"c",
        b"\x1b[=1c",
        b"\x1b[c",
        b"\x1b[?c",
        b"\x1b[t",
        b"\x1b[3;0;0t",
        b"\x1b[4;1t",
        b"\x1b[2;1;1;112;112;1;0x",
        b"\x1b[?2026;5$y",
        b"\x1b[100000;1R",
        b"\x1b[1;1;1000R",
        b"\x1b[>1u",
        b"\x1b[?1234u",
    ],
)
def test_an_answer_in_any_other_form_is_refused(planted: bytes):
    assert take_apart(planted) == Spoken(b"", b"", 1)
    assert take_apart(b"a" + planted + b"b") == Spoken(b"ab", b"", 1)


@pytest.mark.parametrize(
    "keys",
    [
        b"",
        b"ls -l\r",
        "grüße".encode(),
        b"\x03",
        b"\x1b",
        b"\x1ba",  # Alt
        b"\x1b[A",
        b"\x1b[1;5C",
        b"\x1bOP",
        b"\x1b[15~",
        b"\x1b[200~pasted\x1b[201~",
        b"\x1b[M !!",
        b"\x1b[<0;10;20M",
        b"\x1b[I",
        b"\x1b[97;5u",
        b"\x1b[13R",
        b"\x1b]",  # begun and not ended
        b"\x1b]11;rgb:0/0/0",
        b"\x1b]\x07",  # empty
    ],
)
def test_keys_stay_keys(keys: bytes):
    assert take_apart(keys) == Spoken(keys, b"", 0)


def test_keys_replies_and_refused_answers_of_one_message_keep_their_order():
    data = b"a\x1b[0nb\x1b]52;c;eA==\x07c\x1b[3n\x1b[A\x1b[t"
    assert take_apart(data) == Spoken(b"abc\x1b[A", b"\x1b[0n\x1b[3n", 2)


def test_a_function_key_that_looks_like_a_position_is_a_reply():
    assert take_apart(b"\x1b[1;2R") == Spoken(b"", b"\x1b[1;2R", 0)  # Shift+F3
