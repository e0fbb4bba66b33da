"""The few words of stream-json that the hostile agents need; each is a script, run by path."""

import json
import sys
from typing import Any

SESSION = "00000000-0000-4000-8000-00000000fa4e"


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def init() -> None:
    send({"type": "system", "subtype": "init", "session_id": SESSION, "model": "fake", "slash_commands": []})


def say(text: str, message_id: str = "msg_fake") -> None:
    body = {"id": message_id, "role": "assistant", "content": [{"type": "text", "text": text}]}
    send({"type": "assistant", "message": body, "parent_tool_use_id": None})


def result(**fields: Any) -> None:
    ended = {"type": "result", "subtype": "success", "is_error": False, "total_cost_usd": 0, "duration_ms": 1}
    send(ended | fields)


def ask_permission(request_id: str, command: str = "echo fake") -> None:
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "toolu_fake"}
    request |= {"input": {"command": command}}
    send({"type": "control_request", "request_id": request_id, "request": request})


def heard() -> dict[str, Any] | None:
    """The next message on stdin; control requests are answered here. None at the end."""
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("type") != "control_request":
            return message
        response = {"subtype": "success", "request_id": message["request_id"], "response": {}}
        send({"type": "control_response", "response": response})
    return None


def number(position: int, default: int) -> int:
    return int(sys.argv[position]) if len(sys.argv) > position else default


def behave() -> None:
    """Answer every prompt with one sentence until stdin ends."""
    turn = 0
    while (message := heard()) is not None:
        if message.get("type") == "user":
            turn += 1
            init()
            say("I am a fake agent.", f"msg_fake_{turn}")
            result()
