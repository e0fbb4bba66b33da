"""Keeps the echo of a keystroke fast while other sessions flood.

For 0.5 s after a keystroke, reads other sessions' output in 16 KiB chunks, so the echo is not queued behind a
flood.
"""

from collections.abc import Callable

# Longer than the pause between two keystrokes, and too short to be noticed in the output of a build.
_SECONDS = 0.5


class EchoPriority:
    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._typist: object = None
        self._until = 0.0

    def typed(self, typist: object) -> None:
        self._typist, self._until = typist, self._now() + _SECONDS

    def defers(self, other: object) -> bool:
        """Whether this session is read in small chunks now. Never the session that was typed into."""
        return self._typist is not other and self._now() < self._until
