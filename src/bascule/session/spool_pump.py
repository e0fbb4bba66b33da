"""Spool pump: reads one stream of a process from its spool until the process is over."""

import asyncio
from collections.abc import Awaitable, Callable


class SpoolPump:
    """Reads a chunk at a time, and the next one when the last was taken; `read` gets an offset and a size."""

    def __init__(self, read: Callable[[int, int], bytes], chunk: int, offset: int) -> None:
        self.offset = offset  # up to which it has read
        self._read = read
        self._chunk = chunk
        self._more = asyncio.Event()
        self._end: int | None = None

    def wake(self) -> None:
        """There is, or may be, something to read."""
        self._more.set()

    def end_at(self, offset: int) -> None:
        """The process is over, and wrote up to `offset`."""
        self._end = offset
        self._more.set()

    async def run(self, take: Callable[[bytes], Awaitable[None]]) -> None:
        """Return when the process is over and its last byte was taken."""
        while True:
            chunk = self._read(self.offset, self._chunk)
            if chunk:
                self.offset += len(chunk)
                await take(chunk)
            elif self._end is not None and self.offset >= self._end:
                return
            else:
                await self._more.wait()
                self._more.clear()
