"""The body of a launch, field by field: what is taken and which error the rest gets."""

import json
from typing import Any

import pytest

from bascule.launch.errors import LaunchError
from bascule.launch.handing_over import fits_argument, may_be_sent, untypable
from bascule.launch.request import MAX_PROMPT, LaunchRequest, check_key, parse_body, request_of


def body(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


@pytest.mark.row("L1")
def test_every_field_is_read_and_unknown_ones_are_ignored() -> None:
    wanted = LaunchRequest(prompt="hi\n", mode="normal", agent="codex", working_directory="/srv/app")
    given = body(prompt="hi\n", mode="normal", agent="codex", workingDirectory="/srv/app", other=1)
    assert parse_body(given) == wanted
    assert parse_body(body(prompt="x")) == LaunchRequest(prompt="x")


@pytest.mark.row("L1", "S27", "L13", "LV-14")
def test_a_prompt_of_the_most_characters_is_taken_whatever_its_bytes() -> None:
    for character in ("a", "é", "👩", "\\", "\n"):
        assert len(parse_body(body(prompt=character * MAX_PROMPT)).prompt) == MAX_PROMPT


REFUSED = {
    b"": (400, "invalid_json"),
    b"{": (400, "invalid_json"),
    b"[]": (400, "invalid_json"),
    b'"prompt"': (400, "invalid_json"),
    b'{"prompt": "\xff"}': (400, "invalid_json"),
    b'{"prompt": "\\ud800"}': (400, "invalid_json"),
    b"{}": (400, "prompt_required"),
    b'{"prompt": ""}': (400, "prompt_required"),
    b'{"prompt": null}': (400, "prompt_required"),
    b'{"prompt": 7}': (400, "prompt_required"),
    body(prompt="a" * (MAX_PROMPT + 1)): (413, "prompt_too_large"),
    body(prompt="a\0b"): (400, "invalid_prompt"),
    body(prompt="a", mode="yolo"): (400, "invalid_mode"),
    body(prompt="a", mode=["plan"]): (400, "invalid_mode"),
    body(prompt="a", agent=""): (400, "invalid_agent"),
    body(prompt="a", agent={}): (400, "invalid_agent"),
    body(prompt="a", workingDirectory="relative"): (400, "invalid_working_directory"),
    body(prompt="a", workingDirectory="/a/../b"): (400, "invalid_working_directory"),
    body(prompt="a", workingDirectory="/a\nb"): (400, "invalid_working_directory"),
    body(prompt="a", workingDirectory=3): (400, "invalid_working_directory"),
}


@pytest.mark.row("L2", "S27", "L13", "LV-9", "LV-10", "LV-15")
@pytest.mark.parametrize("given", REFUSED, ids=lambda one: one[:40])
def test_what_is_wrong_has_the_tables_status_and_code(given: bytes) -> None:
    with pytest.raises(LaunchError) as refused:
        parse_body(given)
    assert (refused.value.status, refused.value.error) == REFUSED[given]


@pytest.mark.row("S27")
def test_a_lone_surrogate_from_a_command_line_is_refused() -> None:
    with pytest.raises(LaunchError, match="lone surrogate"):
        request_of({"prompt": "a\udcffb"})


@pytest.mark.row("S29")
def test_a_key_is_short_and_printable() -> None:
    assert check_key(None) is None
    assert check_key("click-1") == "click-1"
    for wrong in ("", "a" * 201, "a\nb"):
        with pytest.raises(LaunchError):
            check_key(wrong)


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
