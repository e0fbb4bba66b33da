"""Named timers that ring when a test says so, or when it moves their clock."""

from collections.abc import Callable
from dataclasses import dataclass

from bascule.session.deadlines import Deadlines


@dataclass(frozen=True)
class Timer:
    seconds: float
    due: float
    action: Callable[[], None]


class HandTimers(Deadlines):
    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.waiting: dict[str, Timer] = {}

    def set(self, name: str, seconds: float, action: Callable[[], None]) -> None:
        self.cancel(name)
        if seconds > 0:
            self.waiting[name] = Timer(seconds, self.now + seconds, action)

    def cancel(self, name: str) -> None:
        self.waiting.pop(name, None)

    def cancel_all(self) -> None:
        self.waiting.clear()

    def is_set(self, name: str) -> bool:
        return name in self.waiting

    @property
    def left(self) -> dict[str, float]:
        """For how long each was set."""
        return {name: timer.seconds for name, timer in self.waiting.items()}

    def ring(self, name: str) -> None:
        self.waiting.pop(name).action()

    def pass_by(self, seconds: float) -> None:
        """Let this much time pass, and more than that only by a rounding error."""
        self.now += seconds + 1e-6
        for name in [name for name, timer in self.waiting.items() if timer.due <= self.now]:
            self.ring(name)
