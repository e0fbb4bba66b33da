"""The keeper's event loop: file descriptors and timers, on one thread; no callback's error ends it."""

import heapq
import itertools
import selectors
import time
import traceback
from collections.abc import Callable

from bascule.keeper.log import Log

READ = selectors.EVENT_READ
WRITE = selectors.EVENT_WRITE
_MAX_FAILURES = 100


class Timer:
    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Loop:
    def __init__(self, log: Log) -> None:
        self._selector = selectors.DefaultSelector()
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()
        self._log = log
        self._failures: dict[int, int] = {}
        self.now = time.monotonic

    def watch(self, fd: int, events: int, call: Callable[[], None]) -> None:
        if fd in self._selector.get_map():
            self._selector.modify(fd, events, call)
        else:
            self._selector.register(fd, events, call)

    def unwatch(self, fd: int) -> None:
        self._failures.pop(fd, None)
        if fd in self._selector.get_map():
            self._selector.unregister(fd)

    def after(self, seconds: float, call: Callable[[], None]) -> Timer:
        timer = Timer(call)
        heapq.heappush(self._timers, (self.now() + seconds, next(self._order), timer))
        return timer

    def step(self) -> None:
        """Wait once, then give each ready descriptor one turn and each due timer its call."""
        for key, _ in self._selector.select(self._wait()):
            # An earlier call of this round may have closed the descriptor, or given its number to another.
            current = self._selector.get_map().get(key.fd)
            if current is not None and current.data == key.data:
                self._turn(key.fd, key.data)
        while self._timers and self._timers[0][0] <= self.now():
            timer = heapq.heappop(self._timers)[2]
            if not timer.cancelled:
                self.safely(timer.call)

    def _turn(self, fd: int, call: Callable[[], None]) -> None:
        """One failure is logged; a descriptor that does nothing but fail would make the loop spin."""
        if self.safely(call):
            self._failures.pop(fd, None)
            return
        self._failures[fd] = self._failures.get(fd, 0) + 1
        if self._failures[fd] >= _MAX_FAILURES:
            self.unwatch(fd)

    def _wait(self) -> float | None:
        while self._timers and self._timers[0][2].cancelled:
            heapq.heappop(self._timers)
        return max(0.0, self._timers[0][0] - self.now()) if self._timers else None

    def safely(self, call: Callable[[], None]) -> bool:
        try:
            call()
        except Exception:  # noqa: BLE001 - whatever one session meets, the others' agents must keep their keeper
            self._log.write("error: " + traceback.format_exc())
            return False
        return True
