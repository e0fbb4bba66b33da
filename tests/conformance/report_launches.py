"""Writes how launched CLIs got their prompt into docs/conformance.md: one row each, kept."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.outcome import Outcome

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
BEGIN, END = "<!-- launches: begin -->", "<!-- launches: end -->"
HEAD = "| CLI | version | a few lines | 200 KB |\n|---|---|---|---|\n"


def write(name: str, version: str, outcomes: list[Outcome]) -> None:
    """Put the CLI's row where its last one was."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    table, _, after = rest.partition(END)
    rows = {line.split("|")[1].strip(): line for line in table.strip().splitlines()[2:]}
    said = " | ".join("; ".join(one.notes) if one.fault is None else "**failed**" for one in outcomes)
    rows[name] = f"| {name} | {version} | {said} |"
    table = HEAD + "\n".join(rows.values())
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")
