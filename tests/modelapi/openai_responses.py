"""The OpenAI Responses API: its requests in the script's words, and the script's replies in its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from tests.modelapi.reply import Reply
from tests.modelapi.request import Block, Message, MessagesRequest, Tool
from tests.modelapi.script import Call, Think
from tests.modelapi.stream import Timed, deltas

Json = dict[str, object]


def read(body: dict[str, Any]) -> MessagesRequest:
    """Return the request as the script reads it; what the model said in one go is one message."""
    system = [Block("text", str(body.get("instructions") or ""))]
    messages: list[Message] = []
    given = body.get("input", [])
    for one in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind = one.get("type", "message")
        if kind in ("function_call_output", "custom_tool_call_output"):
            messages.append(Message("user", [Block("tool_result", content=_blocks(one.get("output")))]))
        elif kind == "message" and one.get("role") in ("system", "developer"):
            system += _blocks(one.get("content"))
        elif kind == "message" and one.get("role") == "user":
            messages.append(Message("user", _blocks(one.get("content"))))
        elif not messages or messages[-1].role != "assistant":
            messages.append(Message("assistant", []))
    tools = list(_tools(body.get("tools") or []))
    return MessagesRequest(
        messages, str(body.get("model", "")), system, tools, stream=bool(body.get("stream"))
    )


def _tools(offered: list[dict[str, Any]], within: str = "") -> Iterator[Tool]:
    """The functions, also those of a namespace: `mcp__lamp.switch`."""
    for one in offered:
        name = f"{within}{one.get('name', '')}"
        if one.get("type") == "function":
            yield Tool(name, one.get("parameters") or {})
        elif str(one.get("type")).startswith("web_search"):
            yield Tool("web_search", type="web_search")
        elif one.get("type") == "namespace":
            yield from _tools(one.get("tools") or [], f"{name}.")


def _blocks(content: object) -> list[Block]:
    if isinstance(content, str):
        return [Block("text", content)]
    parts: list[dict[str, Any]] = content if isinstance(content, list) else []
    return [
        Block("image" if one.get("type") == "input_image" else "text", str(one.get("text", "")))
        for one in parts
    ]


def events(reply: Reply, model: str, tokens: int) -> Iterator[Timed]:
    """Yield the events of a streamed reply."""
    response: Json = {"id": f"resp_{uuid4().hex[:16]}", "object": "response", "model": model}
    yield _event("response.created", response={**response, "status": "in_progress", "output": []})
    output: list[Json] = []
    for index, block in enumerate(reply.blocks):
        item = yield from _item(index, block)
        output.append(item)
    if reply.cut is not None:
        return
    usage = {
        "input_tokens": tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens + 5,
    }
    done = {**response, "status": "completed", "output": output, "usage": usage}
    yield _event("response.completed", response=done)


def _item(index: int, block: Any) -> Iterator[Timed]:
    item = _begun(block)
    yield _event("response.output_item.added", output_index=index, item=item)
    place: Json = {"item_id": item["id"], "output_index": index}
    said = ""
    if isinstance(block, Call) and block.hosted:
        yield _event("response.web_search_call.completed", **place)
    elif isinstance(block, Call):
        arguments = json.dumps(block.arguments)
        yield _event("response.function_call_arguments.delta", **place, delta=arguments)
        item = {**item, "arguments": arguments, "status": "completed"}
    elif isinstance(block, Think):
        yield _event(
            "response.reasoning_summary_part.added",
            **place,
            summary_index=0,
            part={"type": "summary_text", "text": ""},
        )
        for delay, _, piece in deltas(block):
            said += piece
            yield _event(
                "response.reasoning_summary_text.delta", delay, **place, summary_index=0, delta=piece
            )
        item = {**item, "summary": [{"type": "summary_text", "text": said}]}
    else:
        part = {"type": "output_text", "text": "", "annotations": []}
        yield _event("response.content_part.added", **place, content_index=0, part=part)
        for delay, _, piece in deltas(block):
            said += piece
            yield _event("response.output_text.delta", delay, **place, content_index=0, delta=piece)
        part = {"type": "output_text", "text": said, "annotations": []}
        yield _event("response.output_text.done", **place, content_index=0, text=said)
        item = {**item, "content": [part], "status": "completed"}
    yield _event("response.output_item.done", output_index=index, item=item)
    return item


def _begun(block: Any) -> Json:
    if isinstance(block, Call) and block.hosted:
        action = {"type": "search", "query": block.arguments.get("query", "")}
        return {
            "type": "web_search_call",
            "id": f"ws_{uuid4().hex[:12]}",
            "status": "completed",
            "action": action,
        }
    if isinstance(block, Call):
        within, _, name = block.tool.rpartition(".")
        names: Json = {"call_id": f"call_{uuid4().hex[:12]}", "name": name, "arguments": ""}
        names |= {"namespace": within} if within else {}
        return {"type": "function_call", "id": f"fc_{uuid4().hex[:12]}", **names, "status": "in_progress"}
    if isinstance(block, Think):
        return {"type": "reasoning", "id": f"rs_{uuid4().hex[:12]}", "summary": []}
    head = {"type": "message", "id": f"msg_{uuid4().hex[:12]}", "role": "assistant"}
    return {**head, "content": [], "status": "in_progress"}


def message(reply: Reply, model: str, tokens: int) -> Json:
    """Return the reply as one body."""
    last: Json = {}
    for timed in events(reply, model, tokens):
        last = json.loads(timed.data.decode().split("data: ", 1)[1])
    response = last.get("response")
    return response if isinstance(response, dict) else {}


def _event(kind: str, delay: float = 0, **fields: object) -> Timed:
    body = json.dumps({"type": kind, **fields})
    return Timed(delay, f"event: {kind}\ndata: {body}\n\n".encode())
