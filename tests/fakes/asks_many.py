"""`asks_many.py N LEDGER`: asks for N permissions at once; notes each answer and each thing it then does."""

import json
import os
import sys

from speech import heard, init, number, result, say, send

count = number(1, 3)
ledger = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def note(entry: dict[str, object]) -> None:
    os.write(ledger, json.dumps(entry).encode() + b"\n")


def ask(n: int) -> None:
    call = {"command": f"echo {n}", "odd  spacing": [1.0, 1e3, "é", "\u202e"], "n": n}
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": f"toolu_{n}", "input": call}
    send({"type": "control_request", "request_id": f"req-{n}", "request": request})


def finish(n: int, *, allowed: bool, call: object) -> None:
    if allowed:
        note({"executed": f"req-{n}", "input": call})
    block = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": "ok" if allowed else "denied"}
    send({"type": "user", "message": {"role": "user", "content": [block | {"is_error": not allowed}]}})


while (message := heard()) is not None:
    if message.get("type") == "user":
        waiting = set(range(1, count + 1))
        init()
        for n in sorted(waiting):
            ask(n)
    elif message.get("type") == "control_response":
        response = message["response"]
        note({"answer": response})
        n = int(response["request_id"].removeprefix("req-"))
        decided = response["response"]
        finish(n, allowed=decided["behavior"] == "allow", call=decided.get("updatedInput"))
        waiting.discard(n)
        if not waiting:
            say("all answered")
            result()
