"""Takes up a plan and its prompt: reads each file once and removes it; reports to the bridge."""

import contextlib
import json
import os
import socket
import stat

from bascule.launch.plan import Plan

REPORT_SECONDS = 2.0
MAX_BYTES = 8 * 1024 * 1024


def take_up(folder: str, name: str) -> tuple[Plan, str | None]:
    """The plan and the prompt, which are then nowhere on disk. Raises `OSError` when they are gone."""
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        plan: Plan = json.loads(_taken(place, name))
        if plan["also_remove"]:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(plan["also_remove"], dir_fd=place)
        prompt = _taken(place, plan["prompt_file"]).decode() if plan["prompt_file"] else None
    finally:
        os.close(place)
    return plan, prompt


def _taken(place: int, name: str) -> bytes:
    # A FIFO in its place must not hang us.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, dir_fd=place), "rb") as file:
        info = os.fstat(file.fileno())
        if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid():
            raise PermissionError(1, "Not a file of this user")
        os.unlink(name, dir_fd=place)
        return file.read(MAX_BYTES)


class Reporter:
    """Reports the outcome to the bridge. A bridge that has gone is not needed any more."""

    def __init__(self, folder: str, plan: Plan) -> None:
        self._folder, self._socket, self._id = folder, plan["report_to"], plan["id"]

    def started(self, how: str) -> None:
        self._send({"outcome": "started", "prompt": how})

    def typed(self, how: str) -> None:
        self._send({"outcome": "typed", "prompt": how})

    def failed(self, error: str, message: str) -> None:
        self._send({"outcome": "failed", "error": error, "message": message})

    def _send(self, fields: dict[str, str]) -> None:
        line = json.dumps({"id": self._id, **fields}).encode() + b"\n"
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection,
        ):
            connection.settimeout(REPORT_SECONDS)
            connection.connect(f"{self._folder}/{self._socket}")
            connection.sendall(line)
