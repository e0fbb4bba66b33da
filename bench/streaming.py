"""Measures of a stream from agent to viewer: lines per second, added latency, fan-out."""

from collections.abc import Iterator
from statistics import median
from typing import Any

from contestants import Audience, Bare, Bascule, Contestant
from table import Figure, spread

MS = " ms"


class Sizes:
    """How much is sent. The quick run only shows that everything works."""

    def __init__(self, *, quick: bool) -> None:
        self.rounds = 1 if quick else 5
        self.deltas = 4_000 if quick else 40_000
        self.tools = 1_000 if quick else 8_000
        self.paced = 200 if quick else 1_000
        # Viewers, pieces, pieces per second: what one core can hand out without a queue of its own.
        self.crowds = [(20, 40, 40), (200, 20, 10)] if quick else [(20, 300, 50), (200, 60, 10)]
        self.sessions = 20 if quick else 100
        self.flood = 10_000 if quick else 200_000
        self.long_log = 5_000 if quick else 100_000


class Pair:
    """One session in each contestant; every round is run in both, the order turning each time."""

    def __init__(self, bare: Bare, bascule: Bascule) -> None:
        self._sides: list[tuple[Contestant, str]] = [(one, one.create()) for one in (bare, bascule)]
        self.faults: list[str] = []
        for contestant, session in self._sides:
            _run(contestant, session, "deltas 100", 100)

    def rounds(self, count: int, prompt: str, markers: int, **how: Any) -> Iterator[dict[str, Any]]:
        """Reports of a round, by the contestant's name."""
        for n in range(count):
            order = self._sides if n % 2 == 0 else self._sides[::-1]
            reports = {one.name: _run(one, session, prompt, markers, **how) for one, session in order}
            for name, report in reports.items():
                self._check(name, report)
            yield reports

    def _check(self, name: str, report: dict[str, Any]) -> None:
        if report["short"] or report["over"] or report["closed"]:
            self.faults.append(
                f"{name}: {report['short']} viewers got too little, {report['over']} too much "
                f"{' '.join(report['closed'])}".strip()
            )


def _run(
    of: Contestant, session: str, prompt: str, markers: int, *, viewers: int = 1, stamped: bool = False
) -> dict[str, Any]:
    audience = Audience(of, session, viewers=viewers, markers=markers, stamped=stamped, seconds=90)
    of.send(session, prompt)
    return audience.report()


def throughput(bare: Bare, bascule: Bascule, sizes: Sizes) -> Iterator[Figure]:
    cases = [
        ("text pieces", f"deltas {sizes.deltas}", sizes.deltas, sizes.deltas),
        ("tool calls", f"tools {sizes.tools}", sizes.tools, 2 * sizes.tools),
    ]
    for what, prompt, markers, lines in cases:
        pair = Pair(bare, bascule)
        rates: dict[str, list[float]] = {"bare": [], "bascule": []}
        for reports in pair.rounds(sizes.rounds, prompt, markers):
            for name, report in reports.items():
                rates[name].append(lines / report["seconds"] if report["seconds"] else 0.0)
        ratios = [ours / theirs for ours, theirs in zip(rates["bascule"], rates["bare"], strict=True)]
        seen = f"{spread(rates['bascule'], 0)} lines/s against {spread(rates['bare'], 0)}"
        yield Figure(f"lines/s, {what}", median(ratios), " ×", seen, least=0.8, fault="; ".join(pair.faults))


def latency(bare: Bare, bascule: Bascule, sizes: Sizes) -> Iterator[Figure]:
    pair = Pair(bare, bascule)
    all_rounds = list(
        pair.rounds(sizes.rounds, f"paced {sizes.paced} 200", sizes.paced, viewers=1, stamped=True)
    )
    for centile, most in (("p50", 0.5), ("p99", 2.0)):
        ours, theirs = ([one[name][centile] for one in all_rounds] for name in ("bascule", "bare"))
        added = [mine - yours for mine, yours in zip(ours, theirs, strict=True)]
        seen = f"{spread(ours)} ms against {spread(theirs)} ms"
        yield Figure(
            f"idle, added {centile}", median(added), MS, seen, most=most, fault="; ".join(pair.faults)
        )


def fan_out(bare: Bare, bascule: Bascule, sizes: Sizes) -> Iterator[Figure]:
    for viewers, count, rate in sizes.crowds:
        pair = Pair(bare, bascule)
        prompt = f"paced {count} {rate}"
        all_rounds = list(pair.rounds(sizes.rounds, prompt, count, viewers=viewers, stamped=True))
        ours, theirs = ([one[name]["p99"] for one in all_rounds] for name in ("bascule", "bare"))
        ratios = [mine / yours for mine, yours in zip(ours, theirs, strict=True)]
        middle = [median(one[name]["p50"] for one in all_rounds) for name in ("bascule", "bare")]
        seen = (
            f"{spread(ours)} ms against {spread(theirs)} ms at {rate}/s "
            f"(p50 {middle[0]:.2f} against {middle[1]:.2f}), all delivered"
        )
        faults = "; ".join(pair.faults)
        yield Figure(f"{viewers} viewers, p99", median(ratios), " ×", seen, most=1.5, fault=faults)
