"""Validates a client's request, field by field, before it is carried out."""

import os
import re
import signal
from typing import Any, NamedTuple, cast

from bascule.keeper.frames import Message

DEFAULT_SPOOL_CAP = 64 * 1024 * 1024
MAX_LABEL = 512 * 1024
SIGNALS = {name: signal.Signals[f"SIG{name}"] for name in ("INT", "TERM", "KILL", "HUP", "WINCH", "CONT")}
# Session ids become folder names: no separators, and never a leading dot.
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Refused(Exception):
    """The request cannot be done; `code` is for programs, the message for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Size(NamedTuple):
    cols: int
    rows: int


class Cage(NamedTuple):
    """What a process may reach, for `keeper.cage` to close it in.

    `rules`: letters of `landlock.RIGHTS` and a path each, "." being the checked working folder; None when the
    program itself, such as bubblewrap, makes its walls. `ports`: the TCP ports it may connect to.
    """

    rules: tuple[tuple[str, bytes], ...] | None
    ports: tuple[int, ...] | None


class SpawnRequest(NamedTuple):
    session: str
    argv: list[bytes]
    env: dict[bytes, bytes]
    cwd: bytes
    cwd_stat: tuple[int, int] | None
    pty: Size | None
    spool_cap: int
    spawn_id: str | None
    umask: int | None
    label: str
    cage: Cage | None = None


def session_of(message: Message) -> str:
    session = text(message, "session")
    if not _SESSION.fullmatch(session):
        raise bad("session must be letters, digits, '.', '_' or '-', at most 128")
    return session


def text(message: Message, name: str, limit: int = 4096) -> str:
    value = message.get(name)
    if not isinstance(value, str) or not value or len(value) > limit:
        raise bad(f"{name} must be a non-empty string of at most {limit} characters")
    return value


def whole(message: Message, name: str, default: int | None = None) -> int:
    value = message.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise bad(f"{name} must be a whole number, 0 or more")
    return value


def seconds(message: Message, name: str, default: float) -> float:
    value = message.get(name, default)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= 600:
        raise bad(f"{name} must be seconds between 0 and 600")
    return float(value)


def size_of(message: Message) -> Size:
    cols, rows = whole(message, "cols"), whole(message, "rows")
    return Size(min(max(cols, 1), 1000), min(max(rows, 1), 1000))


def signal_of(message: Message) -> signal.Signals:
    name = text(message, "signal")
    if name not in SIGNALS:
        raise bad(f"signal must be one of {', '.join(SIGNALS)}")
    return SIGNALS[name]


def spawn_of(message: Message) -> SpawnRequest:
    argv = [raw(part, "argv") for part in _list(message.get("argv"), "argv")]
    if not argv or not argv[0]:
        raise bad("argv must name a program")
    return SpawnRequest(
        session=session_of(message),
        argv=argv,
        env=_environment(message.get("env")),
        cwd=raw(message.get("cwd"), "cwd"),
        cwd_stat=_pair(message.get("cwd_stat")),
        pty=None if message.get("pty") is None else size_of(_object(message["pty"], "pty")),
        spool_cap=max(1, whole(message, "spool_cap", DEFAULT_SPOOL_CAP)),
        spawn_id=None if message.get("spawn_id") is None else text(message, "spawn_id", 128),
        umask=None if message.get("umask") is None else whole(message, "umask") & 0o777,
        label=label_of(message),
    )


def label_of(message: Message) -> str:
    """The client's own label for the session; the keeper does not read it."""
    return "" if message.get("label") is None else text(message, "label", MAX_LABEL)


def bad(message: str) -> Refused:
    return Refused("bad_request", message)


def _environment(value: Any) -> dict[bytes, bytes]:
    env: dict[bytes, bytes] = {}
    for name, content in _object(value, "env").items():
        variable = raw(name, "env")
        if not variable or b"=" in variable:
            raise bad("env has an empty name or one with '='")
        env[variable] = raw(content, "env")
    return env


def raw(value: Any, name: str) -> bytes:
    if not isinstance(value, str) or "\0" in value:
        raise bad(f"{name} must be made of strings without NUL")
    try:
        return os.fsencode(value)
    except UnicodeEncodeError as error:
        raise bad(f"{name} holds a character that cannot be passed to a program") from error


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise bad(f"{name} must be a list")
    return cast(list[Any], value)


def _object(value: Any, name: str) -> Message:
    if not isinstance(value, dict):
        raise bad(f"{name} must be an object")
    return cast(Message, value)


def _pair(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    pair = _list(value, "cwd_stat")
    if len(pair) != 2 or not all(isinstance(part, int) for part in pair):
        raise bad("cwd_stat must be [device, inode]")
    return pair[0], pair[1]
