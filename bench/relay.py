"""Bascule against a bare relay, in one run: `python bench/relay.py [--quick] [--only NAME]`.

`--base PYTHON` puts another version of Bascule in the place of the bare relay: the one that this interpreter
has installed. Only throughput, latency and fan-out are measured then.

Machines are noisy, so nothing here is an absolute figure: both sides take turns, five times over, and what
counts is the median of the ratios (or of the differences) within a round.
"""

import argparse
import os
import platform
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

from contestants import Bare, Bascule
from opening import cold_start, long_session
from streaming import Sizes, fan_out, latency, throughput
from table import HEAD, Figure, row
from weight import idle_sessions, stalled

AGAINST_BARE = {"throughput": throughput, "latency": latency, "fan-out": fan_out}
ALONE = {"sessions": idle_sessions, "stalled": stalled, "start": cold_start, "page": long_session}


def figures(chosen: list[str], sizes: Sizes, base: str) -> Iterator[Figure]:
    for name, measure in AGAINST_BARE.items():
        if name in chosen:
            with Bascule(python=base, name="before") if base else Bare() as other, Bascule() as bascule:
                yield from _said(name, lambda: measure(other, bascule, sizes))  # noqa: B023 - used at once
    for name, alone in ALONE.items():
        if name in chosen:
            yield from _said(name, lambda: alone(sizes))  # noqa: B023 - used at once


def _said(name: str, measure: Callable[[], Iterator[Figure]]) -> Iterator[Figure]:
    print(f"measuring {name} ...", file=sys.stderr, flush=True)
    yield from measure()


def machine() -> str:
    system, python = f"{platform.system()} {platform.release()}", platform.python_version()
    return (
        f"{date.today()}, commit {_commit()}, {os.cpu_count()} cores of {_processor()}, {system}, "
        f"Python {python}, SQLite {sqlite3.sqlite_version}, load {os.getloadavg()[0]:.1f} at the start"
    )


def _commit() -> str:
    """As git names it; with `-dirty` when a file was changed since."""
    here = Path(__file__).parent
    asked = subprocess.run(
        ["git", "-C", str(here), "describe", "--always", "--dirty"], capture_output=True, text=True
    )
    return asked.stdout.strip() or "unknown"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def main() -> None:
    names = [*AGAINST_BARE, *ALONE]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one small round: does everything work?")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--base", metavar="PYTHON", default="", help="compare with the Bascule of this one")
    options = parser.parse_args()
    began = time.monotonic()
    print(f"{machine()}\n\n{HEAD}", flush=True)
    chosen = options.only or (list(AGAINST_BARE) if options.base else names)
    for figure in figures(chosen, Sizes(quick=options.quick), options.base):
        print(row(figure), flush=True)
    print(f"\n{time.monotonic() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
