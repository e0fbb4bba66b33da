"""Titles: the first sentence of the first message, without markup; the page makes the same."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bascule.model.titles import TITLE_LENGTH, title_from

CASES = json.loads((Path(__file__).parents[1] / "fixtures" / "titles.json").read_text())


@pytest.mark.row("Q11")
@pytest.mark.parametrize(("text", "title"), CASES)
def test_a_title_is_the_first_sentence_without_markup(text: str, title: str) -> None:
    assert title_from(text) == title


@given(st.text(max_size=2000))
def test_a_title_is_one_short_line_and_is_there_whenever_something_was_said(text: str) -> None:
    title = title_from(text)
    assert len(title) <= TITLE_LENGTH
    assert "\n" not in title
