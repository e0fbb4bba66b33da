"""A scripted `codex app-server`: echoes, waits for an interrupt, asks before a command, fails or dies.

Stdlib only. With `--store DIR` it keeps its threads there, takes up only those it knows, and notes what it
hears.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

Message = dict[str, Any]
STORE = next((Path(one[8:]) for one in sys.argv[1:] if one.startswith("--store=")), None)


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def tell(method: str, **params: Any) -> None:
    send(method=method, params={"threadId": "thread-1", "turnId": "turn-1", **params})


def receive() -> Message:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    if STORE is not None:
        with (STORE / "heard.jsonl").open("a") as log:
            log.write(json.dumps({"pid": os.getpid(), "heard": json.loads(line)}) + "\n")
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


def remember(words: str) -> list[str]:
    """What was said in this thread before, and from now on this as well."""
    if STORE is None:
        return []
    kept = STORE / "thread-1"
    before = kept.read_text().splitlines()
    kept.write_text("\n".join([*before, words]) + "\n")
    return before


def open_thread(message: Message) -> None:
    thread = message["params"].get("threadId", "thread-1")
    if STORE is not None and message["method"] == "thread/start":
        (STORE / thread).touch()
    if STORE is not None and not (STORE / thread).exists():
        send(id=message["id"], error={"code": -32600, "message": f"no rollout found for thread id {thread}"})
    else:
        send(id=message["id"], result={"thread": {"id": thread}, "model": "scripted"})


def turn(words: str) -> str:
    before = remember(words)
    leave_if(words)
    if words == "recall":
        say("before: " + ", ".join(before))
        return "completed"
    if words.startswith("run "):
        return run(words[4:])
    if words == "wait":
        say("waiting")
        send(id=receive()["id"], result={})
        return "interrupted"
    if words.startswith("::error "):
        return "failed"
    say(words.removeprefix("::text ") if words.startswith("::text ") else f"You said: {words}")
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
    if STORE is not None and (STORE / "broken").exists():
        sys.stderr.write("fatal: not logged in\n")
        sys.exit(3)
    while True:
        message = receive()
        match message["method"]:
            case "initialize":
                send(id=message["id"], result={"userAgent": "scripted/9.9.9"})
            case "thread/start" | "thread/resume":
                open_thread(message)
            case "turn/start":
                send(id=message["id"], result={"turn": {"id": "turn-1"}})
                status = turn(message["params"]["input"][0]["text"])
                error = {"message": "unexpected status 401 Unauthorized"} if status == "failed" else None
                ended = {"id": "turn-1", "status": status, "durationMs": 1, "error": error}
                tell("turn/completed", turn=ended)
            case "model/list":
                send(id=message["id"], result={"data": []})
            case "thread/list":
                send(id=message["id"], **page(message["params"]))
            case _:
                pass


if __name__ == "__main__":
    main()
