"""A hub on PostgreSQL against one on SQLite, and several nodes against one: ratios within one run.

A machine with the emitter joins a hub; viewers sit at a hub and count markers, as in relay.py. PostgreSQL is
started from the machine's packages, with fsync, or named by BASCULE_TEST_POSTGRES.

    make bench BENCH=nodes                             # all, about a quarter of an hour
    make bench BENCH=nodes ARGS="--plots docs/plots"   # and draws how it grows
    make bench BENCH=nodes ARGS=--quick                # one small round: does everything work?

Each node is one process, and its processor limits how many viewers it has. So what two nodes bear is told by
how much the busier one works for the same viewers; how late events come tells it only where every node, the
database, the machine and the viewers have a processor of their own.
"""

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from contestants import Audience, Bascule, cpu_seconds, wait_for_rest
from plot import Point, write_plot
from relay import machine
from streaming import Lateness, Pair, Sizes
from table import HEAD, Figure, row, spread
from tests.store import postgres_server

DEVICE = "d-bench"
P95_MS = 50.0  # that viewers may wait, when it is asked how many a hub serves
RATE = 20  # pieces a second for crowds
PIECES = 60
MOST_OF_TWO = 2.2  # times what one does; the rest is what measuring is off by
PROCESSORS = 6  # two nodes, the database, the machine, its agent and the viewers


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


class Crowd(NamedTuple):
    """How late pieces came to all viewers, and how long each node worked for them."""

    late: Lateness  # its `p99` holds the 95th here
    worked: list[float]  # seconds of a processor

    def each(self, viewers: int) -> float:
        """Microseconds that the nodes worked for one piece to one viewer."""
        return sum(self.worked) / (viewers * PIECES) * 1e6


