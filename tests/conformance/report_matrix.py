"""Writes an agent's row of the matrix into docs/conformance.md, in the place of its last one."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.conformance.matrix import COLUMNS, ROWS, Row
from tests.conformance.report_all import replace_row

FACTS = ["agent", "version", "day"]


def write(row: Row) -> None:
    cells = {one.column: one for one in row.cells}
    shown = [_cell(cells[name].text, cells[name].fault) if name in cells else "" for name in COLUMNS]
    facts = [row.candidate.title, row.version, str(datetime.now(UTC).date())]
    replace_row("matrix", [*FACTS, *COLUMNS], [*facts, *shown], [one.title for one in ROWS])


def _cell(text: str, fault: str | None) -> str:
    return text if fault is None else f"**{text}**"
