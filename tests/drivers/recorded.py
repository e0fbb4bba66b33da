"""Reads recordings of a real agent and plays them into a driver."""

import json
from pathlib import Path
from typing import Any

import msgspec

from bascule.drivers.stream_json import StreamJsonDriver
from bascule.model.events import AnyEvent, TextAppended

RECORDINGS = Path(__file__).parents[1] / "recordings" / "claude"
NAMES = sorted(path.stem for path in RECORDINGS.glob("*.ndjson"))


def lines_of(name: str) -> list[tuple[str, str]]:
    """`(direction, line)` of one recording, its control requests renamed as the driver names its own."""
    rows = [json.loads(row) for row in (RECORDINGS / f"{name}.ndjson").read_text().splitlines()]
    text = [(row["dir"], row["line"]) for row in rows]
    for number, request in enumerate(_control_requests(text)):
        ours = f"bascule:{request['request']['subtype']}:recorded:{number}"
        text = [(way, line.replace(request["request_id"], ours)) for way, line in text]
    return text


def _control_requests(rows: list[tuple[str, str]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for way, line in rows:
        if way == "in" and line.startswith("{"):
            try:
                message = json.loads(line)
            except ValueError:
                continue  # a recording may hold a broken line that was sent on purpose
            if message.get("type") == "control_request":
                found.append(message)
    return found


def output_of(name: str) -> bytes:
    return b"".join(line.encode() + b"\n" for way, line in lines_of(name) if way == "out")


def events_of(output: bytes) -> list[AnyEvent]:
    driver = StreamJsonDriver()
    return merged([*driver.receive(output), *driver.finish()])


def merged(events: list[AnyEvent]) -> list[AnyEvent]:
    """Adjacent pieces of one text as one, because where they are cut depends on how the bytes came."""
    result: list[AnyEvent] = []
    for event in events:
        last = result[-1] if result else None
        if not isinstance(event, TextAppended) or not isinstance(last, TextAppended):
            result.append(event)
        elif last.entry_id == event.entry_id:
            result[-1] = TextAppended(last.entry_id, last.kind, last.text + event.text)
        else:
            result.append(event)
    return result


def as_json(events: list[AnyEvent]) -> str:
    """One event a line, so that a changed golden file reads as a list of changed events."""
    rows = [json.dumps(json.loads(msgspec.json.encode(event)), ensure_ascii=False) for event in events]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def golden_path(name: str) -> Path:
    return RECORDINGS / f"{name}.events.json"
