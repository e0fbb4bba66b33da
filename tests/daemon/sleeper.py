"""A process that stands for an agent in somebody's terminal, and the note that agent keeps of itself."""

import json
import os
from pathlib import Path
from typing import Any

from tests.daemon.homes import CLAUDE, CLAUDE_ID, write


class Sleeper:
    def __init__(self) -> None:
        self._end, begin = os.pipe()
        self.pid = os.posix_spawn("/bin/cat", ["cat"], {}, file_actions=[(os.POSIX_SPAWN_DUP2, self._end, 0)])
        self._begin: int | None = begin

    def end(self) -> None:
        if self._begin is not None:
            os.close(self._begin)
            os.close(self._end)
            self._begin = None
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)


def note_terminal(home: Path, pid: int, status: str = "idle", **more: Any) -> Path:
    """What Claude Code keeps beside its conversations while one is open in a terminal."""
    start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    known = {"pid": pid, "sessionId": CLAUDE_ID, "procStart": start}
    path = home / f".claude/sessions/{pid}.json"
    whole = home / ".note"  # in one step: who reads it meanwhile finds the old one or the new one
    write(whole, json.dumps({**known, "kind": "interactive", "status": status, **more}), 0o644)
    path.parent.mkdir(parents=True, exist_ok=True)
    whole.rename(path)
    return path


def speak(home: Path, *records: dict[str, Any]) -> None:
    """More lines of the conversation, as the agent in the terminal adds them."""
    with (home / CLAUDE).open("a") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")


def claude_record(kind: str, uuid: str, parent: str, content: Any, **more: Any) -> dict[str, Any]:
    role = "user" if kind == "user" else "assistant"
    message = {"role": role, "content": content, "id": uuid, "model": "claude-opus-5-5"}
    at = "2026-11-16T08:00:00.000Z"
    fields = {"type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": at, "sessionId": CLAUDE_ID}
    return {**fields, "message": message, **more}
