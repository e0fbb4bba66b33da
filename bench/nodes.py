"""A hub on PostgreSQL against one on SQLite, and several nodes against one: ratios within one run.

A machine with the emitter joins a hub; viewers sit at a hub and count markers, as in relay.py. PostgreSQL is
started from the machine's packages, with fsync, or named by BASCULE_TEST_POSTGRES.

    make bench BENCH=nodes                             # all, about a quarter of an hour
    make bench BENCH=nodes ARGS="--plots docs/plots"   # and draws how it grows
    make bench BENCH=nodes ARGS=--quick                # one small round: does everything work?

Each node is one process, and its processor limits how many viewers it has. So that this is what is measured,
and not what the viewers, the database and the machine need, `capacity` gives each node a fifth of a processor
by a control group: as root, on Linux. What two nodes would bear by how much each works is shown (`relief`).

    make bench BENCH=nodes ARGS="--only capacity"      # viewers of two nodes against one, about five minutes
"""

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from contestants import Audience, Bascule, wait_for_rest
from crowds import capacity, crowd, more_viewers, relief
from plot import Point, write_plot
from relay import machine
from streaming import Pair, Sizes
from table import HEAD, Figure, row, spread
from tests.store import postgres_server

DEVICE = "d-bench"


class Hub(Bascule):
    """`bascule hub`, and a machine that has joined it."""

    def __init__(self, name: str, store: str = "") -> None:
        super().__init__(name=name)
        self.command, self.environment = "hub", {"BASCULE_STORE": store}
        self.joined: Bascule | None = None
        self.device = ""

    def join(self, number: int) -> None:
        """A machine of its own."""
        joined = Bascule(name=f"machine {number}")
        joined.data.mkdir(mode=0o700)
        self.device = f"{DEVICE}-{number}"
        (joined.data / "device").write_text(f"{self.device}\n")
        joined.start()
        grant = self.talk(
            "POST", "/api/grants", {"name": self.device, "role": "daemon", "device": self.device}
        )
        body = {"url": f"http://127.0.0.1:{self.port}", "token": grant["token"]}
        joined.talk("POST", "/api/uplink", body)
        self.joined = joined
        self.until_online(self.device)

    def until_online(self, device: str) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            known = self.talk("GET", "/api/daemon/status")["devices"]
            if any(one["device"] == device and one["online"] for one in known):
                return
            time.sleep(0.05)
        raise RuntimeError(f"{device} did not come to {self.name}")

    def create(self) -> str:
        assert self.joined is not None
        body = {"agent": "emitter", "cwd": str(self.joined.work), "device": self.device}
        return self.talk("POST", "/api/sessions", body)["id"]

    def remove(self) -> None:
        if self.joined is not None:
            self.joined.remove()
        super().remove()


class Seen:
    """The machine of one node, seen at another: sessions are begun and watched there."""

    def __init__(self, name: str, node: Hub, home: Hub) -> None:
        self.name, self._node, self._home = name, node, home
        self.port = node.port

    @property
    def pid(self) -> int:
        return self._node.pid

    def create(self) -> str:
        assert self._home.joined is not None
        body = {"agent": "emitter", "cwd": str(self._home.joined.work), "device": self._home.device}
        return self._node.talk("POST", "/api/sessions", body)["id"]

    def send(self, session: str, text: str) -> None:
        self._node.send(session, text)

    def order(self, session: str) -> dict[str, Any]:
        return self._node.order(session)

    def ask_ms(self, times: int) -> float:
        """Milliseconds of a question that the machine answers."""
        assert self._home.joined is not None
        question = f"/api/directories?path={self._home.joined.work}&device={self._home.device}"
        took: list[float] = []
        for _ in range(times):
            began = time.perf_counter()
            self._node.talk("GET", question)
            took.append((time.perf_counter() - began) * 1000)
        return median(took)


def engines(sqlite: Hub, postgres: Hub, sizes: Sizes) -> Iterator[Figure]:
    pair = Pair(sqlite, postgres)
    rates: dict[str, list[float]] = {sqlite.name: [], postgres.name: []}
    for _ in range(sizes.rounds):
        for name, report in pair.turn(f"deltas {sizes.deltas}", sizes.deltas).items():
            rates[name].append(sizes.deltas / report["seconds"] if report["seconds"] else 0.0)
    ratios = [
        ours / theirs for ours, theirs in zip(rates["postgres"], rates["sqlite"], strict=True) if theirs
    ]
    seen = f"{spread(rates['postgres'], 0)} rows/s against {spread(rates['sqlite'], 0)}"
    faults = "; ".join(pair.faults)
    yield Figure("PostgreSQL against SQLite, rows/s", median(ratios), " ×", seen, least=0.7, fault=faults)
    yield _added("PostgreSQL against SQLite, added p50", pair, sizes, "postgres", "sqlite", 2.0)


