"""The last number of each log, in a small file beside the database: an older copy is detected by it.

After every commit the numbers it reached are written here, without waiting for the disk. A database that does
not reach them was restored from an older copy, or lost its last commits in a power cut. Either way somebody
may hold numbers that will soon mean other events, so the epoch has to change.
"""

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

log = logging.getLogger(__name__)

RECORD = 192  # bytes of one line; each log has a line of its own, written in place
LONGEST_NAME = 140
AUDIT = "@audit"  # the audit log's line; no session is called so
_HEADER = "bascule-heads-1"


class Heads:
    """Used only by the writer's thread once the store is open."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + ".heads")
        self.epoch, self.marks = _read(self.path)
        self._lines: dict[str, int] = {}
        self._descriptor = -1

    def begin(self, epoch: str, marks: Iterable[tuple[str, int]]) -> None:
        """Rewrite the file; from here on `moved` keeps it true. On a full disk the one of before stays."""
        self.close()
        self.epoch, self.marks, self._lines = epoch, dict(marks), {}
        lines = [_line(_HEADER, 0, epoch)]
        for name, seq in self.marks.items():
            if len(name.encode()) <= LONGEST_NAME:
                self._lines[name] = len(lines)
                lines.append(_line(name, seq))
        try:
            self._descriptor = _replaced(self.path, b"".join(lines))
        except OSError as error:
            log.warning("%s could not be written: %s", self.path, error.strerror)

    def moved(self, name: str, seq: int) -> None:
        """A commit reached this number. A disk that does not take it costs the mark, never the commit."""
        if self._descriptor < 0 or len(name.encode()) > LONGEST_NAME:
            return
        line = self._lines.setdefault(name, len(self._lines) + 1)
        try:
            os.pwrite(self._descriptor, _line(name, seq), line * RECORD)
        except OSError:
            # What it says of this log is older now, and an older mark is always true.
            return

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _line(name: str, seq: int, epoch: str = "") -> bytes:
    words = f"{name} {seq} {epoch}".encode()
    return f"{crc32(words):08x} ".encode() + words.ljust(RECORD - 10) + b"\n"


def _replaced(path: Path, data: bytes) -> int:
    """Put a whole new file in its place; a descriptor to write on in it."""
    draft = path.with_name(path.name + ".new")
    descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
        os.replace(draft, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _read(path: Path) -> tuple[str | None, dict[str, int]]:
    """The epoch and the marks; no epoch when there is no such file. Lines that were cut off do not count."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None, {}
    epoch: str | None = None
    marks: dict[str, int] = {}
    for start in range(0, len(data), RECORD):
        crc, _, padded = data[start : start + RECORD].partition(b" ")
        for words in (padded.rstrip(), padded.rstrip() + b" "):  # a line without an epoch ends with a space
            if f"{crc32(words):08x}".encode() == crc:
                name, number, of = words.decode().rsplit(" ", 2)
                if name == _HEADER:
                    epoch = of
                else:
                    marks[name] = int(number)
    return epoch, marks
