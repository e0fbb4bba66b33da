"""What a piece of output costs, and whether that grows: `python bench/growth.py [--base PYTHON] [--quick]`.

Bytes written to disk for each piece of 200 characters, with nothing in the queue and with a prompt of 1 MB
waiting there; and CPU time for each event with 1, 10 and 100 sessions that speak 1,000 times a second in all.
`--base` is the Python of another checkout: both are measured in turns, in one run.
"""

import argparse
import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from contestants import Bare, Bascule, cpu_seconds
from streaming import Sizes
from table import Figure, spread

RATE = 100  # pieces a second of one session, slow enough for each to be an event
WAITING = 1_000_000
SETTLE_SECONDS = 5.0  # by then the prompt that waits has been copied into the database itself


class Cost(NamedTuple):
    """Of one event."""

    written: float  # bytes
    cpu: float  # microseconds


class Sample(NamedTuple):
    events: int
    written: int
    cpu: float

    @classmethod
    def of(cls, server: Bascule, sessions: list[str]) -> "Sample":
        pids = [server.pid, server.keeper_pid() or server.pid]
        events = sum(server.session(one)["seq"] for one in sessions)
        return cls(events, _written(server.pid), sum(cpu_seconds(pid) for pid in pids))

    def until(self, later: "Sample") -> Cost:
        events = max(1, later.events - self.events)
        return Cost((later.written - self.written) / events, (later.cpu - self.cpu) / events * 1e6)


def _written(pid: int) -> int:
    for line in Path(f"/proc/{pid}/io").read_text().splitlines():
        if line.startswith("write_bytes:"):
            return int(line.split()[1])
    raise RuntimeError("the kernel does not count what a process writes")


def cost(python: str, seconds: float, *, sessions: int = 1, rate: float = RATE, waiting: int = 0) -> Cost:
    """Of an event, while these sessions speak at this rate each."""
    with Bascule(python=python) as server:
        names = [server.create() for _ in range(sessions)]
        count = int(rate * (seconds + 2 * SETTLE_SECONDS)) + 1
        for name in names:
            server.send(name, f"paced {count} {rate} 200")
            if waiting:
                server.send(name, "x" * waiting)
        time.sleep(SETTLE_SECONDS)
        before = Sample.of(server, names)
        time.sleep(seconds)
        return before.until(Sample.of(server, names))


def bare_cpu(seconds: float, sessions: int, rate: float) -> float:
    """Microseconds of the bare relay for each event, at the same pace."""

    def events(folder: Path) -> int:
        with sqlite3.connect(folder / "bare.db") as database:
            return database.execute("SELECT count(*) FROM events").fetchone()[0]

    with Bare() as server:
        for name in [server.create() for _ in range(sessions)]:
            server.send(name, f"paced {int(rate * (seconds + 2 * SETTLE_SECONDS)) + 1} {rate} 200")
        time.sleep(SETTLE_SECONDS)
        before, worked = events(server.folder), cpu_seconds(server.pid)
        time.sleep(seconds)
        spent = cpu_seconds(server.pid) - worked
        return spent / max(1, events(server.folder) - before) * 1e6


def growth(sizes: Sizes) -> Iterator[Figure]:
    """What a piece writes, and what an event costs while many sessions speak."""
    rounds, seconds = (1, 2.0) if sizes.quick else (sizes.rounds, 8.0)
    few, many = (2, 10) if sizes.quick else (10, 100)
    alone, waiting, by_few, by_many, bare = [list[float]() for _ in range(5)]
    for _ in range(rounds):
        alone.append(cost(sys.executable, seconds).written / 1000)
        waiting.append(cost(sys.executable, seconds, waiting=WAITING).written / 1000)
        by_few.append(cost(sys.executable, seconds, sessions=few, rate=1000 / few).cpu)
        by_many.append(cost(sys.executable, seconds, sessions=many, rate=1000 / many).cpu)
        bare.append(bare_cpu(seconds, many, 1000 / many))
    pace = "one session, 100 pieces of 200 characters a second"
    yield Figure("written a piece", median(alone), " KB", f"{spread(alone, 1)} KB; {pace}", most=10)
    name, seen = "written a piece, 1 MB in the queue", f"{spread(waiting, 1)} KB; the same"
    yield Figure(name, median(waiting), " KB", seen, most=10)
    against = median(mine / yours for mine, yours in zip(by_many, bare, strict=True))
    seen = f"{spread(by_many, 0)} µs against {spread(bare, 0)} µs, 1,000 events a second in all"
    yield Figure(f"CPU an event at {many} sessions, of the bare relay's", against, " ×", seen, most=3)
    flat = median(late / early for late, early in zip(by_many, by_few, strict=True))
    seen = f"{spread(by_many, 0)} µs against {spread(by_few, 0)} µs"
    yield Figure(f"the same, of its own at {few} sessions", flat, " ×", seen, most=1.1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", metavar="PYTHON", help="of the checkout to compare with")
    parser.add_argument("--only", action="append", metavar="WHAT", help="nothing, 1 MB, 1, 10 or 100")
    parser.add_argument("--quick", action="store_true", help="one short round: does everything work?")
    options = parser.parse_args()
    rounds, seconds = (1, 2.0) if options.quick else (3, 8.0)
    pythons = {"this": sys.executable} | ({"base": options.base} if options.base else {})
    print(f"load {os.getloadavg()[0]:.1f} at the start")
    for what, how in {
        "nothing waiting": {},
        "1 MB waiting": {"waiting": WAITING},
        **{f"{n} sessions": {"sessions": n, "rate": 1000 / n} for n in (1, 10, 100)},
    }.items():
        if options.only and not any(what.startswith(f"{one} ") for one in options.only):
            continue
        seen: dict[str, list[Cost]] = {name: [] for name in pythons}
        for _ in range(rounds):
            for name, python in pythons.items():
                seen[name].append(cost(python, seconds, **how))  # pyright: ignore[reportArgumentType]
        for name, costs in seen.items():
            written, cpu = median(one.written for one in costs), median(one.cpu for one in costs)
            print(f"{what:16} {name:5} {written / 1000:9.1f} KB  {cpu:6.0f} µs CPU an event", flush=True)


if __name__ == "__main__":
    main()