def alone(sqlite: Hub, sizes: Sizes) -> Iterator[Figure]:
    """How far one hub on SQLite goes: what a full processor of it would deliver."""
    side = Seen("sqlite", sqlite, sqlite)
    for viewers in (20,) if sizes.rounds == 1 else (100, 500):
        seen = crowd([side], viewers)
        each = seen.each(viewers)
        words = (
            f"{each:.0f} µs for a piece to a viewer; p50 {seen.late.p50:.1f} ms, p95 {seen.late.p99:.1f} ms"
        )
        what = f"one hub on SQLite with {viewers} viewers, events a second that a processor delivers"
        yield Figure(what, 1e6 / each if each else 0.0, "", words)


def other_node(same: Seen, other: Seen, sizes: Sizes) -> Iterator[Figure]:
    pair = Pair(same, other)
    yield _added("other node against same node, added p50", pair, sizes, other.name, same.name, 3.0)
    times = 20 if sizes.rounds == 1 else 200
    there, here = other.ask_ms(times), same.ask_ms(times)
    seen = f"{there:.2f} ms against {here:.2f} ms"
    yield Figure("command by the other node, added", there - here, " ms", seen, most=1.0)


def _added(what: str, pair: Pair, sizes: Sizes, ours: str, theirs: str, most: float) -> Figure:
    rounds = pair.lateness(sizes.rounds, sizes.paced, 100, viewers=1)
    mine, yours = [one[ours].p50 for one in rounds], [one[theirs].p50 for one in rounds]
    added = [one - other for one, other in zip(mine, yours, strict=True)]
    seen = f"{spread(mine)} ms against {spread(yours)} ms"
    return Figure(what, median(added), " ms", seen, most=most, fault="; ".join(pair.faults))


def more_rows(same: Seen, home: Hub, sizes: Sizes, plots: Path | None) -> Iterator[Figure]:
    quick = sizes.rounds == 1
    session, rows, part = home.create(), 0, 2_000 if quick else 100_000
    p50: list[Point] = []
    for goal in (0, 4_000) if quick else (0, 100_000, 250_000, 500_000, 1_000_000):
        while rows < goal:
            audience = Audience(home, session, viewers=1, markers=part, seconds=600)
            home.send(session, f"deltas {part}")
            audience.report()
            rows += part
        wait_for_rest([home.pid])
        p50.append((rows, median(crowd([same], 1).late.p50 for _ in range(1 if quick else 3))))
        yield Figure(f"{rows:,} rows stored, p50 of another session", p50[-1][1], " ms", "one viewer")
    ratio = p50[-1][1] / p50[0][1] if p50[0][1] else 0.0
    words = f"{p50[-1][1]:.2f} ms against {p50[0][1]:.2f} ms"
    yield Figure(f"p50 with {rows:,} rows stored against none", ratio, " ×", words, most=1.2)
    if plots is not None:
        title, across = "Delay of another session's event", "rows stored"
        write_plot(plots / "nodes-rows-latency.svg", title, across, "ms", {"p50": p50})


def figures(url: str, sizes: Sizes, chosen: list[str], plots: Path | None) -> Iterator[Figure]:
    with contextlib.ExitStack() as closing:
        postgres = closing.enter_context(Hub("postgres", url))
        postgres.join(1)
        if {"engines", "alone"} & set(chosen):
            with Hub("sqlite") as sqlite:
                sqlite.join(2)
                if "engines" in chosen:
                    yield from engines(sqlite, postgres, sizes)
                if "alone" in chosen:
                    yield from alone(sqlite, sizes)
        other = closing.enter_context(Hub("second node", url))
        other.until_online(postgres.device)
        same, there = Seen("same node", postgres, postgres), Seen("other node", other, postgres)
        if "other" in chosen:
            yield from other_node(same, there, sizes)
        if "relief" in chosen:
            yield from relief(same, there, sizes)
        if "capacity" in chosen:
            yield from capacity(same, there, sizes)
        if "viewers" in chosen:
            yield from more_viewers(same, sizes, plots)
        if "rows" in chosen:
            yield from more_rows(same, postgres, sizes, plots)


def main() -> None:
    names = ["engines", "alone", "other", "relief", "capacity", "viewers", "rows"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one small round: does everything work?")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw how it grows, keep the table")
    options = parser.parse_args()
    if (reason := postgres_server.reason_to_skip()) is not None:
        sys.exit(reason)
    postgres_server.QUICK = "-c shared_buffers=128MB -c max_connections=60"  # with fsync
    began = time.monotonic()
    table = [f"{machine()}\n\n{HEAD}"]
    print(table[0], flush=True)
    with postgres_server.running_server() as server:
        url, sizes = server.new_database(), Sizes(quick=options.quick)
        for figure in figures(url, sizes, options.only or names, options.plots):
            table.append(row(figure))
            print(table[-1], flush=True)
    if options.plots is not None:
        (options.plots / "nodes.md").write_text("\n".join(table) + "\n")
    print(f"\n{time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f} at the end", file=sys.stderr)


if __name__ == "__main__":
    main()
