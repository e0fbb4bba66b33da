"""The Gemini API: its requests in the script's words, and the script's replies in its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.modelapi.reply import Reply
from tests.modelapi.request import Block, Message, MessagesRequest, Tool
from tests.modelapi.script import Call
from tests.modelapi.stream import Timed, deltas

Json = dict[str, object]


def read(body: dict[str, Any], model: str, *, stream: bool) -> MessagesRequest:
    """Return the request as the script reads it."""
    system = _blocks((body.get("systemInstruction") or {}).get("parts"))
    messages: list[Message] = []
    for one in body.get("contents", []):
        role = "assistant" if one.get("role") == "model" else "user"
        messages.append(Message(role, _blocks(one.get("parts"))))
    tools = [
        Tool(str(one["name"]), one.get("parametersJsonSchema") or one.get("parameters") or {})
        for group in body.get("tools") or []
        for one in group.get("functionDeclarations") or []
    ]
    tools += [
        Tool("googleSearch", type="web_search") for one in body.get("tools") or [] if "googleSearch" in one
    ]
    return MessagesRequest(messages, model, system, tools, stream=stream)


def _blocks(parts: list[dict[str, Any]] | None) -> list[Block]:
    blocks: list[Block] = []
    for one in parts or []:
        if "functionResponse" in one:
            answer = one["functionResponse"].get("response") or {}
            said = answer.get("output") or answer.get("error") or json.dumps(answer)
            blocks.append(Block("tool_result", content=[Block("text", str(said))]))
        elif "inlineData" in one:
            blocks.append(Block("image"))
        elif "text" in one and not one.get("thought"):
            blocks.append(Block("text", str(one["text"])))
    return blocks


def events(reply: Reply, model: str, tokens: int) -> Iterator[Timed]:
    """Yield the chunks of a streamed reply."""
    for block in reply.blocks:
        if isinstance(block, Call):
            yield _chunk(model, [_call(block)])
            continue
        for delay, kind, piece in deltas(block):
            yield _chunk(model, [_text(kind, piece)], delay=delay)
    if reply.cut is None:
        yield _chunk(model, [], finish="STOP", tokens=tokens)


def message(reply: Reply, model: str, tokens: int) -> Json:
    """Return the reply as one body."""
    parts: list[Json] = []
    for block in reply.blocks:
        if isinstance(block, Call):
            parts.append(_call(block))
        else:
            parts += [_text(kind, piece) for _, kind, piece in deltas(block)]
    return _body(model, parts, "STOP", tokens)


def _call(call: Call) -> Json:
    return {"functionCall": {"name": call.tool, "args": call.arguments}}


def _text(kind: str, piece: str) -> Json:
    return {"text": piece, "thought": True} if kind == "thinking" else {"text": piece}


def _body(model: str, parts: list[Json], finish: str | None, tokens: int) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    body: Json = {"candidates": [candidate], "modelVersion": model}
    if finish is not None:
        candidate["finishReason"] = finish
        body["usageMetadata"] = {
            "promptTokenCount": tokens,
            "candidatesTokenCount": 5,
            "totalTokenCount": tokens + 5,
        }
    return body


def _chunk(
    model: str, parts: list[Json], *, delay: float = 0, finish: str | None = None, tokens: int = 0
) -> Timed:
    return Timed(delay, f"data: {json.dumps(_body(model, parts, finish, tokens))}\r\n\r\n".encode())
