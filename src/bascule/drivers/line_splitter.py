"""Splits a byte stream into lines, in linear time and bounded memory."""

import hashlib
from typing import ClassVar, Protocol, final

from msgspec import Struct

MIB = 1024 * 1024


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


@final
class Oversize(Struct, frozen=True):
    """A line too long to keep: its head, length and hash."""

    head: bytes
    length: int
    sha256: str
    ended: bool  # False: reported before its end, the rest is skipped


class LineSplitter:
    """Takes chunks cut anywhere, returns whole lines without their newline.

    A line is joined once, when its newline comes, so a huge line costs no more per byte than a small one.
    `consumed` counts bytes up to the last line end. Only while `skipping` (a line so long that it was
    reported before it ended) does it move inside a line, because then there is nothing left to read again.
    """

    MAX_LINE: ClassVar[int] = 16 * MIB
    GIVE_UP: ClassVar[int] = 256 * MIB
    HEAD: ClassVar[int] = 64 * 1024

    def __init__(self, *, skipping: bool = False) -> None:
        self.consumed = 0
        self.skipping = skipping
        self._parts: list[bytes] = []
        self._length = 0
        self._digest: _Digest | None = None

    def feed(self, chunk: bytes) -> list[bytes | Oversize]:
        found: list[bytes | Oversize] = []
        if not self._length and chunk[-1:] == b"\n" and len(chunk) <= self.MAX_LINE and not self.skipping:
            found += chunk.split(b"\n")  # whole lines, as an agent writes them while it is not in a hurry
            found.pop()
            self.consumed += len(chunk)
            return found
        head, *lines = chunk.split(b"\n")
        if head:
            self._add(head, found)
        if not lines:
            return found
        self._end_line(found)
        rest = lines.pop()
        if len(chunk) <= self.MAX_LINE:  # so none of the lines that it holds whole is too long
            found += lines
            self.consumed += len(chunk) - len(head) - len(rest) - 1
        else:
            for line in lines:
                self._add(line, found)
                self._end_line(found)
        if rest:
            self._add(rest, found)
        return found

    def finish(self) -> list[bytes | Oversize]:
        """The stream ended: the rest is a line, too."""
        found: list[bytes | Oversize] = []
        if self._length and not self.skipping:
            self._take(found)
        self._reset()
        return found

    def _add(self, piece: bytes, found: list[bytes | Oversize]) -> None:
        if self.skipping:
            self.consumed += len(piece)
            return
        self._length += len(piece)
        if self._digest is not None:
            self._digest.update(piece)
        else:
            self._parts.append(piece)
            if self._length > self.MAX_LINE:
                self._stop_keeping()
        if self._length > self.GIVE_UP:
            found.append(self._oversize(ended=False))
            self.consumed += self._length
            self.skipping = True

    def _stop_keeping(self) -> None:
        """Keep only head, hash and length of this line from here on."""
        self._digest = hashlib.sha256()
        head = b""
        for part in self._parts:
            self._digest.update(part)
            head += part[: self.HEAD - len(head)]
        self._parts = [head]

    def _end_line(self, found: list[bytes | Oversize]) -> None:
        if not self.skipping:
            self._take(found)
        self.consumed += 1
        self._reset()

    def _take(self, found: list[bytes | Oversize]) -> None:
        if self._digest is not None:
            found.append(self._oversize(ended=True))
        else:
            found.append(self._parts[0] if len(self._parts) == 1 else b"".join(self._parts))
        self.consumed += self._length

    def _oversize(self, *, ended: bool) -> Oversize:
        digest = self._digest.hexdigest() if self._digest is not None else ""
        return Oversize(self._parts[0], self._length, digest, ended)

    def _reset(self) -> None:
        self.skipping = False
        self._parts = []
        self._length = 0
        self._digest = None
