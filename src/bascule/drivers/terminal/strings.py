"""Finds control strings in a terminal's output: titles, bells, clipboard requests.

Chunks may be cut anywhere; an unfinished string is kept, bounded, until it ends.
"""

import re
import unicodedata

from msgspec import Struct

TITLE_LENGTH = 120
MAX_KEPT = 1024  # bytes read of one control string; the rest is skipped

_START = re.compile(rb"\x07|\x1b[\]PX^_]")
_OSC_END = re.compile(rb"\x07|\x1b|\x18|\x1a")
_OTHER_END = re.compile(rb"\x1b|\x18|\x1a")
_NOT_CSI = re.compile(rb"\x1b[^\[]")
OSC = 0x5D


class ControlStrings(Struct):
    """Control strings found in one chunk; the last title counts."""

    bells: int = 0
    title: str | None = None
    clipboard: int = 0


class Unfinished(Struct):
    """An open control string (`kind` is its second byte), or a lone escape at the end."""

    escape: bool = False
    kind: int = 0
    kept: bytes = b""


class StringScanner:
    def __init__(self, unfinished: Unfinished | None = None) -> None:
        self.unfinished = unfinished or Unfinished()

    @property
    def at_ground(self) -> bool:
        """Outside of any sequence: a viewer may begin here."""
        return not self.unfinished.escape and not self.unfinished.kind

    def feed(self, chunk: bytes, *, only_csi: bool = False) -> ControlStrings:
        """`only_csi`: the caller knows that every escape in the chunk is followed by `[`."""
        found = ControlStrings()
        rest = self.unfinished
        if only_csi and self.at_ground and b"\x07" not in chunk:
            return found
        data = b"\x1b" + chunk if rest.escape else chunk
        rest.escape = False
        place = 0
        while place < len(data):
            place = self._within(data, place, found) if rest.kind else self._outside(data, place, found)
        return found

    def _outside(self, data: bytes, place: int, found: ControlStrings) -> int:
        start = _START.search(data, place)
        if start is None:
            self.unfinished.escape = data.endswith(b"\x1b")
            return len(data)
        if data[start.start()] == 0x07:
            found.bells += 1
        else:
            self.unfinished.kind, self.unfinished.kept = data[start.start() + 1], b""
        return start.end()

    def _within(self, data: bytes, place: int, found: ControlStrings) -> int:
        rest = self.unfinished
        end = (_OSC_END if rest.kind == OSC else _OTHER_END).search(data, place)
        stop = end.start() if end else len(data)
        room = MAX_KEPT - len(rest.kept)
        if room > 0:
            rest.kept += data[place : min(stop, place + room)]
        if end is None:
            return stop
        if data[stop] == 0x1B:
            if stop + 1 == len(data):
                # Half of the terminator: the string stays open until the other half comes.
                rest.escape = True
                return stop + 1
            self._close(found, ended=data[stop + 1] == 0x5C)
            return stop + 2 if data[stop + 1] == 0x5C else stop
        self._close(found, ended=data[stop] == 0x07)
        return stop + 1

    def _close(self, found: ControlStrings, *, ended: bool) -> None:
        rest = self.unfinished
        if ended and rest.kind == OSC:
            number, _, text = rest.kept.partition(b";")
            if number.lstrip(b"0") in (b"", b"2") and number:
                found.title = clean_title(text)
            elif number.lstrip(b"0") == b"52":
                found.clipboard += 1
        rest.kind, rest.kept = 0, b""


def is_only_csi(chunk: bytes) -> bool:
    """Whether no control string or reset begins in this chunk or at its end, which holds for most output."""
    if b"\x1b" not in chunk:  # searching for a byte is a hundred times faster than for an expression
        return True
    return not chunk.endswith(b"\x1b") and _NOT_CSI.search(chunk) is None


def clean_title(text: bytes) -> str:
    """A title fit to be shown: one line, no invisible characters, bounded."""
    words = " ".join(text.decode("utf-8", "replace").split())
    # Drop control, format (such as bidi marks), surrogate and private-use characters.
    seen = " ".join(
        "".join(character for character in words if unicodedata.category(character)[0] != "C").split()
    )
    return seen if len(seen) <= TITLE_LENGTH else seen[: TITLE_LENGTH - 1].rstrip() + "…"
