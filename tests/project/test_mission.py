"""docs/mission.md is checked against the tests' `row` markers: no row claims what no test shows."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# How many rows each part of the mission has; they are numbered from 1.
ROWS = {"L": 13, "R": 24, "A": 11, "P": 9, "C": 6, "X": 13}
STATES = {"done", "partly", "planned"}
OF_THE_MISSION = re.compile("[" + "".join(ROWS) + r"]\d+")
# Workbench cases, security cases, reliability cases, and findings of our own.
OTHER_IDS = re.compile(r"(?:TC|AC)-\d\.\d+[a-z]?|LV-\d\d?|S\d\d|REL-\d\d|[FBQ]\d+")
# How many findings of our own there are, each mended; they are numbered from 1.
FINDINGS = {"F": 11, "B": 10}
ID_IN_A_NAME = re.compile(r"test_(?:(?:tc|ac)_\d_|[a-z]\d+_)")


@dataclass(frozen=True)
class Row:
    id: str
    text: str
    state: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Marked:
    name: str
    rows: tuple[str, ...]


def rows_of(document: str) -> list[Row]:
    items = re.split(r"^\* ", document, flags=re.MULTILINE)
    found = [re.match(r"\*\*([A-Z]\d+)\*\* \*(\w+)\*: ((?:(?!\n  \* ).)+)", one, re.DOTALL) for one in items]
    return [
        Row(match[1], match[3], match[2], tuple(re.findall(r"^  \* `(\w+)`$", one, re.MULTILINE)))
        for match, one in zip(found, items, strict=True)
        if match
    ]


def marked_tests(folder: Path) -> Iterator[Marked]:
    for path in sorted([*folder.rglob("test_*.py"), *folder.rglob("*conformance.py")]):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield Marked(node.name, tuple(markers_of(node)))


def markers_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.row":
            for argument in decorator.args:
                assert isinstance(argument, ast.Constant), f"{node.name}: a row is written as plain text"
                yield str(argument.value)


def complaints(rows: list[Row], tests: list[Marked]) -> list[str]:
    marked: dict[str, set[str]] = {}
    for test in tests:
        marked.setdefault(test.name, set()).update(test.rows)
    found: list[str] = []
    for row in rows:
        if row.state not in STATES:
            found.append(f"{row.id}: no such state as {row.state!r}")
        if row.state in {"done", "partly"} and not row.tests:
            found.append(f"{row.id} is {row.state} but names no test")
        if row.state == "planned" and any(row.id in ids for ids in marked.values()):
            found.append(f"{row.id} is planned, but a test is marked with it")
        found += [
            f"{row.id} names {name}, which is not marked with it"
            if name in marked
            else f"{row.id} names {name}, which does not exist"
            for name in row.tests
            if row.id not in marked.get(name, ())
        ]
    return found


def wrong_marks(tests: list[Marked], rows: list[Row]) -> list[str]:
    known = {row.id for row in rows}
    found = [
        f"{test.name}: the id belongs in a row marker" for test in tests if ID_IN_A_NAME.match(test.name)
    ]
    for test in tests:
        for one in test.rows:
            if OF_THE_MISSION.fullmatch(one) and one not in known:
                found.append(f"{test.name} is marked with {one}, which the mission does not have")
            elif not OF_THE_MISSION.fullmatch(one) and not OTHER_IDS.fullmatch(one):
                found.append(f"{test.name}: {one} is no id we know")
    return found


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return rows_of((ROOT / "docs/mission.md").read_text())


@pytest.fixture(scope="module")
def suite() -> list[Marked]:
    return list(marked_tests(ROOT / "tests"))


def test_the_mission_has_every_row_once_and_in_order(rows: list[Row]):
    listed = [row.id for row in rows]
    assert listed == [f"{part}{number}" for part, count in ROWS.items() for number in range(1, count + 1)]


def test_every_row_that_claims_something_names_tests_that_are_marked_with_it(
    rows: list[Row], suite: list[Marked]
):
    assert complaints(rows, suite) == []


def test_every_marker_is_a_row_of_the_mission_or_a_known_case(rows: list[Row], suite: list[Marked]):
    assert wrong_marks(suite, rows) == []


def test_every_finding_is_shown_by_a_test(suite: list[Marked]):
    shown = {one for test in suite for one in test.rows}
    listed = [f"{part}{number}" for part, count in FINDINGS.items() for number in range(1, count + 1)]
    assert [one for one in listed if one not in shown] == []


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ("* **X1** *done*: Agents outlive the server.", "X1 is done but names no test"),
        ("* **X1** *done*: Agents outlive.\n  * `test_gone`", "X1 names test_gone, which does not exist"),
        (
            "* **X1** *done*: Agents outlive.\n  * `test_other`",
            "X1 names test_other, which is not marked with it",
        ),
        ("* **X2** *planned*: Approvals\n  that last.", "X2 is planned, but a test is marked with it"),
        ("* **X1** *soon*: Agents outlive the server.", "X1: no such state as 'soon'"),
    ],
)
def test_a_claim_without_a_test_is_found(document: str, complaint: str):
    assert complaints(rows_of(document), [Marked("test_other", ("X2",))]) == [complaint]


@pytest.mark.parametrize(
    ("test", "complaint"),
    [
        (Marked("test_here", ("X99",)), "test_here is marked with X99, which the mission does not have"),
        (Marked("test_here", ("S5",)), "test_here: S5 is no id we know"),
        (Marked("test_s55_here", ()), "test_s55_here: the id belongs in a row marker"),
    ],
)
def test_a_marker_that_means_nothing_is_found(test: Marked, complaint: str):
    assert wrong_marks([test], rows_of("* **X1** *planned*: Agents outlive.")) == [complaint]
