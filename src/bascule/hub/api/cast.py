r"""A terminal as an asciinema recording (version 2): every byte of its tape, when it came, and each resize.

What looks like a key is overwritten, unless the owner keeps it: the recording is as long as before.

A file of that format is text. Bytes that are not UTF-8 are written as lone surrogates (`\udc80` to `\udcff`),
as Python's `surrogateescape` does, so the exact bytes can be had back; players show unknown characters.
"""

import asyncio
import json
from bisect import bisect_right
from collections.abc import Iterator
from datetime import datetime

from bascule.api.bodies import CastQuery
from bascule.api.session_answers import CastPage
from bascule.hub.calls.call import Call
from bascule.hub.calls.operation import Operation
from bascule.hub.door.roles import Forbidden, allows
from bascule.link.tape import ReadTape, TapeRead
from bascule.model.codec import decode_leniently
from bascule.model.errors import NotSupported
from bascule.model.events import SessionStarted, TerminalResized
from bascule.model.records import SessionRecord
from bascule.policy.scrub import scrub
from bascule.policy.terminal_secrets import hide_in_output, whole_lines

PAGE_BYTES = 512 * 1024
EVENTS_AT_ONCE = 1000
DEFAULT_SIZE = (80, 24)
Resize = tuple[int, int, int]  # milliseconds since 1970, columns, rows


async def cast(call: Call[CastQuery]) -> CastPage:
    record = call.record
    if record.driver != "terminal":
        raise NotSupported("Only a terminal has a recording; export this session as Markdown, HTML or JSON.")
    keep = call.body.keep_secrets
    if keep and not allows(call.holder, "owner"):
        raise Forbidden("Only the owner may export a recording with what looks like a secret in it.")
    asked = ReadTape(
        session_id=record.session_id, run=record.started_seq, offset=call.body.offset or 0, limit=PAGE_BYTES
    )
    read = await call.ask(asked)
    size, resizes = await _sizes(call, record)
    data = _data(read, keep=keep)
    if not keep:
        # Many rules on half a megabyte: other requests are answered meanwhile.
        data = await asyncio.to_thread(hide_in_output, data)
    return _page(read, data, record, size, resizes, first=call.body.offset is None)


async def _sizes(call: Call[CastQuery], record: SessionRecord) -> tuple[tuple[int, int], list[Resize]]:
    """The size it began with, and every later one."""
    first, found = DEFAULT_SIZE, list[Resize]()
    after = record.started_seq - 1
    while rows := await call.hub.store.read(record.session_id, after, EVENTS_AT_ONCE):
        for row in rows:
            logged = decode_leniently(row.body)
            match logged.event:
                case TerminalResized(cols=columns, rows=lines):
                    found.append((milliseconds(logged.at), columns, lines))
                case SessionStarted(cols=int(columns), rows=int(lines)):
                    first = (columns, lines)
                case _:
                    pass
        after = rows[-1].seq
    return first, found


def milliseconds(at: str) -> int:
    return round(datetime.fromisoformat(at).timestamp() * 1000)


def _data(read: TapeRead, *, keep: bool) -> bytes:
    """What this page shows of it. The rest begins the next one."""
    if read.offset + len(read.data) >= read.end:
        return read.data
    return whole_characters(read.data if keep else whole_lines(read.data))


def _page(
    read: TapeRead,
    data: bytes,
    record: SessionRecord,
    size: tuple[int, int],
    resizes: list[Resize],
    *,
    first: bool,
) -> CastPage:
    times, began = list(read.times), milliseconds(record.started_at)
    start = read.offset
    end = start + len(data)
    more = end < read.end and bool(data)
    since = 0 if first else time_at(times, start, began)
    until = time_at(times, end, began) if more else None
    shown = [resize for resize in resizes if resize[0] >= since and (until is None or resize[0] < until)]
    lines = list(timed_lines(data, start, times, began, shown))
    if first:
        lines.insert(0, header(record, size))
    return CastPage(text="".join(line + "\n" for line in lines), next=end if more else None)


def whole_characters(data: bytes) -> bytes:
    """Without a character that is cut off at the end; it begins the next piece."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return data
        if byte >= 0xC0:
            wants = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if wants > back and len(data) > back else data
    return data


def time_at(times: list[tuple[int, int]], offset: int, began: int) -> int:
    """When the output at this offset came, as far as it was noted."""
    place = bisect_right(times, offset, key=lambda one: one[0])
    return times[place - 1][1] if place else began


def header(record: SessionRecord, size: tuple[int, int]) -> str:
    about = {
        "version": 2,
        "width": size[0],
        "height": size[1],
        "timestamp": milliseconds(record.started_at) // 1000,
        "title": scrub(record.title or record.agent),
        "env": {"TERM": "xterm-256color"},
    }
    return json.dumps(about)


def timed_lines(
    data: bytes, start: int, times: list[tuple[int, int]], began: int, resizes: list[Resize]
) -> Iterator[str]:
    """Output and resizes in the order they came. A piece ends where the next time was noted."""
    waiting = list(resizes)
    marks = [offset for offset, _ in times if start < offset < start + len(data)]
    at, last = start, 0.0
    rest = b""
    for mark in [*dict.fromkeys(marks), start + len(data)]:
        came = time_at(times, at, began)
        while waiting and waiting[0][0] <= came:
            last = max(last, _seconds(waiting[0][0], began))
            yield _line(last, "r", f"{waiting[0][1]}x{waiting[0][2]}")
            waiting.pop(0)
        piece = rest + data[at - start : mark - start]
        kept = whole_characters(piece) if mark < start + len(data) else piece
        rest = piece[len(kept) :]
        last = max(last, _seconds(came, began))
        if kept:
            yield _line(last, "o", kept.decode(errors="surrogateescape"))
        at = mark
    for when, cols, rows in waiting:
        last = max(last, _seconds(when, began))
        yield _line(last, "r", f"{cols}x{rows}")


def _seconds(when: int, began: int) -> float:
    return max(0, when - began) / 1000


def _line(seconds: float, kind: str, text: str) -> str:
    return json.dumps([round(seconds, 3), kind, text])


OPERATIONS = (
    Operation(
        name="session:cast",
        method="GET",
        path="/api/sessions/{session_id}/cast",
        need="session_terminal",
        body=CastQuery,
        answer=CastPage,
        run=cast,
        summary="Read a terminal's recording as asciinema v2, page by page, without what looks like a key",
        in_session=True,
    ),
)
