"""Writes a reply in the two forms of the Messages API: server-sent events, or one JSON message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import uuid4

from msgspec import Struct
from tests.modelapi.reply import Reply
from tests.modelapi.script import Call, Slow, Text, Think

PIECE = 24
# The agent hands the signature back unread; the real one is opaque too.
SIGNATURE = "c2NyaXB0ZWQ="

Json = dict[str, object]


class Timed(Struct, frozen=True):
    """One event and the pause before it."""

    delay: float
    data: bytes


def events(reply: Reply, model: str, input_tokens: int) -> Iterator[Timed]:
    """Yield the events of a streamed reply; a cut reply stops inside its last block."""
    start: Json = {**_envelope(model), "content": [], "stop_reason": None, "usage": _usage(input_tokens, 1)}
    yield _event({"type": "message_start", "message": start})
    for index, block in enumerate(reply.blocks):
        last = index == len(reply.blocks) - 1
        yield from _block_events(index, block, cut=reply.cut is not None and last)
    if reply.cut is not None:
        return
    yield _event(
        {
            "type": "message_delta",
            "delta": {"stop_reason": reply.stop_reason, "stop_sequence": None},
            "usage": _usage(input_tokens, _output_tokens(reply)),
        }
    )
    yield _event({"type": "message_stop"})


def message(reply: Reply, model: str, input_tokens: int) -> Json:
    """Return the reply as the body of a request that did not ask for a stream."""
    return {
        **_envelope(model),
        "content": [_whole(block) for block in reply.blocks],
        "stop_reason": reply.stop_reason,
        "usage": _usage(input_tokens, _output_tokens(reply)),
    }


def _envelope(model: str) -> Json:
    return {
        "id": f"msg_{uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "stop_sequence": None,
    }


def _block_events(index: int, block: Text | Think | Slow | Call, *, cut: bool) -> Iterator[Timed]:
    yield _event({"type": "content_block_start", "index": index, "content_block": _empty(block)})
    for delay, delta in _deltas(block):
        yield _event({"type": "content_block_delta", "index": index, "delta": delta}, delay)
    if not cut:
        yield _event({"type": "content_block_stop", "index": index})


def deltas(block: Text | Think | Slow | Call) -> Iterator[tuple[float, str, str]]:
    """Yield the pieces of a text as (pause, `text` or `thinking`, piece); a call has none."""
    for delay, delta in _deltas(block):
        for kind, key in (("text", "text"), ("thinking", "thinking")):
            if key in delta:
                yield delay, kind, str(delta[key])


def _deltas(block: Text | Think | Slow | Call) -> Iterator[tuple[float, Json]]:
    match block:
        case Text(text=text):
            for piece in _pieces(text):
                yield 0, {"type": "text_delta", "text": piece}
        case Slow(pieces=pieces, delay=delay):
            for number in range(1, pieces + 1):
                yield delay, {"type": "text_delta", "text": f"piece {number}. "}
        case Think(thought=thought):
            for piece in _pieces(thought):
                yield 0, {"type": "thinking_delta", "thinking": piece}
            yield 0, {"type": "signature_delta", "signature": SIGNATURE}
        case Call(arguments=arguments):
            for piece in _pieces(json.dumps(arguments)):
                yield 0, {"type": "input_json_delta", "partial_json": piece}


def _empty(block: Text | Think | Slow | Call) -> Json:
    match block:
        case Text() | Slow():
            return {"type": "text", "text": ""}
        case Think():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Call(tool=tool):
            return {"type": "tool_use", "id": f"toolu_{uuid4().hex[:24]}", "name": tool, "input": {}}


def _whole(block: Text | Think | Slow | Call) -> Json:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Slow():
            return {"type": "text", "text": "".join(str(delta["text"]) for _, delta in _deltas(block))}
        case Think(thought=thought):
            return {"type": "thinking", "thinking": thought, "signature": SIGNATURE}
        case Call(arguments=arguments):
            return {**_empty(block), "input": arguments}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def _output_tokens(reply: Reply) -> int:
    return sum(sum(1 for _ in _deltas(block)) for block in reply.blocks) + 1


def _usage(input_tokens: int, output_tokens: int) -> Json:
    return {
        "input_tokens": input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
        "service_tier": "standard",
    }


def _event(body: Json, delay: float = 0) -> Timed:
    return Timed(delay, f"event: {body['type']}\ndata: {json.dumps(body)}\n\n".encode())
