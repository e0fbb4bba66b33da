"""Crowds of viewers at one node and at two: how late events come, how long nodes work, how many are served.

Two nodes have two processors. Where the viewers, the database and the machine need the same processors, the
nodes are never what is slow, so `capacity` makes them slow: each gets a small share of a processor, and
everything else has the rest.
"""

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from contestants import Audience, Contestant, cpu_seconds, wait_for_rest
from plot import Point, write_plot
from streaming import Lateness, Sizes
from table import Figure, spread
from throttle import PERIOD, Throttle, reason_not_to

P95_MS = 50.0  # that viewers may wait, when it is asked how many a hub serves
RATE = 20  # pieces a second
PIECES = 60
SLOPE_RATE, SLOPE_PIECES = 50, 300  # more of them: a slope is a small difference
TWO_AT_MOST = 2.0  # times what one does; what is beyond it is noise
SHARE = 20  # percent of a processor that each throttled node has
# Of throttled nodes: so few that one piece is served before the next comes, also where it takes P95_MS.
CALM_RATE, CALM_PIECES = 10, 40
TRIES = 2  # that a crowd has: something else may have had the processor for a moment
FEW = 10  # viewers, who have to get events in half the time
GUESS, STEP, FINE = 400, 1.5, 1.06  # the first crowd, how the next ones grow, and how near is near enough
MOST = 3000  # viewers, if they are served at all
ENOUGH_SECONDS = 150.0  # after so many no further round is begun


class Crowd(NamedTuple):
    """How late pieces came to all viewers, and how long each node worked for them."""

    late: Lateness  # its `p99` holds the 95th here
    worked: list[float]  # seconds of a processor
    pieces: int = PIECES

    def each(self, viewers: int) -> float:
        """Microseconds that the nodes worked for one piece to one viewer."""
        return self.total / viewers

    @property
    def total(self) -> float:
        """Microseconds that the nodes worked for one piece."""
        return sum(self.worked) / self.pieces * 1e6


