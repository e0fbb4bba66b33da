"""Retention of a running terminal's tape."""

from collections import deque
from collections.abc import Callable

COME_BACK_SECONDS = 30.0  # a viewer who was cut off finds what was written since
MAX_TIMES = 16  # the tape's size that a flood may reach meanwhile


class Retention:
    """The last `tape_bytes` always; and, up to a bound, what was written in the last half minute.

    So a viewer that lost its connection, or the server, reads on without a gap.
    """

    def __init__(self, tape_bytes: int, reached: int, steady: Callable[[], float]) -> None:
        self._tape_bytes = tape_bytes
        self._steady = steady
        # Where the tape ended at some moments, the oldest first.
        self._marks: deque[tuple[float, int]] = deque([(steady(), reached)])

    def forgettable(self, reached: int) -> int:
        """Everything below this offset may go."""
        now = self._steady()
        if now - self._marks[-1][0] >= 1.0:
            self._marks.append((now, reached))
        while len(self._marks) > 1 and now - self._marks[1][0] >= COME_BACK_SECONDS:
            self._marks.popleft()
        old = self._marks[0][1] if now - self._marks[0][0] >= COME_BACK_SECONDS else 0
        wanted = max(min(reached - self._tape_bytes, old), reached - MAX_TIMES * self._tape_bytes)
        return max(0, wanted)
