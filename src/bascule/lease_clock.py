"""The clock that grants expire by: it follows real time, even if the wall clock is changed.

It is set once, at the start, and then counts the seconds that pass (those asleep included). So turning the
time of day back does not lengthen a grant, and a jump ahead ends none. A start sets it to the time of day,
but never behind the newest time it has written down.
"""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

FILE_NAME = "newest-time"
WRITE_SECONDS = 300.0


def elapsed() -> float:
    """Seconds that have passed since some moment, also while the machine slept where the system tells."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class LeaseClock:
    def __init__(
        self,
        folder: Path,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = elapsed,
    ) -> None:
        self._path = folder / FILE_NAME
        self._steady = steady
        self._ahead = max(wall(), _read(self._path)) - steady()
        self._written = 0.0
        self.write_down()

    def __call__(self) -> float:
        now = self._ahead + self._steady()
        if now - self._written >= WRITE_SECONDS:
            self.write_down()
        return now

    def write_down(self) -> None:
        """Keep the newest time. A disk that does not take it now may take it next time."""
        now = self._written = self._ahead + self._steady()
        fresh = self._path.with_suffix(".new")
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(fresh, flags, 0o600), "w") as file:
                file.write(f"{now:.0f}\n")
            fresh.replace(self._path)


def _read(path: Path) -> float:
    try:
        text = path.read_text()[:32].strip()
        return float(text) if text.isdigit() else 0.0
    except (OSError, UnicodeDecodeError):
        return 0.0
