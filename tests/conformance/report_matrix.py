"""Writes an agent's row of the matrix into docs/conformance.md, or those of its cells that were played."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.conformance.matrix import COLUMNS, ROWS, Row
from tests.conformance.report import PAGE
from tests.conformance.report_all import replace_row, rows_of

FACTS = ["agent", "version", "day"]


def write(row: Row) -> None:
    """Cells that were not played now stay as they are, as long as they are of the same version."""
    facts = [row.candidate.title, row.version, str(datetime.now(UTC).date())]
    written = rows_of(
        PAGE.read_text(encoding="utf-8").split("<!-- matrix: begin -->")[1].split("<!-- matrix")[0]
    )
    last = written.get(row.candidate.title, {})
    kept = last if last.get("version") == row.version else {}
    played = {one.column: _cell(one.text, one.fault) for one in row.cells}
    cells = [played.get(name, kept.get(name, "")) for name in COLUMNS]
    replace_row("matrix", [*FACTS, *COLUMNS], [*facts, *cells], [one.title for one in ROWS])


def _cell(text: str, fault: str | None) -> str:
    return text if fault is None else f"**{text}**"
