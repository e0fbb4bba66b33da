"""When a terminal wrote what: pairs of offset and time in a small file beside its spool, for replaying it.

At most one pair each 50 ms. When the file is full, every second pair is dropped and the pause between pairs
doubles, so its size is bounded and a long run only has coarser times.
"""

import os
import struct
import time
from collections.abc import Callable

from bascule.keeper.layout import TIMES

PAIR = struct.Struct("<QQ")  # offset of the first byte, milliseconds since 1970
MAX_PAIRS = 32 * 1024
_PAUSE_MS = 50


class OutputTimes:
    def __init__(self, folder: str, clock: Callable[[], float] = time.time, most: int = MAX_PAIRS) -> None:
        self._path = os.path.join(folder, TIMES)
        self._clock = clock
        self._most = most
        self._pause = _PAUSE_MS
        self._last = -_PAUSE_MS
        self._count = 0

    def note(self, offset: int) -> None:
        """Output that begins at `offset` came now."""
        now = int(self._clock() * 1000)
        if 0 <= now - self._last < self._pause:
            return
        self._last = now
        try:
            self._append(PAIR.pack(offset, now))
        except OSError:
            return  # a full disk: the output itself is what must not be lost

    def _append(self, pair: bytes) -> None:
        if self._count >= self._most:
            self._thin()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self._path, flags, 0o600)
        try:
            os.write(fd, pair)
        finally:
            os.close(fd)
        self._count += 1

    def _thin(self) -> None:
        with open(self._path, "rb") as file:
            pairs = file.read()
        kept = b"".join(pairs[at : at + PAIR.size] for at in range(0, len(pairs), 2 * PAIR.size))
        draft = self._path + ".new"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(kept)
        os.replace(draft, self._path)
        self._count = len(kept) // PAIR.size
        self._pause *= 2
