"""Input that a program has not read yet: holds back a viewer who sends too much, and reports long waits."""

import asyncio
from collections.abc import Callable

PATIENCE_SECONDS = 3.0
HOLD_SECONDS = 30.0


class Unread:
    """Calls `tell` with the bytes that wait when nothing has moved for 3 s, and with 0 when all are read.

    A keystroke costs two additions: one timer serves all keystrokes of 3 s.
    """

    def __init__(self, tell: Callable[[int], None]) -> None:
        self.bytes = 0
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._moved = 0.0  # when bytes were last added or read
        self._timer: asyncio.TimerHandle | None = None
        self._reported = False
        self._forgiven = 0  # bytes that have held the viewer back for too long and no longer do
        self._read = asyncio.Event()

    def add(self, length: int) -> None:
        self.bytes += length
        self._watch()

    def remove(self, length: int) -> None:
        self.bytes -= length
        self._forgiven = max(0, self._forgiven - length)
        self._read.set()
        if self.bytes:
            self._watch()
        elif self._reported:
            self._reported = False
            self._tell(0)

    def over(self, most: int) -> bool:
        """Whether more than `most` bytes are unread, without those that `below` has stopped waiting for."""
        return self.bytes - self._forgiven > most

    async def below(self, most: int) -> None:
        """Wait until at most `most` bytes are unread. After 30 s it stops waiting for those."""
        if not self.over(most):
            return
        try:
            async with asyncio.timeout(HOLD_SECONDS):
                while self.over(most):
                    self._read.clear()
                    await self._read.wait()
        except TimeoutError:
            self._forgiven = self.bytes

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _watch(self) -> None:
        self._moved = self._loop.time()
        if self._timer is None:
            self._wait(PATIENCE_SECONDS)

    def _wait(self, seconds: float) -> None:
        self._timer = self._loop.call_later(seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        if not self.bytes:
            return
        quiet = self._loop.time() - self._moved
        if quiet < PATIENCE_SECONDS:
            self._wait(PATIENCE_SECONDS - quiet)
            return
        self._reported = True
        self._tell(self.bytes)
