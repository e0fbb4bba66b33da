"""Output filter of every command: removes all escape sequences but our own colours.

Commands make each field visible where they print it, because only they know which text is one field. This
stands behind them, so that a field somebody forgot is ugly rather than dangerous.
"""

import io
import re
import sys
from typing import TextIO

from bascule.commands.console import COLOURS
from bascule.policy.visible import json_visible, sanitize

_ours = re.compile("(" + "|".join(re.escape(colour) for colour in sorted(COLOURS)) + ")")


def guard_terminals() -> None:
    """Put the gate before stdout and stderr where they are terminals; a pipe gets what was printed."""
    sys.stdout, sys.stderr = _guarded(sys.stdout), _guarded(sys.stderr)


def _guarded(stream: TextIO) -> TextIO:
    if not stream.isatty() or isinstance(stream, GuardedText):
        return stream
    stream.flush()
    return GuardedText(
        stream.buffer, encoding=stream.encoding, errors="backslashreplace", line_buffering=True
    )


class GuardedText(io.TextIOWrapper):
    def write(self, text: str, /) -> int:
        super().write(screened(text))
        return len(text)


def screened(text: str) -> str:
    parts = _ours.split(text)  # every second one is a colour of ours
    return "".join(part if place % 2 else sanitize(part) for place, part in enumerate(parts))


def print_json(body: bytes) -> None:
    """One line of JSON: byte for byte into a pipe, with what hides escaped on a terminal."""
    if sys.stdout.isatty():
        print(json_visible(body.decode(errors="replace")), flush=True)
    else:
        sys.stdout.buffer.write(body + b"\n")
        sys.stdout.buffer.flush()
