"""A figure, the mark it is held to, and the table they are shown in."""

from statistics import median
from typing import NamedTuple


class Figure(NamedTuple):
    """`value` is held against `most` or `least`; `seen` says in words what it was made from."""

    what: str
    value: float
    unit: str
    seen: str
    most: float | None = None
    least: float | None = None
    fault: str = ""  # something that must not happen did: no figure can make up for it
    absent: str = ""  # what it would be measured with is not here

    @property
    def mark(self) -> str:
        if self.most is not None:
            return f"≤ {self.most:g}{self.unit}"
        return f"≥ {self.least:g}{self.unit}" if self.least is not None else "none"

    @property
    def is_held(self) -> bool:
        high = self.most is not None and self.value > self.most
        low = self.least is not None and self.value < self.least
        return not (self.fault or self.absent or high or low)

    @property
    def verdict(self) -> str:
        if self.fault:
            return f"**missed**: {self.fault}"
        if self.absent:
            return f"**not measured**: {self.absent}"
        if self.most is None and self.least is None:
            return "for information"
        return "held" if self.is_held else "**missed**"


HEAD = "| measure | figure | mark | verdict | seen |\n|---|---|---|---|---|"


def row(figure: Figure) -> str:
    value = "" if figure.absent else f"{figure.value:.2f}{figure.unit}"
    return f"| {figure.what} | {value} | {figure.mark} | {figure.verdict} | {figure.seen} |"


def spread(values: list[float], digits: int = 2) -> str:
    """The median, and between which values it lies."""
    return f"{median(values):,.{digits}f} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"