def crowd(sides: list[Seen], viewers: int) -> Crowd:
    """Viewers that are spread over these nodes."""
    session = sides[0].create()
    share = viewers // len(sides)
    seats = [
        Audience(side, session, viewers=share, markers=PIECES, stamped=True, seconds=90) for side in sides
    ]
    wait_for_rest([side.pid for side in sides])  # from letting them in
    before = [cpu_seconds(side.pid) for side in sides]
    sides[0].send(session, f"paced {PIECES} {RATE}")
    late = sorted(one for seat in seats for one in seat.report()["late"])
    worked = [cpu_seconds(side.pid) - was for side, was in zip(sides, before, strict=True)]
    wait_for_rest([side.pid for side in sides])
    if not late:
        return Crowd(Lateness(float("inf"), float("inf")), worked)
    return Crowd(Lateness(late[len(late) // 2] / 1e6, late[len(late) * 95 // 100] / 1e6), worked)


class Work(NamedTuple):
    """Seconds of a processor that a node needs for a piece itself, and for each viewer of it."""

    itself: float
    viewer: float

    @classmethod
    def of(cls, seen: dict[int, float]) -> "Work":
        """From what it worked for few and for many viewers."""
        (few, little), (many, much) = sorted(seen.items())
        viewer = (much - little) / (many - few)
        return cls(little - few * viewer, viewer)

    @property
    def viewers(self) -> float:
        """How many it bears with a whole processor."""
        return (1 / RATE - self.itself) / self.viewer if self.viewer > 0 else 0.0

    def __str__(self) -> str:
        return f"{self.itself * 1e6:.0f} µs for a piece, {self.viewer * 1e6:.1f} µs for each viewer of it"


def relief(same: Seen, other: Seen, sizes: Sizes) -> Iterator[Figure]:
    """How many viewers two nodes bear, and one, by what each works for few and for many."""
    alone: dict[int, float] = {}
    busier: dict[int, float] = {}
    for viewers in (20, 100) if sizes.rounds == 1 else (100, 500):
        turns = [(crowd([same], viewers), crowd([same, other], viewers)) for _ in range(min(sizes.rounds, 3))]
        alone[viewers] = median(one.worked[0] for one, _ in turns) / PIECES
        busier[viewers // 2] = median(max(two.worked) for _, two in turns) / PIECES
        ratio = alone[viewers] / busier[viewers // 2] if busier[viewers // 2] else 0.0
        words = f"{alone[viewers] * 1e3:.2f} ms a piece against {busier[viewers // 2] * 1e3:.2f} ms"
        yield Figure(f"one node's work against the busier of two, {viewers} viewers", ratio, " ×", words)
    one, two = Work.of(alone), Work.of(busier)
    what = f"viewers that two nodes bear against one, at {RATE} events a second"
    if one.viewers <= 0 or two.viewers <= 0:
        yield Figure(what, 0.0, " ×", f"{one}; {two}", least=1.7, absent="too little work to tell")
        return
    words = f"{2 * two.viewers:.0f} ({two}) against {one.viewers:.0f} ({one})"
    ratio = 2 * two.viewers / one.viewers
    fault = "more than two can do: the machine was busy with something else" if ratio > MOST_OF_TWO else ""
    least = None if sizes.rounds == 1 else 1.7
    yield Figure(what, ratio, " ×", words, least=least, fault="" if sizes.rounds == 1 else fault)


def most_viewers(sides: list[Seen], sizes: list[int]) -> tuple[int, str]:
    """The largest crowd that still gets everything in time, and what was seen on the way."""
    held, words = 0, []
    for viewers in sizes:
        p95 = crowd(sides, viewers).late.p99
        words.append(f"{viewers}: {p95:.0f} ms")
        if p95 > P95_MS:
            break
        held = viewers
    return held, ", ".join(words)


def capacity(same: Seen, other: Seen, sizes: Sizes) -> Iterator[Figure]:
    what = "viewers of two nodes against one"
    there = os.cpu_count() or 1
    if there < PROCESSORS:
        absent = f"{there} processors, and it takes {PROCESSORS} that nothing else uses"
        yield Figure(what, 0.0, " ×", "", least=1.7, absent=absent)
        return
    steps = [20, 40] if sizes.rounds == 1 else [100, 200, 300, 400, 600, 800, 1200, 1600]
    one, alone = most_viewers([same], steps)
    two, together = most_viewers([same, other], steps)
    ratio = two / one if one else 0.0
    seen = f"p95 within {P95_MS:.0f} ms: one node {alone}; two nodes {together}"
    yield Figure(what, ratio, " ×", seen, least=1.7)


def more_viewers(same: Seen, sizes: Sizes, plots: Path | None) -> Iterator[Figure]:
    quick = sizes.rounds == 1
    seen: dict[int, Crowd] = {}
    for viewers in (1, 20) if quick else (1, 10, 50, 100, 200, 350, 500):
        seen[viewers] = crowd([same], viewers)
        late, each = seen[viewers].late, seen[viewers].each(viewers)
        words = f"p95 {late.p99:.1f} ms, {each:.0f} µs of the node for a piece to a viewer"
        yield Figure(f"{viewers} viewers, p50", late.p50, " ms", words)
    few, many = (1, 20) if quick else (10, 500)
    ratio = seen[many].each(many) / seen[few].each(few) if seen[few].each(few) else 0.0
    words = f"{seen[many].each(many):.0f} µs against {seen[few].each(few):.0f} µs"
    yield Figure(f"work for a viewer at {many} viewers against {few}", ratio, " ×", words, most=1.2)
    if plots is not None:
        p50: list[Point] = [(viewers, one.late.p50) for viewers, one in seen.items()]
        p95: list[Point] = [(viewers, one.late.p99) for viewers, one in seen.items()]
        path = plots / "nodes-viewers-latency.svg"
        write_plot(path, "Delay of an event", "viewers of one node", "ms", {"p50": p50, "p95": p95})
        work = {"one node": [(viewers, one.each(viewers)) for viewers, one in seen.items() if viewers > 1]}
        path = plots / "nodes-viewers-work.svg"
        write_plot(path, "Work of a node for an event to a viewer", "viewers of one node", "µs", work)


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
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw how it grows, as SVG")
    options = parser.parse_args()
    if (reason := postgres_server.reason_to_skip()) is not None:
        sys.exit(reason)
    postgres_server.QUICK = "-c shared_buffers=128MB -c max_connections=60"  # with fsync
    began = time.monotonic()
    print(f"{machine()}\n\n{HEAD}", flush=True)
    with postgres_server.running_server() as server:
        url, sizes = server.new_database(), Sizes(quick=options.quick)
        for figure in figures(url, sizes, options.only or names, options.plots):
            print(row(figure), flush=True)
    print(f"\n{time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f} at the end", file=sys.stderr)


if __name__ == "__main__":
    main()
