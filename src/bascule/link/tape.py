"""How the hub reads a terminal's bytes, wherever they are: from this machine's spool, or over a link.

A link that leads to another machine offers the same two protocols by asking for pieces and being told of
growth; whoever shows a terminal can't tell the difference.
"""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct


class TapeCut(Exception):
    """The bytes at this offset are gone; the tape begins later now."""


class TapeTail(Struct, frozen=True):
    """A place to begin, and what a viewer's terminal is told before it."""

    offset: int
    prelude: bytes


class Tape(Protocol):
    """One viewer's hold on one run of one terminal. Offsets count bytes since the run began."""

    @property
    def base(self) -> int:
        """The oldest offset that can be read."""
        ...

    @property
    def end(self) -> int: ...

    @property
    def over(self) -> bool:
        """Nothing more will be added."""
        ...

    async def read(self, offset: int, limit: int) -> bytes:
        """Bytes from there, at most `limit`; b"" when there are none yet. Raises `TapeCut`."""
        ...

    async def tail(self, limit: int) -> TapeTail:
        """Where a viewer who wants about the last `limit` bytes begins."""
        ...

    def close(self) -> None: ...


class Tapes(Protocol):
    """The terminals of one device."""

    async def open(self, session_id: str, run: int, grew: Callable[[], None]) -> Tape:
        """`grew` is called whenever there may be more, or the end. Raises `SessionNotFound`."""
        ...
