"""A scripted `codex app-server`: echoes, waits for an interrupt, asks before a command, dies. Stdlib only."""

import json
import os
import sys
from typing import Any

Message = dict[str, Any]


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def tell(method: str, **params: Any) -> None:
    send(method=method, params={"threadId": "thread-1", "turnId": "turn-1", **params})


def receive() -> Message:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def say(words: str) -> None:
    tell("item/agentMessage/delta", itemId=f"msg-{words[:8]}", delta=words)
    tell("item/completed", item={"id": f"msg-{words[:8]}", "type": "agentMessage", "text": words})


def run(command: str) -> str:
    item = {"id": f"call-{command}", "type": "commandExecution", "command": command, "status": "inProgress"}
    tell("item/started", item=item)
    asked = {"threadId": "thread-1", "turnId": "turn-1", "itemId": item["id"], "command": command}
    send(id=0, method="item/commandExecution/requestApproval", params=asked)
    leave_if(command)
    while (answer := receive()).get("id") != 0 or "result" not in answer:
        send(id=answer["id"], result={})  # told to stop the turn, whose question comes back as refused
    decision = answer["result"]["decision"]
    allowed = decision.startswith("accept")
    done = {
        **item,
        "status": "completed" if allowed else "declined",
        "aggregatedOutput": "ran" if allowed else None,
    }
    tell("item/completed", item=done)
    say(f"{decision}.")
    return "interrupted" if decision == "cancel" else "completed"


def leave_if(words: str) -> None:
    """`die CODE` ends it with that code, `die -9` by that signal."""
    verb, _, code = words.partition(" ")
    if verb == "die":
        if int(code) < 0:
            os.kill(os.getpid(), -int(code))
        sys.exit(int(code))


def turn(words: str) -> str:
    leave_if(words)
    if words.startswith("run "):
        return run(words[4:])
    if words == "wait":
        say("waiting")
        send(id=receive()["id"], result={})
        return "interrupted"
    say(f"You said: {words}")
    return "completed"


def page(params: Message) -> Message:
    """Two pages: one thread that somebody had elsewhere, and this one."""
    if params["cwd"].endswith("unlisted"):
        return {"error": {"code": -32600, "message": "no list today"}}
    if "cursor" not in params:
        thread = {"id": "thread-0", "preview": "an orphan", "cwd": params["cwd"], "updatedAt": 1_794_818_941}
        return {"result": {"data": [thread], "nextCursor": "second"}}
    return {"result": {"data": [{"id": "thread-1", "name": "this one"}], "nextCursor": None}}


def main() -> None:
    while True:
        message = receive()
        match message["method"]:
            case "initialize":
                send(id=message["id"], result={"userAgent": "scripted/9.9.9"})
            case "thread/start" | "thread/resume":
                send(id=message["id"], result={"thread": {"id": "thread-1"}, "model": "scripted"})
            case "turn/start":
                send(id=message["id"], result={"turn": {"id": "turn-1"}})
                status = turn(message["params"]["input"][0]["text"])
                tell("turn/completed", turn={"id": "turn-1", "status": status, "durationMs": 1})
            case "model/list":
                send(id=message["id"], result={"data": []})
            case "thread/list":
                send(id=message["id"], **page(message["params"]))
            case _:
                pass


if __name__ == "__main__":
    main()
