"""A stream-json agent whose prompts are requests: `{"tool": NAME, "input": {...}}` is asked for as it stands.

A list asks for each in turn. What it was answered it says, one word each.
"""

import json

from speech import heard, init, result, say, send

wanted: list[dict[str, object]] = []
told: list[str] = []
count = 0


def ask() -> None:
    global count
    count += 1
    one = wanted[0]
    request = {"subtype": "can_use_tool", "tool_name": one["tool"], "tool_use_id": f"toolu_{count}"}
    request["input"] = one["input"]
    send({"type": "control_request", "request_id": f"req-{count}", "request": request})


while (message := heard()) is not None:
    if message.get("type") == "user":
        content = message["message"]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        given = json.loads(text)
        wanted, told = (given if isinstance(given, list) else [given]), []
        init()
        ask()
    elif message.get("type") == "control_response":
        decided = message["response"]["response"]["behavior"]
        told.append(decided)
        block = {"type": "tool_result", "tool_use_id": f"toolu_{count}", "content": decided}
        send({"type": "user", "message": {"role": "user", "content": [block]}})
        del wanted[0]
        if wanted:
            ask()
        else:
            say(" ".join(told), f"msg_{count}")
            result()
