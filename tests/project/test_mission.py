"""docs/mission.md is held to the tests: no row is missing, and none claims what no test shows."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# How many rows each part of the mission has; they are numbered from 1.
ROWS = {"L": 13, "R": 24, "A": 11, "P": 9, "C": 6, "X": 13}
STATES = {"done", "partly", "planned"}


@dataclass(frozen=True)
class Row:
    id: str
    text: str
    state: str
    tests: tuple[str, ...]


def rows_of(document: str) -> list[Row]:
    rows: list[Row] = []
    for line in document.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if len(cells) == 4 and re.fullmatch(r"[A-Z]\d+", cells[0]):
            rows.append(Row(cells[0], cells[1], cells[2], tuple(re.findall(r"\w+", cells[3]))))
    return rows


def names_of_tests(folder: Path) -> set[str]:
    return {
        node.name
        for path in folder.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def complaints(rows: list[Row], existing: set[str]) -> list[str]:
    found: list[str] = []
    for row in rows:
        if row.state not in STATES:
            found.append(f"{row.id}: no such state as {row.state!r}")
        if row.state in {"done", "partly"} and not row.tests:
            found.append(f"{row.id} is {row.state} but names no test")
        found += [
            f"{row.id} names {test}, which does not exist" for test in row.tests if test not in existing
        ]
    return found


def test_the_mission_has_every_row_once_and_in_order():
    listed = [row.id for row in rows_of((ROOT / "docs/mission.md").read_text())]
    assert listed == [f"{part}{number}" for part, count in ROWS.items() for number in range(1, count + 1)]


def test_every_row_that_claims_something_names_tests_that_exist():
    rows = rows_of((ROOT / "docs/mission.md").read_text())
    assert complaints(rows, names_of_tests(ROOT / "tests")) == []


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("| X1 | agents outlive the server | done | |", "X1 is done but names no test"),
        (
            "| X1 | agents outlive the server | done | `test_gone` |",
            "X1 names test_gone, which does not exist",
        ),
        ("| X1 | agents outlive the server | soon | |", "X1: no such state as 'soon'"),
    ],
)
def test_a_claim_without_a_test_is_found(line: str, complaint: str):
    assert complaints(rows_of(line), {"test_here"}) == [complaint]
