"""Keys on their way to a program: how many it has not read, and word of it when they wait long."""

import asyncio
from collections.abc import Callable

PATIENCE_SECONDS = 3.0


class Unread:
    """`tell` hears how many bytes wait once they have waited long, and 0 when the last of them is taken."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell
        self._keys: dict[asyncio.Future[bytes], int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._told = False

    @property
    def bytes(self) -> int:
        return sum(self._keys.values())

    def add(self, typed: "asyncio.Future[bytes]", length: int) -> None:
        self._keys[typed] = length
        self._watch()

    def remove(self, typed: "asyncio.Future[bytes]") -> None:
        del self._keys[typed]
        if self._keys:
            self._watch()
            return
        self.close()
        if self._told:
            self._told = False
            self._tell(0)

    async def below(self, most: int) -> None:
        while self.bytes > most:
            await asyncio.wait(self._keys, return_when=asyncio.FIRST_COMPLETED)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _watch(self) -> None:
        self.close()
        self._timer = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._is_late)

    def _is_late(self) -> None:
        self._timer = None
        self._told = True
        self._tell(self.bytes)
