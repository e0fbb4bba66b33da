"""Quill Deltas as text and as Markdown; the page makes the same, held to the same fixtures."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bascule.model.delta import delta_to_markdown, delta_to_text
from bascule.model.errors import InvalidInput

CASES = json.loads((Path(__file__).parents[1] / "fixtures" / "delta.json").read_text())
MIB = 1024 * 1024


@pytest.mark.row("L9", "L13")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_delta_becomes_text_by_the_table_and_markdown_for_agents(case: dict[str, Any]) -> None:
    if "error" in case:
        for make in (delta_to_text, delta_to_markdown):
            with pytest.raises(InvalidInput) as refused:
                make(case["delta"])
            assert refused.value.message == case["error"]
        return
    assert delta_to_text(case["delta"]) == case["text"]
    assert delta_to_markdown(case["delta"]) == case["markdown"]


@given(st.lists(st.text(max_size=60), max_size=20))
def test_both_forms_of_a_document_without_formatting_are_its_text(texts: list[str]) -> None:
    delta = {"ops": [{"insert": text} for text in texts]}
    assert delta_to_text(delta) == delta_to_markdown(delta) == "".join(texts)


def test_a_mebibyte_in_one_line_and_in_many_is_read_whole() -> None:
    blanks = {"insert": " " * MIB, "attributes": {"bold": True}}
    assert delta_to_markdown([{"insert": "a", "attributes": {"bold": True}}, blanks]) == "**a**" + " " * MIB
    many = ("y" * 63 + "\n") * (MIB // 64)
    lines = [{"insert": "x"}, {"insert": many, "attributes": {"code-block": True}}]
    assert delta_to_markdown(lines) == "```\nx" + many + "```\n"
    assert len(delta_to_text(lines)) == MIB + 1
