"""One output stream of an agent: from its pipe or terminal into its spool, paused rather than dropped."""

import errno
import os
from collections.abc import Callable

from bascule.keeper.loop import READ, Loop
from bascule.keeper.spool import Spool

_TURN_BYTES = 256 * 1024
# Of a terminal: a flood in one must not make a key in another wait for its echo.
_TERMINAL_TURN_BYTES = 16 * 1024
_RETRY_SECONDS = 0.5
# One buffer for all streams: the loop is single and each turn ends with the buffer written or copied.
_buffer = memoryview(bytearray(_TURN_BYTES))


class Output:
    """Reads at most one turn per readiness, so that a flood in one session leaves the others their share."""

    def __init__(
        self,
        loop: Loop,
        fd: int,
        spool: Spool,
        cap: int,
        changed: Callable[[], None],
        *,
        is_terminal: bool = False,
    ) -> None:
        self._turn_bytes = _TERMINAL_TURN_BYTES if is_terminal else _TURN_BYTES
        self._loop = loop
        self._fd = fd
        self._cap = cap
        self._changed = changed
        self._held = memoryview(b"")
        self.spool = spool
        self.position = 0
        self.storage_error: str | None = None
        loop.watch(fd, READ, self._turn)

    @property
    def open(self) -> bool:
        return self._fd >= 0

    @property
    def paused(self) -> bool:
        return self.open and (self.storage_error is not None or self._full())

    def advance(self, position: int, trim: int) -> None:
        """The reader holds everything below `position` and has committed everything below `trim`."""
        self.position = min(max(position, self.spool.base), self.spool.end)
        self.spool.trim(min(trim, self.position))
        if self.open and not self.paused:
            self._loop.watch(self._fd, READ, self._turn)

    def close(self) -> None:
        if self.open:
            self._loop.unwatch(self._fd)
            os.close(self._fd)
            self._fd = -1
        self.spool.close()

    def _turn(self) -> None:
        count, ended = self._fill()
        if count:
            self._store(_buffer[:count])
        if ended and not self._held:
            self.close()
        if count or ended:
            self._changed()

    def _fill(self) -> tuple[int, bool]:
        """Fill the buffer until nothing is waiting; a terminal gives only some 4 KiB per read."""
        count = 0
        while count < self._turn_bytes:
            try:
                got = os.readv(self._fd, [_buffer[count : self._turn_bytes]])
            except BlockingIOError:
                return count, False
            except OSError as error:
                # A terminal whose last holder is gone answers EIO: that is its end of file.
                if error.errno != errno.EIO:
                    raise
                got = 0
            if got == 0:
                return count, True
            count += got
        return count, False

    def _store(self, data: memoryview) -> None:
        try:
            while data:
                data = data[self.spool.append(data) :]
        except OSError as error:
            self._held = memoryview(bytes(data))
            self._stall(error)
            return
        self._held = memoryview(b"")
        if self._full():
            self._loop.unwatch(self._fd)

    def _stall(self, error: OSError) -> None:
        self.storage_error = errno.errorcode.get(error.errno or 0, "EIO")
        self._loop.unwatch(self._fd)
        self._loop.after(_RETRY_SECONDS, self._retry)

    def _retry(self) -> None:
        if not self.open:
            return
        self.storage_error = None
        self._store(self._held)
        if not self.paused:
            self._loop.watch(self._fd, READ, self._turn)
        self._changed()

    def _full(self) -> bool:
        return self.spool.end - self.position > self._cap
