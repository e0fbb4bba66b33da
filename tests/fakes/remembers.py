"""A stream-json agent that keeps its conversation on disk: `--store DIR [--resume=ID]`. Stdlib only.

Prompts: `ask COMMAND` asks first, `count N` speaks N pieces, `die CODE` ends it (-9: by that signal),
`recall` says what it was told before. DIR/broken makes every start fail, DIR/deaf makes it say nothing.
"""

import json
import os
import sys
import time
import uuid
from pathlib import Path

from speech import result, say, send

WORDS = dict(word.partition("=")[::2] for word in sys.argv[1:] if word.startswith("--") and "=" in word)
STORE = Path(WORDS["--store"])
RUN = uuid.uuid4().hex[:8]


def heard() -> dict | None:
    line = sys.stdin.readline()
    if not line:
        return None
    message = json.loads(line)
    note({"heard": message})
    return message


def note(line: dict) -> None:
    with (STORE / "heard.jsonl").open("a") as log:
        log.write(json.dumps({"pid": os.getpid(), **line}) + "\n")


def main() -> None:
    note({"argv": sys.argv[1:]})
    if (STORE / "broken").exists():
        sys.stderr.write("fatal: not logged in\n")
        sys.exit(3)
    if (STORE / "deaf").exists():
        time.sleep(3600)
    session = WORDS.get("--resume")
    if session is not None and not (STORE / session).exists():
        heard()
        sys.stderr.write(f"No conversation found with session ID: {session}\n")
        result(subtype="error_during_execution", is_error=True)
        sys.exit(1)
    session = session or str(uuid.uuid4())
    while (message := heard()) is not None:
        if message["type"] == "control_request":
            facts = {
                "claude_code_version": "9.9.9",
                "current_permission_mode": WORDS.get("--mode", "default"),
            }
            answer = {"subtype": "success", "request_id": message["request_id"], "response": facts}
            send({"type": "control_response", "response": answer})
        elif message["type"] == "user":
            content = message["message"]["content"]
            turn(session, content if isinstance(content, str) else content[0]["text"])


def turn(session: str, text: str) -> None:
    kept = STORE / session
    before = kept.read_text().splitlines() if kept.exists() else []
    kept.write_text("\n".join([*before, text]) + "\n")
    send({"type": "system", "subtype": "init", "session_id": session, "model": "fake", "slash_commands": []})
    verb, _, rest = text.partition(" ")
    answer = f"you said {text}"
    if verb == "die":
        leave(int(rest))
    elif verb == "count":
        for number in range(int(rest)):
            say(f"piece {number}. ", f"msg_{RUN}_{len(before)}_{number}")
            time.sleep(0.01)
        answer = "counted"
    elif verb == "ask":
        answer = asked(rest, len(before))
    elif verb == "recall":
        answer = "before: " + ", ".join(before)
    say(answer, f"msg_{RUN}_{len(before)}")
    result()


def asked(command: str, number: int) -> str:
    tool = {"type": "tool_use", "id": f"tool_{RUN}_{number}", "name": "Bash", "input": {"command": command}}
    body = {"id": f"ask_{RUN}_{number}", "role": "assistant", "content": [tool]}
    send({"type": "assistant", "message": body, "parent_tool_use_id": None})
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": tool["id"]}
    request |= {"input": {"command": command}}
    send({"type": "control_request", "request_id": f"req_{RUN}_{number}", "request": request})
    while (message := heard()) is not None:
        if message["type"] == "control_response":
            if command.startswith("die "):
                leave(int(command[4:]))
            behaviour = message["response"]["response"]["behavior"]
            outcome = {"type": "tool_result", "tool_use_id": tool["id"], "content": behaviour}
            send({"type": "user", "message": {"role": "user", "content": [outcome]}})
            return f"answered {behaviour}"
    sys.exit(0)


def leave(code: int) -> None:
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)


main()
