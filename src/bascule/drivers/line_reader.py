"""Feeds output to a decoder line by line: no line is lost, and none raises."""

import hashlib
from collections.abc import Callable

import msgspec

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import DECODE_ERRORS, without_lone_surrogates
from bascule.drivers.line_splitter import LineSplitter, Oversize
from bascule.model.events import Unrecognised

MAX_RAW = 16 * 1024


class LineReader:
    """`understand` decodes one line and returns what about it was not understood."""

    def __init__(
        self, out: EventBuffer, understand: Callable[[bytes], str | None], *, skipping: bool = False
    ) -> None:
        self._out = out
        self._understand = understand
        self._lines = LineSplitter(skipping=skipping)

    @property
    def consumed(self) -> int:
        return self._lines.consumed

    @property
    def skipping(self) -> bool:
        return self._lines.skipping

    def feed(self, chunk: bytes) -> None:
        for line in self._lines.feed(chunk):
            self._take(line)

    def finish(self) -> None:
        for line in self._lines.finish():
            self._take(line)

    def _take(self, line: bytes | Oversize) -> None:
        if isinstance(line, Oversize):
            why = (
                "a line longer than 16 MiB"
                if line.ended
                else "a line longer than 256 MiB, the rest is skipped"
            )
            head = line.head[:MAX_RAW].decode("utf-8", "replace")
            self._out.put(Unrecognised(head, why, line.length, line.sha256))
        elif line and not line.isspace():
            why = self._why_not(line)
            if why is not None:
                keep(self._out, line, why)

    def _why_not(self, line: bytes) -> str | None:
        try:
            return self._repaired(line)
        except DECODE_ERRORS as error:
            return _reason(error)
        except Exception as error:  # noqa: BLE001 - the promise is that no bytes ever raise
            return f"driver fault: {type(error).__name__}"

    def _repaired(self, line: bytes) -> str | None:
        try:
            return self._understand(line)
        except msgspec.DecodeError:
            repaired = without_lone_surrogates(line)
            if repaired == line:
                raise
            return self._understand(repaired)


def keep(out: EventBuffer, line: bytes, why: str) -> None:
    """Keep a line that was not understood as an event of bounded size."""
    head = line[:MAX_RAW].decode("utf-8", "replace")
    if len(line) <= MAX_RAW:
        out.put(Unrecognised(head, why))
    else:
        out.put(Unrecognised(head, why, len(line), hashlib.sha256(line).hexdigest()))


def _reason(error: Exception) -> str:
    match error:
        case msgspec.ValidationError():
            return f"not as expected: {error}"[:500]
        case RecursionError():
            return "nested too deeply"
        case UnicodeError():
            return "not UTF-8"
        case _:
            return f"not JSON: {error}"[:500]
