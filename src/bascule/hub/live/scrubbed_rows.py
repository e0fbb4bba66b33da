"""A session's rows without what looks like a secret, also when it comes in pieces. Pure.

Streamed text is held until its line is whole, because half a key is not recognised. Numbers stay as they are:
the first row of a line gets its text, the others none.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from bascule.policy.scrub import HIDDEN, is_open_key, scrub, scrub_value
from bascule.store.base import Row

MAX_HELD = 64 * 1024
# The reader may have joined in the middle of a word, and has its beginning from elsewhere.
_REST_OF_WORD = re.compile(r"\A(?=\S*\d)(?=\S*[A-Za-z])\S{10,}")


class RowScrubber:
    def __init__(self) -> None:
        self._held: list[tuple[Row, dict[str, Any]]] = []
        self._joined = False  # some text has passed

    def passed(self, rows: Sequence[Row]) -> list[Row]:
        out: list[Row] = []
        for row in rows:
            body = msgspec.json.decode(row.body)
            event = body["event"]
            if event.get("type") != "text_appended":
                out += self.release()
                out.append(Row(row.seq, msgspec.json.encode(scrub_value(body))))
                continue
            if self._held and self._held[0][1]["event"]["entry_id"] != event["entry_id"]:
                out += self.release()
            self._held.append((row, body))
            text = self._text
            if (text.endswith("\n") and not is_open_key(text)) or len(text) > MAX_HELD:
                out += self.release()
        return out

    @property
    def _text(self) -> str:
        return "".join(body["event"]["text"] for _, body in self._held)

    def release(self) -> list[Row]:
        if not self._held:
            return []
        text = self._text if self._joined else _REST_OF_WORD.sub(HIDDEN, self._text)
        held, self._held, self._joined = self._held, [], True
        rows: list[Row] = []
        for n, (row, body) in enumerate(held):
            body["event"]["text"] = "" if n else scrub(text)
            rows.append(Row(row.seq, msgspec.json.encode(body)))
        return rows


def scrubbed_page(rows: Sequence[Row]) -> list[Row]:
    """Some rows that were asked for. A line that is not whole yet is left for the next page, if it can be."""
    scrubber = RowScrubber()
    return scrubber.passed(rows) or scrubber.release()
