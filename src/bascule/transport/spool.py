"""Reads an agent's output by offset from the keeper's spool files."""

import os
import shutil
from pathlib import Path

from bascule.keeper.layout import SEGMENT_BYTES, SPOOL, segment_name, segment_start
from bascule.transport.errors import SpoolTrimmed


def put_aside(keeper: Path, session: str, target: Path) -> Path:
    """Have all files of a session's spool in `target` as well, so that they outlive the keeper's own."""
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file in sorted((keeper / SPOOL / session).iterdir()):
        copy = target / file.name
        copy.unlink(missing_ok=True)
        try:
            copy.hardlink_to(file)
        except OSError:  # another file system
            shutil.copy2(file, copy)
    return target


class SpoolReader:
    """Reads one stream (`out` or `err`) of one session; the present segment stays open between calls."""

    def __init__(self, folder: Path, session: str, stream: str) -> None:
        self._folder = folder / SPOOL / session
        self._stream = stream
        self._start = -1
        self._fd = -1

    def read(self, offset: int, limit: int) -> bytes:
        """Bytes from `offset`, at most `limit` and never past a segment: b"" means nothing there yet."""
        start = segment_start(offset)
        if start != self._start and not self._open(start):
            if offset < self._oldest():
                raise SpoolTrimmed(offset)
            return b""
        return os.pread(self._fd, min(limit, start + SEGMENT_BYTES - offset), offset - start)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = self._start = -1

    def _open(self, start: int) -> bool:
        try:
            fd = os.open(self._folder / segment_name(self._stream, start), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        self.close()
        self._fd, self._start = fd, start
        return True

    def _oldest(self) -> int:
        prefix = self._stream + "."
        ends = (path.name.removeprefix(prefix) for path in self._folder.glob(prefix + "*"))
        return min((int(end) for end in ends if end.isdigit()), default=0)
