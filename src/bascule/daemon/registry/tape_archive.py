"""Archive of ended terminals' tapes: one file each; the oldest are deleted when all exceed a byte limit."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

PIECE = 1024 * 1024


class Readable(Protocol):
    def read(self, offset: int, limit: int) -> bytes: ...

    def close(self) -> None: ...


class ArchivedTape(NamedTuple):
    """One archived tape: the bytes from offset `start` up to `end`."""

    path: Path
    start: int
    end: int

    @property
    def times(self) -> Path:
        return self.path.with_suffix(".times")


class TapeArchive:
    """Files are named `<run>.<first offset>` and written atomically."""

    def __init__(self, folder: Path, most_bytes: int, log: Callable[[str], None]) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._log = log

    def put(self, name: str, start: int, end: int, source: Readable, times: Path | None = None) -> None:
        """Copy the bytes from `start` to `end` here, and when they came. Raises `OSError` and leaves no file
        when that fails."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        fresh = self._folder / f"{name}.new"
        try:
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                while start < end and (piece := source.read(start, min(PIECE, end - start))):
                    start += len(piece)
                    file.write(piece)
                length = file.tell()
                file.flush()
                os.fsync(file.fileno())
            if times is not None and times.exists():
                shutil.copyfile(times, self._folder / f"{name}.times")
                (self._folder / f"{name}.times").chmod(0o600)
            fresh.replace(self._folder / f"{name}.{start - length}")
        finally:
            source.close()
            fresh.unlink(missing_ok=True)
        self._sweep(keep=name)

    def find(self, name: str) -> ArchivedTape | None:
        for path in self._folder.glob(f"{name}.*"):
            if path.suffix[1:].isdigit():
                start = int(path.suffix[1:])
                return ArchivedTape(path, start, start + path.stat().st_size)
        return None

    def _sweep(self, keep: str) -> None:
        tapes = [(path.stat(), path) for path in self._folder.iterdir() if path.is_file()]
        total = sum(facts.st_size for facts, _ in tapes)
        for facts, path in sorted(tapes, key=lambda one: one[0].st_mtime_ns):
            if total <= self._most_bytes:
                return
            if path.stem != keep:
                total -= facts.st_size
                path.unlink(missing_ok=True)
                self._log(f"the tape {path.name} was dropped to make room")
