"""Tracks who is active at a page: each page reports input, and a report holds for a minute."""

from collections.abc import Callable, Hashable

ACTIVE_SECONDS = 60.0
ELSEWHERE_SECONDS = 5.0


class AtThePage:
    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._until: dict[Hashable, float] = {}
        self._elsewhere: dict[str, float] = {}  # until when, by node
        self.changed: Callable[[], None] = lambda: None  # somebody is here, or said that nobody is

    def say(self, page: Hashable, *, active: bool) -> None:
        if active:
            self._until[page] = self._now() + ACTIVE_SECONDS
        else:
            self._until.pop(page, None)
        self.changed()

    def leave(self, page: Hashable) -> None:
        if self._until.pop(page, None) is not None:
            self.changed()

    def elsewhere(self, node: str, *, somebody: bool) -> None:
        """Whether somebody is at a page of another node of this hub; it says so again and again."""
        if somebody:
            self._elsewhere[node] = self._now() + ELSEWHERE_SECONDS
        else:
            self._elsewhere.pop(node, None)

    @property
    def here(self) -> bool:
        now = self._now()
        return any(until > now for until in self._until.values())

    @property
    def somebody(self) -> bool:
        now = self._now()
        return self.here or any(until > now for until in self._elsewhere.values())
