"""Writes how an agent did in its cages into docs/conformance.md, in the place of its last row."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.conformance.cages import ROWS, SCENES, Row
from tests.conformance.report_all import replace_row

from bascule.transport.cage_support import landlock_version

FACTS = ["agent", "version", "cage", "day"]


def write(row: Row) -> None:
    cells = ["yes" if one.fault is None else "**no**" for one in row.outcomes]
    cage = f"Landlock {landlock_version()}"
    facts = [row.candidate.title, row.version, cage, str(datetime.now(UTC).date())]
    replace_row("cages", [*FACTS, *SCENES], [*facts, *cells], [one.title for one in ROWS])
