"""Hidden characters are shown, by the same fixture the page is held to."""

import json
from pathlib import Path
from typing import Any

import pytest

from bascule.policy.visible import has_hidden, sanitize, visible

FIXTURE = Path(__file__).parent.parent / "fixtures" / "visible.json"
CASES: list[dict[str, Any]] = json.loads(FIXTURE.read_text())


@pytest.mark.row("S44")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_every_case_of_the_shared_fixture_is_shown_as_written(case: dict[str, Any]):
    assert visible(case["text"]) == case["visible"]
    assert has_hidden(case["text"]) is case["hidden"]


@pytest.mark.row("S44")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_what_is_shown_holds_nothing_hidden(case: dict[str, Any]):
    assert not has_hidden(visible(case["text"]))


@pytest.mark.row("S44")
def test_the_tail_after_ten_thousand_hidden_characters_is_still_there():
    text = "echo ok" + "\u00a0" * 10_000 + "; rm -rf x"
    assert visible(text).endswith("; rm -rf x")
    assert visible(text).count("\\u{a0}") == 10_000


def test_a_megabyte_is_shown_whole():
    assert len(visible("x" * 1_000_000)) == 1_000_000


def test_prose_keeps_its_emoji_but_loses_its_power_over_the_terminal():
    assert sanitize("⚠\ufe0f 👩\u200d💻") == "⚠\ufe0f 👩\u200d💻"
    assert sanitize("\x1b]0;title\x07\u202eabc\r") == "\\u{1b}]0;title\\u{7}\\u{202e}abc\\u{d}"
    assert sanitize("a\n\tb") == "a\n\tb"