def worked_seconds(pid: int) -> float:
    """Of all threads, to the nanosecond where the system counts so; else in hundredths of a second."""
    try:
        tasks = [one.read_text().split() for one in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    except OSError:
        return cpu_seconds(pid)
    return sum(int(one[0]) for one in tasks) / 1e9 if tasks else cpu_seconds(pid)


def crowd(
    sides: Sequence[Contestant],
    viewers: int,
    pieces: int = PIECES,
    rate: int = RATE,
    throttles: Sequence[Throttle] = (),
) -> Crowd:
    """Viewers that are spread over these nodes. Throttled nodes let them in at their full speed."""
    session = sides[0].create()
    share = viewers // len(sides)
    seats = [
        Audience(side, session, viewers=share, markers=pieces, stamped=True, seconds=90) for side in sides
    ]
    pids = [side.pid for side in sides]
    wait_for_rest(pids)  # from letting them in
    before = [worked_seconds(pid) for pid in pids]
    with contextlib.ExitStack() as held:
        for one in throttles:
            held.enter_context(one.holding())
        sides[0].send(session, f"paced {pieces} {rate}")
        reports = [seat.report() for seat in seats]
    worked = [worked_seconds(pid) - was for pid, was in zip(pids, before, strict=True)]
    wait_for_rest(pids)
    late = sorted(one for report in reports for one in report["late"])
    if not late or any(report["short"] for report in reports):  # some were dropped, or got too little
        return Crowd(Lateness(float("inf"), float("inf")), worked, pieces)
    return Crowd(Lateness(late[len(late) // 2] / 1e6, late[len(late) * 95 // 100] / 1e6), worked, pieces)


# By work


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


def relief(same: Contestant, other: Contestant, sizes: Sizes) -> Iterator[Figure]:
    """How many viewers two nodes would bear, and one, by what each works for few and for many."""
    alone: dict[int, float] = {}
    busier: dict[int, float] = {}
    for viewers in (20, 100) if sizes.quick else (100, 500):
        turns = [(crowd([same], viewers), crowd([same, other], viewers)) for _ in range(min(sizes.rounds, 3))]
        alone[viewers] = median(one.worked[0] for one, _ in turns) / PIECES
        busier[viewers // 2] = median(max(two.worked) for _, two in turns) / PIECES
        ratio = alone[viewers] / busier[viewers // 2] if busier[viewers // 2] else 0.0
        words = f"{alone[viewers] * 1e3:.2f} ms a piece against {busier[viewers // 2] * 1e3:.2f} ms"
        yield Figure(f"one node's work against the busier of two, {viewers} viewers", ratio, " ×", words)
    one, two = Work.of(alone), Work.of(busier)
    what = f"viewers that two whole processors would bear against one, by work, at {RATE} events a second"
    if one.viewers <= 0 or two.viewers <= 0:
        yield Figure(what, 0.0, " ×", f"{one}; {two}", absent="too little work to tell")
        return
    ratio = 2 * two.viewers / one.viewers
    words = f"{2 * two.viewers:.0f} ({two}) against {one.viewers:.0f} ({one})"
    yield Figure(what, ratio, " ×", words + _noise(ratio))


def _noise(ratio: float) -> str:
    return "; above 2 is noise: two nodes can do no more than twice" if ratio > TWO_AT_MOST else ""


# By what viewers get


class Served(NamedTuple):
    """The largest crowd that got everything in time, and what was seen on the way."""

    viewers: int
    seen: dict[int, float]

    def __str__(self) -> str:
        near = sorted(self.seen.items())
        return ", ".join(f"{viewers}: {p95:.0f} ms" for viewers, p95 in near)


def most_viewers(sides: Sequence[Contestant], throttles: Sequence[Throttle], guess: int) -> Served:
    """Larger or smaller crowds from the guess on, then between the two that are nearest."""
    seen: dict[int, float] = {}

    def in_time(viewers: int) -> bool:
        if viewers not in seen:
            seen[viewers] = float("inf")
            for _ in range(TRIES):
                if seen[viewers] > P95_MS:
                    p95 = crowd(sides, viewers, CALM_PIECES, CALM_RATE, throttles).late.p99
                    seen[viewers] = min(seen[viewers], p95)
        return seen[viewers] <= P95_MS

    held = missed = _even(guess)
    while in_time(missed) and missed < MOST:
        held, missed = missed, _even(missed * STEP)
    while not in_time(held):
        held, missed = _even(held / STEP), held
        if held < 4:
            return Served(0, seen)
    while missed / held > FINE and missed - held > 4:
        between = _even((held * missed) ** 0.5)
        held, missed = (between, missed) if in_time(between) else (held, between)
    return Served(held, seen)


def _even(viewers: float) -> int:
    """A crowd that two nodes can share."""
    return round(viewers / 2) * 2


def capacity(same: Contestant, other: Contestant, sizes: Sizes) -> Iterator[Figure]:
    """Viewers that are served in time by one throttled node and by two."""
    what = f"viewers of two nodes against one with p95 ≤ {P95_MS:.0f} ms"
    if absent := reason_not_to():
        yield Figure(what, 0.0, " ×", "", least=1.7, absent=absent)
        return
    with contextlib.ExitStack() as closing:
        throttles: list[Throttle] = []
        for name, side in (("one", same), ("two", other)):
            throttles.append(Throttle(name, SHARE))
            closing.callback(throttles[-1].close)
            throttles[-1].take(side.pid)
        if busy := _too_busy([same, other], throttles):
            yield Figure(what, 0.0, " ×", "", least=1.7, absent=busy)
            return
        rounds = list(_rounds(same, other, throttles, 1 if sizes.quick else 3))
        times = sum(one.times for one in throttles)
    ratios = [two.viewers / one.viewers if one.viewers else 0.0 for one, two in rounds]
    ratio = median(ratios)
    one, two = rounds[-1]
    seen = (
        f"each node throttled to {SHARE} % of a processor (period {PERIOD // 1000} ms, {times} times), "
        f"{CALM_RATE} events a second: {spread([float(two.viewers) for _, two in rounds], 0)} against "
        f"{spread([float(one.viewers) for one, _ in rounds], 0)} in {len(rounds)} rounds; the last by p95: "
        f"one {one}; two {two}{_noise(ratio)}"
    )
    yield Figure(what, ratio, " ×", seen, least=None if sizes.quick else 1.7)


def _too_busy(sides: list[Contestant], throttles: list[Throttle]) -> str:
    """Why nothing can be said: events are late though hardly anybody views them. Empty when they are not."""
    for used in (1, 2):
        late = min(
            crowd(sides[:used], FEW, CALM_PIECES, CALM_RATE, throttles[:used]).late.p99 for _ in range(TRIES)
        )
        if late > P95_MS / 2:
            return f"the machine is busy: p95 {late:.0f} ms with {FEW} viewers at {used} throttled"
    return ""


def _rounds(
    same: Contestant, other: Contestant, throttles: list[Throttle], most: int
) -> Iterator[tuple[Served, Served]]:
    began, one, two = time.monotonic(), GUESS, 2 * GUESS
    for _ in range(most):
        if time.monotonic() - began > ENOUGH_SECONDS:
            return
        alone = most_viewers([same], throttles[:1], one)
        together = most_viewers([same, other], throttles, two)
        one, two = alone.viewers or GUESS, together.viewers or 2 * GUESS
        yield alone, together


# Growth


def more_viewers(same: Contestant, sizes: Sizes, plots: Path | None) -> Iterator[Figure]:
    """How late events come and what each further viewer costs, up to 500."""
    few, many = ((2, 10), (10, 20)) if sizes.quick else ((10, 50), (350, 500))
    pieces = PIECES if sizes.quick else SLOPE_PIECES
    seen: dict[int, list[Crowd]] = {}
    for turn in range(1 if sizes.quick else 3):
        between = () if sizes.quick or turn else (1, 100, 200)
        for viewers in sorted({*few, *many, *between}):
            seen.setdefault(viewers, []).append(crowd([same], viewers, pieces, SLOPE_RATE))
    for viewers, turns in sorted(seen.items()):
        p50, p95 = median(one.late.p50 for one in turns), median(one.late.p99 for one in turns)
        words = f"p95 {p95:.1f} ms, {_total(turns):.0f} µs of the node for a piece to all"
        yield Figure(f"{viewers} viewers, p50", p50, " ms", words)
    low, high = _slopes(seen, *few), _slopes(seen, *many)
    ratio = median(high) / median(low) if median(low) > 0 else 0.0
    words = (
        f"{spread(high, 1)} µs for each viewer from {many[0]} to {many[1]}, {spread(low, 1)} µs from "
        f"{few[0]} to {few[1]}; {SLOPE_RATE} events a second"
    )
    what = f"work for one more viewer at {many[1]} viewers against {few[0]}"
    yield Figure(what, ratio, " ×", words, most=None if sizes.quick else 1.2)
    if plots is not None:
        _draw(plots, seen)


def _slopes(seen: dict[int, list[Crowd]], few: int, many: int) -> list[float]:
    """Microseconds for each viewer that came between the two, turn by turn."""
    pairs = zip(seen[few], seen[many], strict=True)
    return [(much.total - little.total) / (many - few) for little, much in pairs]


def _total(turns: list[Crowd]) -> float:
    return median(one.total for one in turns)


def _draw(plots: Path, seen: dict[int, list[Crowd]]) -> None:
    across, ordered = "viewers of one node", sorted(seen.items())
    p50: list[Point] = [(viewers, median(one.late.p50 for one in turns)) for viewers, turns in ordered]
    p95: list[Point] = [(viewers, median(one.late.p99 for one in turns)) for viewers, turns in ordered]
    delay = plots / "nodes-viewers-latency.svg"
    write_plot(delay, "Delay of an event", across, "ms", {"p50": p50, "p95": p95})
    each: list[Point] = [(viewers, _total(turns) / viewers) for viewers, turns in ordered if viewers > 1]
    work = plots / "nodes-viewers-work.svg"
    write_plot(work, "Work of a node for an event to a viewer", across, "µs", {"one node": each})
    total: list[Point] = [(viewers, _total(turns) / 1000) for viewers, turns in ordered]
    path = plots / "nodes-viewers-total.svg"
    write_plot(path, "Work of a node for an event to all viewers", across, "ms", {"one node": total})
