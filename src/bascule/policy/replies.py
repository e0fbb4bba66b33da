"""Filters a viewer's terminal replies: only answers to a program's queries, in a few fixed forms.

Such an answer reaches the program's input as if it had been typed. So it may hold nothing a program could
have put there itself (a title, the clipboard, a font's name), and only one viewer's answer counts.
"""

import re
from typing import NamedTuple

# The shapes that are let through, from the one viewer who answers.
_SAFE = re.compile(
    rb"\x1b\[\?[0-9;]{1,40}c"  # DA1
    rb"|\x1b\[>[0-9;]{1,40}c"  # DA2
    rb"|\x1bP!\|[0-9A-Fa-f]{1,16}\x1b\\"  # DA3
    rb"|\x1b\[[03]n"  # DSR: fine, or not
    rb"|\x1b\[\??[0-9]{1,5};[0-9]{1,5}(?:;[0-9]{1,3})?R"  # cursor position
    rb"|\x1b\[\?[0-9]{1,4}(?:;[0-9]{1,4})?n"  # printer, keyboard, colour scheme
    rb"|\x1b\[\??[0-9]{1,5};[0-4]\$y"  # DECRPM
    rb"|\x1b\[[468];[0-9]{1,5};[0-9]{1,5}t"  # sizes
    rb"|\x1b\[\?[0-9]{1,3}u"  # keyboard protocol
    rb"|\x1bP[01]\$r[0-9;]{0,40}[ \"'$*]?[a-zA-Z]?\x1b\\"  # DECRPSS, of numbers only
    rb"|\x1bP>\|[A-Za-z0-9 .()_-]{1,40}\x1b\\"  # the terminal's own name and version
    rb"|\x1b\](?:4;[0-9]{1,3}|1[0-9]);rgba?:[0-9A-Fa-f]{1,4}(?:/[0-9A-Fa-f]{1,4}){2,3}(?:\x07|\x1b\\)"
)
# Everything that only a terminal says, safe or not. Of people's keys only F3 with a modifier looks like it.
_ANY = re.compile(
    rb"\x1b\[[?>=][0-9;]*[cnuR]"
    rb"|\x1b\[[0-9;]*[cnt]"
    rb"|\x1b\[[0-9]+;[0-9]+(?:;[0-9]+)?R"
    rb"|\x1b\[\??[0-9;]*\$y"
    rb"|\x1b\[[0-9;]+x"
    rb"|\x1b[\]PX^_][^\x07\x1b]+(?:\x07|\x1b\\)"
)


class Spoken(NamedTuple):
    """One message from a viewer, split into keys and replies."""

    keys: bytes  # what was typed
    replies: bytes  # safe answers of the terminal
    refused: int  # answers that are never let through


def take_apart(data: bytes) -> Spoken:
    """What could be either counts as an answer: the one viewer who answers loses nothing by that."""
    if b"\x1b" not in data:
        return Spoken(data, b"", 0)
    keys: list[bytes] = []
    replies: list[bytes] = []
    refused = place = 0
    for found in _ANY.finditer(data):
        whole = found[0]
        keys.append(data[place : found.start()])
        place = found.end()
        if _SAFE.fullmatch(whole):
            replies.append(whole)
        else:
            refused += 1
    keys.append(data[place:])
    return Spoken(b"".join(keys), b"".join(replies), refused)
