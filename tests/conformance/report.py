"""Writes what a whole run found into docs/conformance.md, between its two marks; the rest is people's."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from tests.conformance.install import Installed
from tests.conformance.outcome import Outcome

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def write(installed: Installed, outcomes: list[Outcome]) -> None:
    """Put the run's table where the last one was."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN, 1)
    _, after = rest.split(END, 1)
    measured = "\n".join(_lines(installed, outcomes))
    PAGE.write_text(f"{before}{BEGIN}\n{measured}\n{END}{after}", encoding="utf-8")


def _lines(installed: Installed, outcomes: list[Outcome]) -> Iterable[str]:
    failed = sum(outcome.fault is not None for outcome in outcomes)
    yield f"Claude Code {installed.claude_version}, node {installed.node_version}, {_machine()}."
    yield f"{datetime.now(UTC).date()}: {len(outcomes) - failed} passed, {failed} failed."
    yield ""
    yield "| from, to | median | slowest |"
    yield "|---|---|---|"
    yield _figure("spawn, `session_ready`", (one.figures.ready for one in outcomes))
    yield _figure(
        "spawn, first text (the prompt came with the start)", (one.figures.text for one in outcomes)
    )
    yield _figure("close, `session_ended` (idle)", (one.figures.end for one in outcomes))
    yield ""
    yield "| scene | result | seconds | exit of the agent |"
    yield "|---|---|---|---|"
    for one in outcomes:
        result = "passes" if one.fault is None else f"**fails**: {_cell(one.fault)}"
        yield f"| {one.name} | {result} | {one.seconds:.1f} | {one.figures.exit} |"


def _machine() -> str:
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{system}, Python {platform.python_version()}"


def _figure(name: str, values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return f"| {name} | | |"
    return f"| {name} | {statistics.median(known):.2f} s | {max(known):.2f} s |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")[:200]
