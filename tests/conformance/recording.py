"""Turns what crossed the pipes into a recording: no real paths, long lists shortened, lines complete."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
from tests.conformance.direct import Line, Place, Wire

# Lists that only say what is installed; a driver needs a few of each.
LONG_LISTS = {"slash_commands": 8, "skills": 4, "agents": 4, "commands": 4, "models": 3, "plugins": 2}
PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


def save(path: Path, place: Place, lines: list[Line]) -> None:
    """Write the recording."""
    encoded = (msgspec.json.encode(line).decode() for line in _rewritten(place, lines))
    path.write_text("\n".join(encoded) + "\n", encoding="utf-8")


def _rewritten(place: Place, lines: list[Line]) -> Iterator[Line]:
    joined = _paths_rewritten_across_deltas(place, lines)
    for line in joined:
        text = _without_paths(place, line.line)
        yield Line(line.dir, _shortened(text) if line.dir == "out" else text)


def _without_paths(place: Place, text: str) -> str:
    root = str(place.root)
    slug = re.sub(r"[^A-Za-z0-9]", "-", root)
    port = place.api_url.rsplit(":", 1)[1]
    return text.replace(root, "").replace(slug, "").replace(f"127.0.0.1:{port}", "127.0.0.1:8000")


def _shortened(line: str) -> str:
    message: Wire = json.loads(line)
    body: Any = message
    if message.get("type") == "control_response":
        body = message["response"].get("response") or {}
    elif message.get("subtype") != "init":
        return line
    changed = False
    for name, most in LONG_LISTS.items():
        value: Any = body.get(name)
        if isinstance(value, list) and len(cast("list[Any]", value)) > most:
            body[name] = value[:most]
            changed = True
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")) if changed else line


def _paths_rewritten_across_deltas(place: Place, lines: list[Line]) -> list[Line]:
    """A streamed path is cut over several deltas: join each run, rewrite, and cut it again into as many."""
    done = list(lines)
    for run in _delta_runs(lines):
        messages = [json.loads(lines[index].line) for index in run]
        name = PIECES[messages[0]["event"]["delta"]["type"]]
        whole = "".join(message["event"]["delta"][name] for message in messages)
        rewritten = _without_paths(place, whole)
        if rewritten == whole:
            continue
        for index, message, piece in zip(run, messages, _cut(rewritten, len(run)), strict=True):
            message["event"]["delta"][name] = piece
            text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
            done[index] = Line("out", text)
    return done


def _delta_runs(lines: list[Line]) -> Iterator[list[int]]:
    run: list[int] = []
    kind: tuple[Any, ...] | None = None
    for index, line in enumerate(lines):
        if line.dir != "out" or '"content_block_delta"' not in line.line:
            continue
        message = json.loads(line.line)
        event = message["event"]
        this = (message.get("api_message_id"), event["index"], event["delta"]["type"])
        if this[2] not in PIECES:
            continue
        if this != kind and run:
            yield run
            run = []
        kind = this
        run.append(index)
    if run:
        yield run


def _cut(text: str, parts: int) -> Iterator[str]:
    size = -(-len(text) // parts)
    for part in range(parts):
        yield text[part * size : (part + 1) * size]
