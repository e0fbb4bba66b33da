"""Long input lines: in canonical mode the kernel silently drops all but 4,095 bytes of a line."""

import re
import sys
import termios
import time
from collections.abc import Callable

LONGEST = 4095 if sys.platform == "linux" else 1023
# Fewer bytes than this are only remembered: keys cost no system call.
_SMALL = 256
# What comes this soon after a refused write belongs to it: the rest of one paste, cut into pieces.
TOGETHER_SECONDS = 0.25

# Ctrl-C, Ctrl-U, Ctrl-Z and Ctrl-\ alone are a person's keys, not the rest of a paste.
_CLEARING = (b"\x03", b"\x15", b"\x1a", b"\x1c")

_IFLAG, _LFLAG, _CC = 0, 3, 6


class LineGuard:
    """Counts the bytes of the line being typed. Asked before each write; knows only what went through it."""

    def __init__(self, fd: int, now: Callable[[], float] = time.monotonic) -> None:
        self._fd = fd
        self._now = now
        self._length = 0
        self._recent = b""
        self._why = ""
        self._held_until = 0.0

    def refusal(self, data: bytes) -> str | None:
        """Nothing when all of it will arrive; otherwise why none of it may be written."""
        if self._why and data not in _CLEARING and self._now() < self._held_until:
            return self._hold(self._why)
        fresh = len(self._recent) + len(data)
        if fresh <= _SMALL and self._length + fresh <= LONGEST:
            self._recent += data
            self._why = ""
            return None
        modes = self._modes()
        if modes is None:
            self._length, self._recent, self._why = 0, b"", ""
            return None
        runs = _runs(self._recent + data, modes)
        lengths = [_length(self._length, runs[0], modes), *(_length(0, run, modes) for run in runs[1:])]
        if max(lengths) > LONGEST:
            return self._hold(_words(max(lengths), begun=lengths[0] > LONGEST and self._begun(modes)))
        self._length, self._recent, self._why = lengths[-1], b"", ""
        return None

    @property
    def room(self) -> int:
        """Bytes that may be written without asking, if `saw` is called with them before the next question."""
        if self._why and self._now() < self._held_until:
            return 0
        return max(0, min(_SMALL, LONGEST - self._length) - len(self._recent))

    def saw(self, data: bytes) -> None:
        """These bytes were written within `room`, without a question."""
        self._recent += data

    def _modes(self) -> list[object] | None:
        """The terminal's modes if it is in canonical mode, else None."""
        try:
            modes: list[object] = termios.tcgetattr(self._fd)
        except termios.error:  # it is gone, and the write will say so
            return None
        return modes if _has(modes, _LFLAG, termios.ICANON) else None

    def _begun(self, modes: list[object]) -> bool:
        return _length(self._length, _runs(self._recent, modes)[-1], modes) > 0

    def _hold(self, why: str) -> str:
        self._why, self._held_until = why, self._now() + TOGETHER_SECONDS
        return why


def _words(length: int, *, begun: bool) -> str:
    held = "with what is typed already, so the rest was held back" if begun else "so it was held back"
    return (
        f"The program reads line by line, and a terminal passes on at most {LONGEST:,} bytes of a line. "
        f"This line would have {length:,}{' ' if begun else ', '}{held}. "
        "Break it into shorter lines, or put it into a file."
    )


def _runs(data: bytes, modes: list[object]) -> list[bytes]:
    """The pieces between characters that end a line, or throw it away."""
    quote = _character(modes, termios.VLNEXT)
    if _has(modes, _LFLAG, termios.IEXTEN) and quote:
        data = re.sub(re.escape(quote) + rb"[\s\S]", b"x", data)
    return data.translate(_enders(modes)).split(b"\n")


def _enders(modes: list[object]) -> bytes:
    table = bytearray(range(256))
    ending = [_character(modes, place) for place in (termios.VEOF, termios.VEOL, termios.VKILL)]
    if _has(modes, _LFLAG, termios.IEXTEN):
        ending.append(_character(modes, termios.VEOL2))
    if _has(modes, _LFLAG, termios.ISIG) and not _has(modes, _LFLAG, termios.NOFLSH):
        ending += [_character(modes, place) for place in (termios.VINTR, termios.VQUIT, termios.VSUSP)]
    if _has(modes, _IFLAG, termios.ICRNL) and not _has(modes, _IFLAG, termios.IGNCR):
        ending.append(b"\r")
    if _has(modes, _IFLAG, termios.INLCR):
        table[ord("\n")] = ord("x")
    for character in filter(None, ending):
        table[ord(character)] = ord("\n")
    return bytes(table)


def _length(before: int, run: bytes, modes: list[object]) -> int:
    erase = _character(modes, termios.VERASE)
    if not erase or erase not in run:
        return before + len(run)
    length = before
    for piece in run.split(erase)[:-1]:
        length = max(0, length + len(piece) - 1)
    return length + len(run.rpartition(erase)[2])


def _character(modes: list[object], place: int) -> bytes:
    """A special character, or nothing when it is switched off."""
    characters = modes[_CC]
    assert isinstance(characters, list)
    one: object = characters[place]  # pyright: ignore[reportUnknownVariableType] - VMIN and VTIME are numbers
    return one if isinstance(one, bytes) and one != b"\0" else b""


def _has(modes: list[object], flags: int, flag: int) -> bool:
    value = modes[flags]
    return isinstance(value, int) and bool(value & flag)
