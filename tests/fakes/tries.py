"""A scripted stream-json agent that tries what its cage should refuse, and says what happened. Stdlib only.

A prompt is JSON: `{"run": [[word, ...]]}` names command lines to run. With
`{"outside": folder, "own": folder, "socket": path, "port": number, "pid": number}` it tries everything three
times: itself, in a child with a session of its own, and in an orphan (forked twice).
"""

import errno
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable


def say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def outcome(act: Callable[[], object]) -> str:
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"


def written(path: str) -> None:
    with open(path, "a") as file:
        file.write("x")


def read(path: str) -> None:
    with open(path) as file:
        file.read()


def connected(family: int, address: object) -> None:
    with socket.socket(family) as one:
        one.connect(address)


def listening() -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()


def attempts(told: dict) -> dict[str, str]:
    outside, own = told["outside"], told["own"]
    deeds = {
        "read in the project": lambda: read("inside.txt"),
        "write in the project": lambda: written("inside.txt"),
        "make in the project": lambda: (os.mkdir("made"), os.rmdir("made")),
        "write in its temporary folder": lambda: tempfile.TemporaryFile().close(),
        "write in its own folder": lambda: written(f"{own}/note"),
        "read outside": lambda: read(f"{outside}/secret"),
        "list outside": lambda: os.listdir(outside),
        "write outside": lambda: written(f"{outside}/secret"),
        "make outside": lambda: written(f"{outside}/made"),
        "empty outside": lambda: os.truncate(f"{outside}/secret", 0),
        "rename outside": lambda: (
            os.rename(f"{outside}/secret", f"{outside}/gone"),
            os.rename(f"{outside}/gone", f"{outside}/secret"),
        ),
        "link into the project": lambda: (os.link(f"{outside}/secret", "linked"), os.unlink("linked")),
        "go through a link": lambda: read("leads-out"),
        "run a program": lambda: subprocess.run(["/bin/true"], check=True),
        "reach the keeper": lambda: connected(socket.AF_UNIX, told["socket"]),
        "connect by TCP": lambda: connected(socket.AF_INET, ("127.0.0.1", told["port"])),
        "listen on TCP": listening,
        "signal outside": lambda: os.kill(told["pid"], 0),
    }
    return {name: outcome(act) for name, act in deeds.items()}


def in_child(told: dict, *, orphan: bool) -> dict[str, str]:
    """The same in a child that left this process's session; as an orphan it is nobody's child here."""
    hear, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        if orphan and os.fork():
            os._exit(0)
        os.write(tell, json.dumps(attempts(told)).encode())
        os._exit(0)
    os.close(tell)
    os.waitpid(pid, 0)
    with os.fdopen(hear, "rb") as report:
        return json.loads(report.read())


def ran(commands: list[list[str]]) -> dict[str, str]:
    """Each command line, and `done` or what it complained of."""
    report = {}
    for argv in commands:
        done = subprocess.run(argv, capture_output=True, text=True)
        report[" ".join(argv)] = "done" if done.returncode == 0 else done.stderr
    return report


def main() -> None:
    for number, line in enumerate(sys.stdin, 1):
        message = json.loads(line)
        if message["type"] == "control_request":
            answer = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            say({"type": "control_response", "response": answer})
        elif message["type"] == "user":
            content = message["message"]["content"]
            told = json.loads(content if isinstance(content, str) else content[0]["text"])
            say(
                {"type": "system", "subtype": "init", "session_id": "tries", "model": "m", "cwd": os.getcwd()}
            )
            report = (
                ran(told["run"])
                if "run" in told
                else {
                    "itself": attempts(told),
                    "child": in_child(told, orphan=False),
                    "orphan": in_child(told, orphan=True),
                }
            )
            block = {"type": "text", "text": json.dumps(report)}
            body = {"id": f"msg_{number}", "role": "assistant", "content": [block]}
            say({"type": "assistant", "message": body, "parent_tool_use_id": None, "session_id": "tries"})
            say(
                {
                    "type": "result",
                    "subtype": "success",
                    "is_error": False,
                    "result": "",
                    "session_id": "tries",
                }
            )


main()
