"""Measures of a stream from agent to viewer: lines per second, added latency, fan-out."""

from collections.abc import Iterator
from statistics import median
from typing import Any, NamedTuple

from contestants import Audience, Contestant, wait_for_rest
from table import Figure, spread

TURNS = 5  # in which a round of paced pieces is cut


class Sizes:
    """How much is sent. The quick run only shows that everything works."""

    def __init__(self, *, quick: bool) -> None:
        self.quick = quick
        self.rounds = 1 if quick else 5
        self.deltas = 4_000 if quick else 40_000
        self.tools = 1_000 if quick else 8_000
        self.messages = 2_000 if quick else 16_000
        self.paced = 200 if quick else 1_000
        self.spaced = 100 if quick else 500
        # Viewers, pieces, pieces per second: what one core can hand out without a queue of its own.
        self.crowds = [(20, 40, 40), (200, 20, 10)] if quick else [(20, 300, 50), (200, 60, 10)]
        self.sessions = 20 if quick else 100
        self.flood = 10_000 if quick else 200_000
        self.long_log = 5_000 if quick else 100_000


class Lateness(NamedTuple):
    """Milliseconds from the agent's write to the viewer's read."""

    p50: float
    p99: float

    @classmethod
    def of(cls, nanoseconds: list[int]) -> "Lateness":
        late = sorted(nanoseconds)
        return cls(late[len(late) // 2] / 1e6, late[len(late) * 99 // 100] / 1e6)


class Pair:
    """One session in each contestant; every turn is taken by both, the order changing each time."""

    def __init__(self, other: Contestant, bascule: Contestant) -> None:
        self._sides: list[tuple[Contestant, str]] = [(one, one.create()) for one in (other, bascule)]
        self._turns = 0
        self.faults: list[str] = []
        for contestant, session in self._sides:
            _run(contestant, session, "deltas 100", 100)

    def turn(self, prompt: str, markers: int, **how: Any) -> dict[str, dict[str, Any]]:
        """What the viewers of both report, by the contestant's name."""
        self._turns += 1
        order = self._sides if self._turns % 2 else self._sides[::-1]
        reports: dict[str, dict[str, Any]] = {}
        for one, session in order:
            wait_for_rest([side.pid for side, _ in self._sides])
            reports[one.name] = _run(one, session, prompt, markers, **how)
        for name, report in reports.items():
            self._check(name, report)
        return reports

    def lateness(self, rounds: int, count: int, rate: int, viewers: int) -> list[dict[str, Lateness]]:
        """Each round is cut into short turns: a machine that is busy for a while is busy for both."""
        found: list[dict[str, Lateness]] = []
        for _ in range(rounds):
            late: dict[str, list[int]] = {one.name: [] for one, _ in self._sides}
            for _ in range(TURNS):
                part = count // TURNS
                for name, report in self.turn(f"paced {part} {rate}", part, viewers=viewers).items():
                    late[name] += report["late"]
            found.append({name: Lateness.of(values) for name, values in late.items()})
        return found

    def _check(self, name: str, report: dict[str, Any]) -> None:
        if report["short"] or report["over"] or report["closed"]:
            self.faults.append(
                f"{name}: {report['short']} viewers got too little, {report['over']} too much "
                f"{' '.join(report['closed'])}".strip()
            )


def _run(of: Contestant, session: str, prompt: str, markers: int, *, viewers: int = 1) -> dict[str, Any]:
    stamped = prompt.startswith("paced")
    audience = Audience(of, session, viewers=viewers, markers=markers, stamped=stamped, seconds=90)
    of.send(session, prompt)
    return audience.report()


def throughput(other: Contestant, bascule: Contestant, sizes: Sizes) -> Iterator[Figure]:
    cases = [
        ("text pieces", f"deltas {sizes.deltas}", sizes.deltas, sizes.deltas, 1.0),
        ("tool calls", f"tools {sizes.tools}", sizes.tools, 2 * sizes.tools, 0.75),
        ("whole messages", f"messages {sizes.messages}", sizes.messages, sizes.messages, 0.6),
    ]
    for what, prompt, markers, lines, least in cases:
        pair = Pair(other, bascule)
        rates: dict[str, list[float]] = {other.name: [], "bascule": []}
        for _ in range(sizes.rounds):
            for name, report in pair.turn(prompt, markers).items():
                rates[name].append(lines / report["seconds"] if report["seconds"] else 0.0)
        ratios = [ours / theirs for ours, theirs in zip(rates["bascule"], rates[other.name], strict=True)]
        seen = f"{spread(rates['bascule'], 0)} lines/s against {spread(rates[other.name], 0)}"
        faults = "; ".join(pair.faults)
        yield Figure(f"lines/s, {what}", median(ratios), " ×", seen, least=least, fault=faults)


def latency(other: Contestant, bascule: Contestant, sizes: Sizes) -> Iterator[Figure]:
    pair = Pair(other, bascule)
    rounds = pair.lateness(sizes.rounds, sizes.paced, 200, viewers=1)
    ours, theirs = [one["bascule"] for one in rounds], [one[other.name] for one in rounds]
    cases = [
        ("p50", 0.5, [one.p50 for one in ours], [one.p50 for one in theirs]),
        ("p99", 2.0, [one.p99 for one in ours], [one.p99 for one in theirs]),
    ]
    for centile, most, mine, yours in cases:
        added = [one - other for one, other in zip(mine, yours, strict=True)]
        seen = f"{spread(mine)} ms against {spread(yours)} ms"
        faults = "; ".join(pair.faults)
        yield Figure(f"idle, added {centile}", median(added), " ms", seen, most=most, fault=faults)


def fan_out(other: Contestant, bascule: Contestant, sizes: Sizes) -> Iterator[Figure]:
    for viewers, count, rate in sizes.crowds:
        pair = Pair(other, bascule)
        rounds = pair.lateness(sizes.rounds, count, rate, viewers)
        ours, theirs = [one["bascule"] for one in rounds], [one[other.name] for one in rounds]
        ratios = [mine.p99 / yours.p99 for mine, yours in zip(ours, theirs, strict=True)]
        seen = (
            f"{spread([one.p99 for one in ours])} ms against {spread([one.p99 for one in theirs])} ms "
            f"at {rate}/s (p50 {median(one.p50 for one in ours):.2f} against "
            f"{median(one.p50 for one in theirs):.2f}), all delivered"
        )
        faults = "; ".join(pair.faults)
        yield Figure(f"{viewers} viewers, p99", median(ratios), " ×", seen, most=1.5, fault=faults)
