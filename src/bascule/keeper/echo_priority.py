"""While somebody types into one terminal, floods elsewhere are read in sips: the echo comes first."""

from collections.abc import Callable

# Longer than the pause between two keys of somebody who types, shorter than one notices in a build's output.
_SECONDS = 0.5


class EchoPriority:
    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._typist: object = None
        self._until = 0.0

    def typed(self, typist: object) -> None:
        self._typist, self._until = typist, self._now() + _SECONDS

    def defers(self, other: object) -> bool:
        """Should this one hold back? Never the one that is typed into."""
        return self._typist is not other and self._now() < self._until
