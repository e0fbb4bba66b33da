"""systemctl and loginctl for tests: a user's manager that really starts and ends what a unit names.

What it knows is in `systemd.json` in the home folder: {"manager": bool, "linger": bool,
"refuses_linger": bool, "pid": the unit's process, "calls": every command}.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HOME = Path(os.environ["HOME"])
STATE = HOME / "systemd.json"
UNITS = HOME / ".config" / "systemd" / "user"
WANTS = UNITS / "default.target.wants"


def main() -> int:
    state = json.loads(STATE.read_text())
    state["calls"].append([Path(sys.argv[0]).name, *sys.argv[1:]])
    try:
        return loginctl(state, sys.argv[2:]) if sys.argv[1] == "loginctl" else systemctl(state, sys.argv[3:])
    finally:
        STATE.write_text(json.dumps(state))


def loginctl(state: dict[str, Any], words: list[str]) -> int:
    match words:
        case ["show-user", _, "--property=Linger"]:
            sys.stdout.write(f"Linger={'yes' if state['linger'] else 'no'}\n")
        case ["enable-linger", _] if state["refuses_linger"]:
            sys.stderr.write("Could not enable linger: Access denied\n")
            return 1
        case ["enable-linger" | "disable-linger" as what, _]:
            state["linger"] = what == "enable-linger"
        case _:
            return 64
    return 0


def systemctl(state: dict[str, Any], words: list[str]) -> int:
    if not state["manager"]:
        sys.stderr.write("Failed to connect to bus: No medium found\n")
        return 1
    match words:
        case ["show-environment"]:
            sys.stdout.write("LANG=C.UTF-8\n")
        case ["daemon-reload"] | ["reset-failed", _]:
            pass
        case ["enable", unit] if (UNITS / unit).is_file():
            WANTS.mkdir(exist_ok=True)
            (WANTS / unit).touch()
        case ["start", unit] if (UNITS / unit).is_file():
            if not alive(state["pid"]):
                state["pid"] = start(UNITS / unit)
        case ["restart", unit] if (UNITS / unit).is_file():
            stop(state)
            state["pid"] = start(UNITS / unit)
        case ["disable", "--now", unit]:
            stop(state)
            (WANTS / unit).unlink(missing_ok=True)
        case ["is-active", _]:
            return 0 if alive(state["pid"]) else 3
        case ["is-enabled", unit]:
            return 0 if (WANTS / unit).exists() else 1
        case _:
            sys.stderr.write(f"Unit not found: {words}\n")
            return 5
    return 0


def start(unit: Path) -> int:
    lines = [line.partition("=") for line in unit.read_text().splitlines() if not line.startswith("#")]
    values = [(key, [word.replace("%%", "%") for word in shlex.split(value)]) for key, _, value in lines if _]
    environment = dict(word.split("=", 1) for key, words in values if key == "Environment" for word in words)
    (command,) = [words for key, words in values if key == "ExecStart"]
    argv = [command[0], *(word.replace("$$", "$") for word in command[1:])]
    log = (HOME / "unit.log").open("ab")
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": log}
    return subprocess.Popen(argv, env={"HOME": str(HOME), **environment}, start_new_session=True, **quiet).pid


def stop(state: dict[str, Any]) -> None:
    if alive(state["pid"]):
        os.kill(state["pid"], signal.SIGTERM)
        while alive(state["pid"]):
            time.sleep(0.02)
    state["pid"] = 0


def alive(pid: int) -> bool:
    try:
        return pid > 0 and Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


sys.exit(main())
