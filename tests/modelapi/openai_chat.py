"""The OpenAI Chat Completions API: requests in the script's words, and the script's replies in its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from tests.modelapi.reply import Reply
from tests.modelapi.request import Block, Message, MessagesRequest, Tool
from tests.modelapi.script import Call
from tests.modelapi.stream import Timed, deltas


def read(body: dict[str, Any]) -> MessagesRequest:
    """Return the request as the script reads it."""
    system: list[Block] = []
    messages: list[Message] = []
    for one in body.get("messages", []):
        match one.get("role"):
            case "system" | "developer":
                system += _blocks(one.get("content"))
            case "tool":
                messages.append(Message("user", [Block("tool_result", content=_blocks(one.get("content")))]))
            case role:
                messages.append(Message(str(role), _blocks(one.get("content"))))
    functions = [one["function"] for one in body.get("tools") or [] if one.get("type") == "function"]
    tools = [Tool(one["name"], one.get("parameters") or {}) for one in functions]
    return MessagesRequest(
        messages, str(body.get("model", "")), system, tools, stream=bool(body.get("stream"))
    )


def _blocks(content: object) -> list[Block]:
    if isinstance(content, str):
        return [Block("text", content)]
    parts: list[dict[str, Any]] = content if isinstance(content, list) else []
    return [
        Block("image" if one.get("type") == "image_url" else "text", str(one.get("text", "")))
        for one in parts
    ]


def events(reply: Reply, model: str, tokens: int) -> Iterator[Timed]:
    """Yield the chunks of a streamed reply."""
    head = {
        "id": f"chatcmpl-{uuid4().hex[:12]}",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": model,
    }
    yield _chunk(head, {"role": "assistant", "content": ""})
    calls = 0
    for block in reply.blocks:
        if isinstance(block, Call):
            yield _chunk(head, {"tool_calls": [_call(calls, block)]})
            calls += 1
            continue
        for delay, kind, piece in deltas(block):
            key = "reasoning_content" if kind == "thinking" else "content"
            yield _chunk(head, {key: piece}, delay=delay)
    if reply.cut is not None:
        return
    yield _chunk(head, {}, finish="tool_calls" if calls else "stop")
    usage = {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}
    yield Timed(0, _line({**head, "choices": [], "usage": usage}))
    yield Timed(0, b"data: [DONE]\n\n")


def message(reply: Reply, model: str, tokens: int) -> dict[str, object]:
    """Return the reply as one body."""
    texts = [piece for block in reply.blocks for _, kind, piece in deltas(block) if kind == "text"]
    calls = [_call(at, block) for at, block in enumerate(b for b in reply.blocks if isinstance(b, Call))]
    said: dict[str, object] = {"role": "assistant", "content": "".join(texts)}
    if calls:
        said["tool_calls"] = calls
    return {
        "id": f"chatcmpl-{uuid4().hex[:12]}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": said, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5},
    }


def _call(index: int, call: Call) -> dict[str, object]:
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    return {"index": index, "id": f"call_{uuid4().hex[:12]}", "type": "function", "function": function}


def _chunk(
    head: dict[str, object], delta: dict[str, object], *, delay: float = 0, finish: str | None = None
) -> Timed:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return Timed(delay, _line({**head, "choices": [choice]}))


def _line(body: dict[str, object]) -> bytes:
    return f"data: {json.dumps(body)}\n\n".encode()
