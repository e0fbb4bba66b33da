"""Who is at the page: each page says so while somebody moves or types in it, and it holds for a minute."""

from collections.abc import Callable, Hashable

ACTIVE_SECONDS = 60.0


class AtThePage:
    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._until: dict[Hashable, float] = {}

    def say(self, page: Hashable, *, active: bool) -> None:
        if active:
            self._until[page] = self._now() + ACTIVE_SECONDS
        else:
            self._until.pop(page, None)

    def leave(self, page: Hashable) -> None:
        self._until.pop(page, None)

    @property
    def somebody(self) -> bool:
        now = self._now()
        return any(until > now for until in self._until.values())
