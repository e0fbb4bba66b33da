"""Screens a program's output before it reaches a viewer's terminal. Lengths never change.

Two things are blanked out with NULs, which terminals ignore: writing or reading the clipboard (OSC 52),
always; and questions to the terminal, in what is shown again, because their answers would be typed twice.
"""

import re

LOOK_BACK = 8 * 1024  # an unfinished sequence longer than this goes on its way in pieces

_CLIPBOARD = re.compile(rb"(?:\x1b\]|\xc2\x9d)0*52;[^\x07\x1b\x18\x1a]*(\x07|\x1b\\|\xc2\x9c)?")
_CLIPBOARD_END = re.compile(rb"\x07|\x1b\\|\x18|\x1a|\x1b(?=[^\\])")
_QUESTIONS = re.compile(
    rb"\x05"
    rb"|\x1bZ"
    rb"|\x1b\[[?>=]?[0-9;]*c"  # who are you
    rb"|\x1b\[\??[0-9;]*n"  # where is the cursor, how are you
    rb"|\x1b\[\??[0-9;]*\$p"  # is this mode on
    rb"|\x1b\[[0-9;]*[xt]"  # parameters, window reports
    rb"|\x1b\[>[0-9;]*q"  # version
    rb"|\x1b\[\?u"  # keyboard protocol
    rb"|\x1bP[0-9;]*[+$]q[^\x1b]*\x1b\\"  # settings, capabilities
    rb"|\x1b\][0-9]+;(?:[^\x07\x1b]*;)?\?(?:\x07|\x1b\\)"  # colours, fonts
)
_STRING = re.compile(rb"\x1b[\]PX^_]")
_STRINGS = (b"\x1b]", b"\x1bP", b"\x1bX", b"\x1b^", b"\x1b_")
_CONTROL = re.compile(rb"\x1b\[[0-?]*[ -/]*")
_ESCAPE = re.compile(rb"\x1b[ -/]*")


def safe_length(data: bytes) -> int:
    """How much of `data` ends outside any escape sequence; all of it when one is too long to wait for."""
    start = max(0, len(data) - LOOK_BACK)
    escape = data.rfind(b"\x1b", start)
    if escape < 0:
        return len(data) - _broken_character(data)
    # One look for any of them first: mostly there is none.
    begins = _STRING.search(data, start) is not None
    string = max(data.rfind(mark, start) for mark in _STRINGS) if begins else -1
    if string >= 0 and not _string_is_over(data, string):
        return string
    tail = data[escape:]
    for shape in (_CONTROL, _ESCAPE):
        if shape.fullmatch(tail):
            return escape
    return len(data) - _broken_character(data)


def _string_is_over(data: bytes, start: int) -> bool:
    if data.find(b"\x1b\\", start + 2) >= 0 or b"\x18" in data[start:] or b"\x1a" in data[start:]:
        return True
    if data[start + 1 : start + 2] == b"]" and data.find(b"\x07", start + 2) >= 0:
        return True
    other = data.find(b"\x1b", start + 2)
    return 0 <= other < len(data) - 1  # an escape that ends nothing cancels the string


def _broken_character(data: bytes) -> int:
    """How many bytes at the end are the beginning of a UTF-8 character."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return back if back < needed <= 4 and byte < 0xF8 else 0
    return 0


def _blank(found: re.Match[bytes]) -> bytes:
    return bytes(len(found[0]))


class Screening:
    """One viewer's bytes, in order, each piece ending where `safe_length` says."""

    def __init__(self, live_from: int) -> None:
        self.live_from = live_from  # before this, questions were asked already
        self._in_clipboard = False

    def screened(self, data: bytes, offset: int) -> bytes:
        if self._in_clipboard:
            data = self._blank_until_end(data)
        # A lone byte is found far faster than three, and most output has neither of these.
        if (b"]" in data or b"\x9d" in data) and b"52;" in data:
            data = _CLIPBOARD.sub(self._blank_clipboard, data)
        if offset < self.live_from:
            old = self.live_from - offset
            data = _QUESTIONS.sub(_blank, data[:old]) + data[old:]
        return data

    def _blank_clipboard(self, found: re.Match[bytes]) -> bytes:
        if found[1] is None and found.end() == len(found.string):
            self._in_clipboard = True
        return bytes(len(found[0]))

    def _blank_until_end(self, data: bytes) -> bytes:
        end = _CLIPBOARD_END.search(data)
        self._in_clipboard = end is None
        stop = len(data) if end is None else end.end()
        return bytes(stop) + data[stop:]


def safe_start(data: bytes) -> int:
    """Where a viewer may begin in bytes that were cut anywhere: at a new line or a new sequence."""
    line, escape = data.find(b"\n") + 1, data.find(b"\x1b")
    places = [one for one in (line or -1, escape) if one >= 0]
    return min(places, default=len(data))
