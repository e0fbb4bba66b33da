"""One output stream of an agent: reads its pipe or terminal into the spool; pauses, never drops."""

import errno
import os
from collections.abc import Callable

from bascule.keeper.loop import READ, Loop
from bascule.keeper.spool import Spool

_TURN_BYTES = 256 * 1024
# How much is read at once, and the pause after it, while a keystroke in another terminal waits for its echo.
_SMALL_READ = 16 * 1024
_SMALL_READ_PAUSE = 0.004
_RETRY_SECONDS = 0.5
# A read that gave less than this has taken all there was: another would only say so.
_LITTLE = 1024
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
        reads_little: Callable[[], bool],
        noted: Callable[[int], None] | None = None,
    ) -> None:
        self._loop = loop
        self._fd = fd
        self._cap = cap
        self._changed = changed
        self._reads_little = reads_little
        self._noted = noted  # gets the offset of what was read, before it is stored
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
        self._go_on()

    def close(self) -> None:
        if self.open:
            self._loop.unwatch(self._fd)
            os.close(self._fd)
            self._fd = -1
        self.spool.close()

    def _turn(self) -> None:
        small = self._reads_little()
        count, ended = self._fill(_SMALL_READ if small else _TURN_BYTES)
        if count:
            if self._noted is not None:
                self._noted(self.spool.end)
            self._store(_buffer[:count])
        if small and count >= _SMALL_READ:
            self._loop.unwatch(self._fd)
            self._loop.after(_SMALL_READ_PAUSE, self._go_on)
        if ended and not self._held:
            self.close()
        if count or ended:
            self._changed()

    def _go_on(self) -> None:
        if self.open and not self.paused:
            self._loop.watch(self._fd, READ, self._turn)

    def _fill(self, limit: int) -> tuple[int, bool]:
        """Fill the buffer until nothing is waiting; a terminal gives only some 4 KiB per read."""
        count = 0
        while count < limit:
            try:
                got = os.readv(self._fd, [_buffer[count:limit]])
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
            if got < _LITTLE:
                break
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
        self._go_on()
        self._changed()

    def _full(self) -> bool:
        return self.spool.end - self.position > self._cap
