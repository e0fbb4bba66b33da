"""Named timers of a session: deny a request after a day, end a session after half an hour idle."""

import asyncio
from collections.abc import Callable


class Deadlines:
    """Named timers on the loop's steady clock, so that a changed wall clock fires nothing."""

    def __init__(self) -> None:
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def set(self, name: str, seconds: float, action: Callable[[], None]) -> None:
        """Do it then, unless cancelled or set again. Zero or less is not "at once" but "never"."""
        self.cancel(name)
        if seconds > 0:
            self._timers[name] = asyncio.get_running_loop().call_later(seconds, self._fire, name, action)

    def is_set(self, name: str) -> bool:
        return name in self._timers

    def cancel(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def cancel_all(self) -> None:
        for name in list(self._timers):
            self.cancel(name)

    def _fire(self, name: str, action: Callable[[], None]) -> None:
        self._timers.pop(name, None)
        action()
