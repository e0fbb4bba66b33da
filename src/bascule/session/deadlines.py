"""Named timers of a session: deny a request after a day, end a session after half an hour idle."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple


class _Due(NamedTuple):
    at: float
    action: Callable[[], None]


class _Timer(NamedTuple):
    at: float  # uvloop gives a handle that does not know it when the time is nearly there
    handle: asyncio.Handle


class Deadlines:
    """Named timers on the loop's steady clock, so that a changed wall clock fires nothing.

    A deadline that is moved with every piece of output costs no timer each time: the one that runs is left to
    fire, and then set again for what is still to wait.
    """

    def __init__(self) -> None:
        self._due: dict[str, _Due] = {}
        self._timers: dict[str, _Timer] = {}  # each fires when its deadline is due, or earlier

    def set(self, name: str, seconds: float, action: Callable[[], None]) -> None:
        """Do it then, unless cancelled or set again. Zero or less is not "at once" but "never"."""
        if seconds <= 0:
            self.cancel(name)
            return
        at = asyncio.get_running_loop().time() + seconds
        self._due[name] = _Due(at, action)
        timer = self._timers.get(name)
        if timer is None or timer.at > at:
            self._start(name, at)

    def is_set(self, name: str) -> bool:
        return name in self._due

    def cancel(self, name: str) -> None:
        self._due.pop(name, None)

    def cancel_all(self) -> None:
        for timer in self._timers.values():
            timer.handle.cancel()
        self._timers.clear()
        self._due.clear()

    def _start(self, name: str, at: float) -> None:
        if name in self._timers:
            self._timers[name].handle.cancel()
        self._timers[name] = _Timer(at, asyncio.get_running_loop().call_at(at, self._fire, name))

    def _fire(self, name: str) -> None:
        del self._timers[name]
        due = self._due.get(name)
        if due is None:
            return
        if due.at > asyncio.get_running_loop().time():
            self._start(name, due.at)
            return
        del self._due[name]
        due.action()
