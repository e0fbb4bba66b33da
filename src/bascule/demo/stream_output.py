"""The demo agent's output, in Claude Code's stream-json."""

import json
import os
import sys
import threading
import uuid
from typing import Any

VERSION = "1.0.0"
MODEL = "demo"
Message = dict[str, Any]


class Wire:
    """Writes whole lines to stdout, and to the ledger whatever a test wants to count."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.run_id = uuid.uuid4().hex[:8]  # ids stay apart when a conversation is resumed
        self._lock = threading.Lock()
        ledger = os.environ.get("DEMO_LEDGER")
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._ledger = os.open(ledger, flags, 0o600) if ledger else None

    def send(self, message: Message) -> None:
        self.send_line(json.dumps(message, separators=(",", ":"), ensure_ascii=False))

    def send_line(self, line: str) -> None:
        data = line.encode("utf-8", "replace") + b"\n"
        with self._lock:
            try:
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
            except BrokenPipeError:
                os._exit(1)  # no program reads this any more

    def note(self, entry: Message) -> None:
        if self._ledger is not None:
            os.write(self._ledger, json.dumps(entry).encode() + b"\n")
            os.fsync(self._ledger)

    def event(self, event: Message) -> None:
        self.send(
            {
                "type": "stream_event",
                "event": event,
                "session_id": self.session_id,
                "parent_tool_use_id": None,
                "uuid": str(uuid.uuid4()),
            }
        )

    def assistant(self, message_id: str, block: Message, usage: Message, **extra: Any) -> None:
        self.send(
            {
                "type": "assistant",
                "message": {
                    "id": message_id,
                    "type": "message",
                    "role": "assistant",
                    "model": MODEL,
                    "content": [block],
                    "stop_reason": None,
                    "stop_sequence": None,
                    "usage": usage,
                },
                "parent_tool_use_id": None,
                "session_id": self.session_id,
                "uuid": str(uuid.uuid4()),
                **extra,
            }
        )

    def user(self, content: Any, **extra: Any) -> None:
        self.send(
            {
                "type": "user",
                "message": {"role": "user", "content": content},
                "parent_tool_use_id": None,
                "session_id": self.session_id,
                "uuid": str(uuid.uuid4()),
                **extra,
            }
        )

    def system(self, subtype: str, **fields: Any) -> None:
        self.send({"type": "system", "subtype": subtype, "session_id": self.session_id, **fields})

    def respond(self, request_id: str, response: Message | None = None, error: str | None = None) -> None:
        body: Message = {"subtype": "success" if error is None else "error", "request_id": request_id}
        if error is not None:
            body |= {"error": error, "error_code": "unsupported_request"}
        elif response is not None:
            body["response"] = response
        self.send({"type": "control_response", "response": body})
