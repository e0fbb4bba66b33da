"""A scripted ACP agent that does what short English sentences tell it, as a model would. Stdlib only.

`--never-asks` runs commands unasked, `--ignores-no` runs what was denied, `--forgets` remembers nothing.
`--needs-key` does not start without a variable that no agent is given by itself.
"""

import json
import os
import re
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

FLAGS = set(sys.argv[1:])
STORE = Path.home() / "obedient.json"
OPTIONS = [
    {"optionId": "no", "name": "No", "kind": "reject_once"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
]
writing = threading.Lock()
answers: dict[int, tuple[threading.Event, list[Any]]] = {}
stops: dict[str, threading.Event] = {}
folders: dict[str, str] = {}


if "--needs-key" in FLAGS and "MODELS_KEY" not in os.environ:
    sys.exit("no MODELS_KEY")


def send(**message: Any) -> None:
    with writing:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def say(session: str, text: str) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": session, "update": update})


def may_run(session: str, command: str) -> bool:
    if "--never-asks" in FLAGS:
        return True
    came = (threading.Event(), [])
    number = len(answers)
    answers[number] = came
    call = {"toolCallId": f"t{number}", "title": command, "kind": "execute", "rawInput": {"command": command}}
    params = {"sessionId": session, "toolCall": call, "options": OPTIONS}
    send(id=number, method="session/request_permission", params=params)
    came[0].wait()
    return came[1][0]["outcome"].get("optionId") == "yes" or "--ignores-no" in FLAGS


def turn(number: int, session: str, text: str) -> None:
    stop, reason = stops[session], "end_turn"
    run = re.search(r"nothing else: (touch [\w.-]+)$", text)
    if run is not None:
        if may_run(session, run[1]):
            subprocess.run(run[1].split(), cwd=folders[session], check=True)
        say(session, "Done.")
    elif text.startswith("Count"):
        for count in range(1, 401):
            say(session, f"{count}\n")
            if stop.wait(0.05):
                reason = "cancelled"
                break
    elif text.startswith("Which"):
        known = json.loads(STORE.read_text()) if STORE.exists() else {}
        say(session, "I do not know." if "--forgets" in FLAGS else known.get(session, "nothing"))
    else:
        STORE.write_text(json.dumps({session: "heron"}))
        say(session, "heron")
    send(id=number, result={"stopReason": reason})


def hear(message: dict[str, Any]) -> None:
    params, number = message.get("params", {}), message.get("id")
    match message.get("method"):
        case None:
            event, came = answers[message["id"]]
            came.append(message["result"])
            event.set()
        case "initialize":
            can = {"loadSession": False, "sessionCapabilities": {"resume": {}}}
            send(id=number, result={"protocolVersion": 1, "agentCapabilities": can})
        case "session/new":
            session = uuid.uuid4().hex
            folders[session] = params["cwd"]
            send(id=number, result={"sessionId": session})
        case "session/resume":
            folders[params["sessionId"]] = params["cwd"]
            send(id=number, result={})
        case "session/cancel":
            stops[params["sessionId"]].set()
        case "session/prompt":
            stops[params["sessionId"]] = threading.Event()
            words = (number, params["sessionId"], params["prompt"][0]["text"])
            threading.Thread(target=turn, args=words, daemon=True).start()
        case _:
            send(id=number, error={"code": -32601, "message": "no such method"})


for line in sys.stdin:
    hear(json.loads(line))
