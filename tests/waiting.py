"""How long tests wait: one limit for whatever should come, and a fair one for what is promised in seconds."""

import contextlib
import threading
import time
from collections.abc import Iterator

# The bound of every wait. It only ends a test that would hang: a busy machine must never reach it.
PATIENCE = 120.0
PATIENCE_MS = PATIENCE * 1000
# The same for a whole piece of heavy work, such as 100 viewers of one burst.
MUCH_PATIENCE = 3 * PATIENCE
# After this a whole test is taken to hang.
TEST_SECONDS = MUCH_PATIENCE + PATIENCE

_PROBE_SECONDS = 0.1


def stretch(probe: float = _PROBE_SECONDS) -> float:
    """Seconds that a second of work takes here now: 1 when a core is free, more when the machine is busy."""
    began, worked = time.monotonic(), time.thread_time()
    while time.thread_time() - worked < probe:
        pass
    return max(1.0, (time.monotonic() - began) / (time.thread_time() - worked))


@contextlib.contextmanager
def stretched() -> Iterator[list[float]]:
    """Collects how busy the machine is while something runs, and when it is over."""
    with _watched() as seen:
        yield seen
    seen.append(stretch())


@contextlib.contextmanager
def _watched() -> Iterator[list[float]]:
    """Looks at it before, then five times a second, in a thread."""
    seen = [stretch()]
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.2):
            seen.append(stretch(0.01))

    looking = threading.Thread(target=look, name="busy?")
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()


class Limit:
    """Seconds that something may take, and those it took; both are known when it is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.took = 0.0


@contextlib.contextmanager
def within(seconds: float) -> Iterator[Limit]:
    """What is promised to take less than this, on a machine that has time for it."""
    limit = Limit(seconds)
    with _watched() as seen:
        began = time.monotonic()
        yield limit
        limit.took = time.monotonic() - began
    if limit.took >= seconds * max(seen):  # only then does the last look, which costs most, change anything
        seen.append(stretch())
    limit.seconds = seconds * max(seen)
    assert limit.took < limit.seconds, f"took {limit.took:.1f} s, not {limit.seconds:.1f} s at most"
