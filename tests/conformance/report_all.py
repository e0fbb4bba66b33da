"""Writes what each agent did into docs/conformance.md: one row each, in the place of its last one."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from datetime import UTC, datetime

from tests.conformance.candidates import CANDIDATES
from tests.conformance.every_agent import Run
from tests.conformance.greeting import Greeting
from tests.conformance.report import PAGE
from tests.conformance.scenes_acp import ACP
from tests.conformance.scenes_any import ANY
from tests.conformance.scenes_codex import CODEX
from tests.conformance.scenes_found import FOUND
from tests.conformance.scenes_lost import LOST_CODEX

COLUMNS = [*ANY, *FOUND, *ACP, "mode that asks nobody", *CODEX, *LOST_CODEX]
FACTS = ("agent", "version", "way", "day")
FIGURES = ("ready", "first text", "end")
GREETING = [
    "agent",
    "greeted",
    "with sessions",
    "in a prompt",
    "modes",
    "models",
    "other options",
    "signing in",
]


def write(done: Run) -> None:
    """Put the agent's row where its last one was; the others stay as they are."""
    row = [*_facts(done), *_results(done), *_times(done)]
    replace_row("agents", [*FACTS, *COLUMNS, *FIGURES], row)


def write_greeting(done: Run, told: Greeting) -> None:
    """The same, of what the agent said of itself."""
    row = [
        done.candidate.title,
        f"{told.seconds:.1f} s",
        ", ".join(told.can),
        ", ".join(told.takes),
        ", ".join(f"`{one}`" for one in told.modes),
        str(told.models) if told.models else "",
        ", ".join(told.settings),
        "; ".join(told.sign_in),
    ]
    replace_row("greetings", GREETING, row)


def replace_row(table: str, columns: list[str], row: list[str], order: list[str] | None = None) -> None:
    """Put a row, known by its first cell, where the last one of that name was."""
    begin, end = f"<!-- {table}: begin -->", f"<!-- {table}: end -->"
    before, rest = PAGE.read_text(encoding="utf-8").split(begin, 1)
    old, after = rest.split(end, 1)
    rows = {**rows_of(old), row[0]: dict(zip(columns, row, strict=True))}
    order = order or [one.title for one in CANDIDATES]
    # The other rows keep their cells also where a column was put between them.
    kept = [_row(rows[title].get(name, "") for name in columns) for title in order if title in rows]
    lines = [_row(columns), _row("---" for _ in columns), *kept]
    PAGE.write_text(f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{after}", encoding="utf-8")


def rows_of(table: str) -> dict[str, dict[str, str]]:
    """The rows of a written table, each known by its first cell, as column to cell."""
    lines = [_cells(line) for line in table.splitlines() if line.startswith("|")]
    return {cells[0]: dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]}


def _facts(done: Run) -> list[str]:
    name = done.candidate
    return [name.title, done.version, f"`{name.driver}`", str(datetime.now(UTC).date())]


def _results(done: Run) -> Iterable[str]:
    played = {one.name: one for one in done.outcomes}
    for name in COLUMNS:
        one = played.get(name)
        yield "" if one is None else "yes" if one.fault is None else "**no**"


def _times(done: Run) -> Iterable[str]:
    for key in ("ready", "text", "end"):
        known = [value for one in done.outcomes if (value := getattr(one.figures, key)) is not None]
        yield f"{statistics.median(known):.1f} s" if known else ""


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]
