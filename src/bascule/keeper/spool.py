"""One stream's spool: append-only segment files named by their first offset, trimmed from the front."""

import os

from bascule.keeper.layout import SEGMENT_BYTES, segment_name


class Spool:
    """`base` is the first offset still on disk, `end` the offset the next byte will get."""

    def __init__(self, folder: str, stream: str) -> None:
        self._folder = folder
        self._stream = stream
        self._fd = -1
        starts = sorted(self._starts())
        self._first = starts[0] if starts else 0
        self.end = starts[-1] + os.stat(self._path(starts[-1])).st_size if starts else 0

    @property
    def base(self) -> int:
        return min(self._first, self.end)

    def append(self, data: memoryview) -> int:
        """Write what fits in the present segment; raises OSError when the disk refuses."""
        if self._fd < 0 or self.end % SEGMENT_BYTES == 0:
            self._open()
        room = SEGMENT_BYTES - self.end % SEGMENT_BYTES
        written = os.write(self._fd, data[:room])
        self.end += written
        return written

    def trim(self, offset: int) -> None:
        """Delete segments wholly below `offset`; the newest one stays, it remembers where the stream ends."""
        while self._first + SEGMENT_BYTES <= offset and self._first + SEGMENT_BYTES < self.end:
            os.unlink(self._path(self._first))
            self._first += SEGMENT_BYTES

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self._path(self.end - self.end % SEGMENT_BYTES), flags, 0o600)
        self.close()
        self._fd = fd

    def _path(self, start: int) -> str:
        return os.path.join(self._folder, segment_name(self._stream, start))

    def _starts(self) -> list[int]:
        prefix = self._stream + "."
        ends = (name.removeprefix(prefix) for name in os.listdir(self._folder) if name.startswith(prefix))
        return [int(end) for end in ends if end.isdigit()]
