"""A hub on PostgreSQL against one on SQLite, and several nodes against one: ratios within one run.

A machine with the emitter joins a hub; viewers sit at a hub and count markers, as in relay.py. PostgreSQL is
started from the machine's packages, with fsync, or named by BASCULE_TEST_POSTGRES.

    make bench BENCH=nodes                 # all, some minutes
    make bench BENCH=nodes ARGS=--quick    # one small round: does everything work?
"""

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from contestants import Audience, Bascule, wait_for_rest
from relay import machine
from streaming import Lateness, Pair, Sizes
from table import HEAD, Figure, row, spread
from tests.store import postgres_server

DEVICE = "d-bench"
P95_MS = 50.0  # that viewers may wait, when it is asked how many a hub serves
RATE = 10  # pieces a second for crowds
PIECES = 30


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


def crowd(sides: list[Seen], viewers: int) -> Lateness:
    """How late pieces come to viewers that are spread over these nodes; `p99` holds the 95th here."""
    session = sides[0].create()
    share = viewers // len(sides)
    seats = [
        Audience(side, session, viewers=share, markers=PIECES, stamped=True, seconds=90) for side in sides
    ]
    sides[0].send(session, f"paced {PIECES} {RATE}")
    late = sorted(one for seat in seats for one in seat.report()["late"])
    wait_for_rest([side.pid for side in sides])
    if not late:
        return Lateness(float("inf"), float("inf"))
    return Lateness(late[len(late) // 2] / 1e6, late[len(late) * 95 // 100] / 1e6)


def most_viewers(sides: list[Seen], sizes: list[int]) -> tuple[int, str]:
    """The largest crowd that still gets everything in time, and what was seen on the way."""
    held, words = 0, []
    for viewers in sizes:
        p95 = crowd(sides, viewers).p99
        words.append(f"{viewers}: {p95:.0f} ms")
        if p95 > P95_MS:
            break
        held = viewers
    return held, ", ".join(words)


def capacity(same: Seen, other: Seen, sizes: Sizes) -> Iterator[Figure]:
    steps = [20, 40] if sizes.rounds == 1 else [100, 200, 300, 400, 600, 800, 1200, 1600]
    one, alone = most_viewers([same], steps)
    two, together = most_viewers([same, other], steps)
    ratio = two / one if one else 0.0
    seen = f"p95 within {P95_MS:.0f} ms: one node {alone}; two nodes {together}"
    yield Figure("viewers of two nodes against one", ratio, " ×", seen, least=1.7)


def growth(same: Seen, home: Hub, sizes: Sizes) -> Iterator[Figure]:
    quick = sizes.rounds == 1
    for viewers in (1, 20) if quick else (1, 10, 100, 500):
        seen = crowd([same], viewers)
        yield Figure(f"{viewers} viewers, p50", seen.p50, " ms", f"p95 {seen.p99:.1f} ms")
    session, rows, part = home.create(), 0, 2_000 if quick else 100_000
    for goal in (0, 4_000) if quick else (0, 100_000, 500_000, 1_000_000):
        while rows < goal:
            audience = Audience(home, session, viewers=1, markers=part, seconds=600)
            home.send(session, f"deltas {part}")
            audience.report()
            rows += part
        wait_for_rest([home.pid])
        yield Figure(
            f"{goal:,} rows stored, p50 of another session", crowd([same], 1).p50, " ms", "one viewer"
        )


def figures(url: str, sizes: Sizes, chosen: list[str]) -> Iterator[Figure]:
    with contextlib.ExitStack() as closing:
        postgres = closing.enter_context(Hub("postgres", url))
        postgres.join(1)
        if "engines" in chosen:
            with Hub("sqlite") as sqlite:
                sqlite.join(2)
                yield from engines(sqlite, postgres, sizes)
        other = closing.enter_context(Hub("second node", url))
        other.until_online(postgres.device)
        same, there = Seen("same node", postgres, postgres), Seen("other node", other, postgres)
        if "other" in chosen:
            yield from other_node(same, there, sizes)
        if "capacity" in chosen:
            yield from capacity(same, there, sizes)
        if "growth" in chosen:
            yield from growth(same, postgres, sizes)


def main() -> None:
    names = ["engines", "other", "capacity", "growth"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one small round: does everything work?")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=", ".join(names))
    options = parser.parse_args()
    if (reason := postgres_server.reason_to_skip()) is not None:
        sys.exit(reason)
    postgres_server.QUICK = "-c shared_buffers=128MB -c max_connections=60"  # with fsync
    began = time.monotonic()
    print(f"{machine()}\n\n{HEAD}", flush=True)
    with postgres_server.running_server() as server:
        for figure in figures(server.new_database(), Sizes(quick=options.quick), options.only or names):
            print(row(figure), flush=True)
    print(f"\n{time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f} at the end", file=sys.stderr)


if __name__ == "__main__":
    main()
