"""A table of docs/conformance.md between two marks: one row for each CLI, kept until it is played again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.conformance.outcome import Outcome

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"


@dataclass(frozen=True)
class ReportTable:
    name: str  # of its marks
    columns: tuple[str, ...]

    def write(self, cli: str, version: str, outcomes: list[Outcome]) -> None:
        """Put the CLI's row where its last one was."""
        begin, end = f"<!-- {self.name}: begin -->", f"<!-- {self.name}: end -->"
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
        table, _, after = rest.partition(end)
        rows = {line.split("|")[1].strip(): line for line in table.strip().splitlines()[2:]}
        cells = ["; ".join(played.notes) if played.fault is None else "**failed**" for played in outcomes]
        rows[cli] = _row(cli, version, *cells)
        head = ("CLI", "version", *self.columns)
        lines = [_row(*head), "|" + "---|" * len(head), *rows.values()]
        PAGE.write_text("\n".join([before + begin, *lines, end + after]), encoding="utf-8")


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


LAUNCHES = ReportTable("launches", ("a few lines", "200 KB"))
TERMINALS = ReportTable("terminals", ("in a trusted project", "in any other"))
