"""Tracks the terminal modes a program sets, so that a late viewer's terminal can be set up the same."""

import re

from msgspec import Struct, field

ALTERNATE = frozenset({47, 1047, 1049})
MAX_SEQUENCE = 64

# Modes a viewer needs to show the screen correctly and to send the right keys.
FOLLOWED = frozenset({1, 7, 9, 25, 47, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1047, 1049, 2004})
AT_START = frozenset({7, 25})

_PRIVATE = re.compile(rb"\x1b(?:\[\?([0-9;]{1,60})([hl])|\[!p|c)")
_CUT = re.compile(rb"\x1b(?:\[(?:!|\?[0-9;]{0,60})?)?\Z")


class ModeTracker(Struct):
    """The tracked modes that are on, and a sequence cut by the end of a chunk."""

    on: set[int] = field(default_factory=lambda: set(AT_START))
    cut: bytes = b""

    @property
    def alternate(self) -> bool:
        """Whether a full-screen program uses the alternate screen."""
        return bool(self.on & ALTERNATE)

    def feed(self, chunk: bytes, *, only_csi: bool = False) -> None:
        """`only_csi`: the caller knows that every escape in the chunk is followed by `[`."""
        data = self.cut + chunk if self.cut else chunk
        if b"\x1b" not in data:
            self.cut = b""
            return
        # Searching for single bytes is far faster than for sequences, and colours contain none of these.
        if not (only_csi and data is chunk) or b"?" in data or b"!" in data:
            self._follow(data)
        last = _CUT.search(data, max(0, len(data) - MAX_SEQUENCE))
        self.cut = last[0] if last else b""

    def _follow(self, data: bytes) -> None:
        for found in _PRIVATE.finditer(data):
            if found[1] is None:
                self.on = set(AT_START)  # a reset
                continue
            numbers = {
                int(number) for number in found[1].split(b";") if number and len(number) < 6
            } & FOLLOWED
            self.on = self.on | numbers if found[2] == b"h" else self.on - numbers


def prelude(on: frozenset[int] | set[int]) -> bytes:
    """Bytes that reset a terminal and set these modes. A viewer writes them before the tail."""
    off = sorted(FOLLOWED - AT_START)
    fresh = b"\x1b[!p" + b"".join(b"\x1b[?%dl" % mode for mode in off) + b"\x1b[0m\x1b[r\x1b[H\x1b[2J"
    fresh += b"\x1b[?7h\x1b[?25h"
    fresh += b"".join(b"\x1b[?%dl" % mode for mode in sorted(AT_START - on))
    return fresh + b"".join(b"\x1b[?%dh" % mode for mode in sorted(on - AT_START))
