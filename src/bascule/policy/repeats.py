"""Bounds how often the same thing, or too many things, are written down: the rest is counted. Pure.

A period begins with the first event and lasts a minute. In it each thing is written once and then counted,
and only so many different ones are written. While there is something to count, the next period lasts twice as
long, up to an hour: a flood that never ends costs less and less.
"""

from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T", bound=Hashable)

SHORTEST = 60.0  # seconds
LONGEST = 3600.0
MAX_DIFFERENT = 50


class Counted(NamedTuple, Generic[T]):
    """What a period that is over had, beyond what was written down."""

    again: tuple[tuple[T, int], ...]  # how many more times
    others: int  # of kinds beyond the first so many
    seconds: float  # how long the period was


class Repeats(Generic[T]):
    """`take` what is `over` before the next `write`; `ends` says when there is something to take."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._length = SHORTEST
        self._began: float | None = None  # None: no period runs
        self._again: dict[T, int] = {}
        self._others = 0

    @property
    def ends(self) -> float | None:
        return None if self._began is None else self._began + self._length

    @property
    def over(self) -> bool:
        return self.ends is not None and self._clock() >= self.ends

    def write(self, thing: T) -> bool:
        """Whether it is to be written down; if not, it has been counted."""
        if self._began is None:
            self._began = self._clock()
        if thing in self._again:
            self._again[thing] += 1
            return False
        if len(self._again) >= MAX_DIFFERENT:
            self._others += 1
            return False
        self._again[thing] = 0
        return True

    def take(self) -> Counted[T]:
        """End the period: what is to be said of it."""
        began = self._clock() if self._began is None else self._began
        again = tuple((thing, times) for thing, times in self._again.items() if times)
        counted = Counted(again, self._others, self._clock() - began)
        flooded = bool(again) or self._others > 0
        self._length = min(LONGEST, self._length * 2) if flooded else SHORTEST
        self._began, self._again, self._others = None, {}, 0
        return counted
