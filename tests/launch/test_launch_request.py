"""The body of a launch, field by field: what is taken and which error the rest gets."""

import json
from typing import Any

import pytest

from bascule.launch.errors import LaunchError
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
