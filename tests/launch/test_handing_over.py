"""How a prompt reaches the agent: which prompts are arguments, which a person must send."""

import pytest

from bascule.launch.handing_over import fits_argument, may_be_sent, untypable


@pytest.mark.row("L6", "S24")
@pytest.mark.parametrize(
    ("prompt", "words", "fits"),
    [
        ("hello there", ("{value}",), True),
        ("hello there", (), False),
        ("update", ("{value}",), False),
        (" update\n", ("{value}",), False),
        ("update", ("--prompt={value}",), True),
        ("a b" + "a" * 131_068, ("{value}",), True),
        ("a b" + "a" * 131_069, ("{value}",), False),
        ("é" * 65_536, ("{value}",), False),
        ("a" * 131_070, ("--prompt={value}",), False),
        ("-x", ("{value}",), False),
        ("--settings=x", ("--prompt={value}",), False),
        ("\n @file", ("{value}",), False),
        ("!ls", ("{value}",), False),
        ("/exit", ("{value}",), False),
        ("a-b @c !d /e", ("{value}",), True),
    ],
)
def test_a_prompt_is_an_argument_only_where_it_is_safe_and_fits(
    prompt: str, words: tuple[str, ...], fits: bool
) -> None:
    assert fits_argument(prompt, words) is fits


@pytest.mark.row("S24")
def test_what_a_person_must_send_and_what_cannot_be_typed() -> None:
    assert [may_be_sent(one) for one in ("hi", "@x", "-x", "!ls", " /exit")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert untypable("tab\t, lines\r\n, 👩, \u202e") is None
    assert [untypable(one) for one in ("a\x1b", "a\x03", "\x7f", "\x9b")] == ["\x1b", "\x03", "\x7f", "\x9b"]
