"""The program that Claude Code runs as a hook: fetches a message from this machine's server and delivers it.

`take` runs at the end of a turn and answers at once; `wait` runs beside the agent and ends when a message can
be delivered while the agent is idle. It starts after every turn, so it imports a small part of the standard
library and nothing else. On any error it exits silently: it must never stop the agent.
"""

import json
import os
import socket
import stat
import sys
import time
from collections.abc import Callable
from typing import Any

AGENT = "claude-code"
MAX_BYTES = 8 * 1024 * 1024  # bytes of an event, or of an answer
CONNECT_SECONDS = 2.0
TAKE_SECONDS = 5.0
ASK_SECONDS = 40.0  # the server answers within 25
AGAIN_SECONDS = 1.0
GONE_SECONDS = 120.0  # a server that restarts is waited for; one that stays away is not
TRIES = 3
QUIET, WAKE = 0, 2  # on 2 the agent reads what was written to stderr

Fields = dict[str, Any]


class Away(Exception):
    """No server, or none that answers."""


class Lost(Exception):
    """The server may have done what was asked, but its answer did not come."""


def main(words: list[str]) -> int:
    try:
        mode, data = words
        event = json.loads(sys.stdin.buffer.read(MAX_BYTES))
        hook = Hook(data, event, os.environ)
        return hook.take() if mode == "take" else hook.wait()
    except Exception:  # noqa: BLE001 - an agent would show the fault to its model, or stop for it
        return QUIET


class Hook:
    """One run of it. `event` is what the agent tells its hooks."""

    def __init__(self, data: str, event: Fields, environment: Any) -> None:
        self._data = data
        self._again = event.get("stop_hook_active") is True
        # Asked by a program instead of a person, the agent would wait for us; and nobody looks at a terminal.
        self._unattended = environment.get("CLAUDE_CODE_ENTRYPOINT", "cli") != "cli"
        pid = environment.get("CLAUDE_PID", "")
        self._who: Fields = {
            "agent": AGENT,
            "conversation": event["session_id"],
            "pid": int(pid) if pid.isdecimal() else 0,
        }
        self._key = os.urandom(16).hex()
        self._parent = os.getppid()

    def take(self) -> int:
        """At the end of a turn. What a hook prolonged is not prolonged again: the rest comes when idle."""
        if self._again or self._unattended:
            return QUIET
        text = self._taken(idle=False)
        if text:
            sys.stdout.write(json.dumps({"decision": "block", "reason": text}))
            sys.stdout.flush()
        return QUIET

    def wait(self) -> int:
        # An agent that does not tell its process may be too old to run us beside itself: it would wait.
        if self._unattended or not self._who["pid"]:
            return QUIET
        seen: float | None = None  # when the server was last there
        while True:
            try:
                state = self._post("/api/feedback/wait", self._who, ASK_SECONDS).get("state")
                seen = time.monotonic()
                if state == "ready" and self._attended() and (text := self._taken(idle=True)):
                    sys.stderr.buffer.write(text.encode("utf-8", "replace"))
                    sys.stderr.buffer.flush()
                    return WAKE
                if state not in ("ready", "nothing") or not self._attended():
                    return QUIET
            except Lost:
                seen = time.monotonic()
                time.sleep(AGAIN_SECONDS)
            except Away:
                if seen is None or time.monotonic() - seen > GONE_SECONDS:
                    return QUIET
                time.sleep(AGAIN_SECONDS)

    def _attended(self) -> bool:
        """Is the program that started us still there to read what we print?"""
        return os.getppid() == self._parent

    def _taken(self, *, idle: bool) -> str:
        """Asked again under the same key when the answer was lost: it is then given the same message."""
        for n in range(TRIES):
            try:
                return self._post("/api/feedback/take", {**self._who, "idle": idle}, TAKE_SECONDS).get(
                    "text", ""
                )
            except Lost:
                time.sleep(AGAIN_SECONDS * (n + 1))
            except Away:
                if n == 0:
                    raise
                time.sleep(AGAIN_SECONDS * (n + 1))
        return ""

    def _post(self, path: str, body: Fields, seconds: float) -> Fields:
        url, secret = server_of(self._data)
        return post(url + path, secret, self._key, body, seconds)


def server_of(data: str) -> tuple[str, str]:
    """The address and the key that a running server leaves for its owner, in a file nobody else can read."""
    try:
        with open(os.path.join(data, "server.json"), "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
                raise Away
            note = json.loads(file.read(65536))
        os.kill(note["pid"], 0)
        return note["url"].partition("#")[0].rstrip("/"), note["key"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Away from error


def post(url: str, secret: str, key: str, body: Fields, seconds: float) -> Fields:
    """One request on a connection of its own. HTTP/1.0, so that the answer ends with the connection."""
    scheme, _, rest = url.partition("://")
    place, _, path = rest.partition("/")
    data = json.dumps(body).encode()
    head = (
        f"POST /{path} HTTP/1.0\r\nHost: {place}\r\nAuthorization: Bearer {secret}\r\n"
        f"Idempotency-Key: {key}\r\nUser-Agent: bascule-feedback\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    try:
        line = _connect(scheme, place)
    except OSError as error:
        raise Away from error
    with line:
        try:
            line.settimeout(seconds)
            line.sendall(head.encode() + data)
            answer = _read(line.recv)
        except OSError as error:
            raise Lost from error
    return _decoded(answer)


def _connect(scheme: str, place: str) -> socket.socket:
    host, _, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    number = int(port) if host and port.isdecimal() else {"https": 443}.get(scheme, 80)
    host = (host or place).strip("[]")
    line = socket.create_connection((host, number), CONNECT_SECONDS)
    if scheme != "https":
        return line
    import ssl

    return ssl.create_default_context().wrap_socket(line, server_hostname=host)


def _read(receive: Callable[[int], bytes]) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while size < MAX_BYTES and (piece := receive(65536)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _decoded(answer: bytes) -> Fields:
    head, _, body = answer.partition(b"\r\n\r\n")
    words = head.split(None, 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/1."):
        raise Lost
    if words[1] != b"200":
        raise Away
    try:
        return json.loads(body)
    except ValueError as error:
        raise Lost from error


def run() -> None:
    """Skips the interpreter's clean-up: the agent waits for this process to end."""
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
