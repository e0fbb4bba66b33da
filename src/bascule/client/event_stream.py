"""A bounded queue of one session's events, from the socket to the iterator."""

import asyncio
from collections import deque

from bascule.model.codec import Logged

MAX_WAITING = 4096  # entries; a reader that is slower than this asks again from where it is


class EventStream:
    """Filled by the socket's reader, which must never wait; emptied by one iterator.

    When it overflows, or the server says `resync`, or the connection goes, it ends: the iterator then
    subscribes again after the last entry it gave out, so nothing is lost and nothing comes twice.
    """

    def __init__(self) -> None:
        self._waiting: deque[Logged] = deque()
        self._changed = asyncio.Event()
        self._ended = False
        self.epoch = ""  # which history its numbers are of, once the server said so
        self.replaced = False  # the log is another one than was read before: it starts over

    def put(self, entries: list[Logged]) -> None:
        if self._ended:
            return
        if len(self._waiting) + len(entries) > MAX_WAITING and self._waiting:
            self.end()
            return
        self._waiting.extend(entries)
        self._changed.set()

    def start_over(self, epoch: str) -> None:
        """This reader can't resume from its position."""
        self.epoch, self.replaced = epoch, True
        self.end()

    def end(self) -> None:
        self._ended = True
        self._changed.set()

    def __aiter__(self) -> "EventStream":
        return self

    async def __anext__(self) -> Logged:
        while not self._waiting:
            if self._ended:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        return self._waiting.popleft()
