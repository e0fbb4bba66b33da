"""Detects conversations that are open in a terminal, from the small file an agent keeps per process.

Beside those files lie keys. Only names that are a number and `.json` are opened.
"""

import os
from collections.abc import Callable

import msgspec
from msgspec import Struct

from bascule.daemon.files.confined import ConfinedFolder
from bascule.daemon.files.folder_listing import read_bytes
from bascule.daemon.found.places import spot
from bascule.link.found import OpenTerminal, TerminalStatus
from bascule.model.errors import BasculeError

MAX_NOTE = 64 * 1024
STATUSES: dict[str, TerminalStatus] = {"idle": "idle", "waiting": "waiting", "busy": "working"}


class _Note(Struct, rename="camel"):
    pid: int
    session_id: str
    kind: str = ""
    status: str = ""
    waiting_for: str = ""
    proc_start: str | None = None


_note = msgspec.json.Decoder(_Note)


def open_terminals(
    home: str, own: tuple[str, ...], pattern: str, alive: Callable[[int, str | None], bool]
) -> dict[str, OpenTerminal]:
    """By the agent's own id of the conversation. `alive(pid, start)` says whether that very process runs."""
    found: dict[str, OpenTerminal] = {}
    for spotted in spot(home, pattern):
        name = spotted.path.rsplit("/", 1)[-1]
        if not name.removesuffix(".json").isdecimal() or not 0 < spotted.size <= MAX_NOTE:
            continue
        note = _read(home, own, spotted.path)
        if note is None or note.kind != "interactive" or str(note.pid) != name.removesuffix(".json"):
            continue
        if alive(note.pid, note.proc_start):
            status = STATUSES.get(note.status, "working")
            waiting = " ".join(note.waiting_for.split())[:200] if status == "waiting" else ""
            found[note.session_id] = OpenTerminal(note.pid, status, waiting)
    return found


def _read(home: str, own: tuple[str, ...], path: str) -> _Note | None:
    try:
        with ConfinedFolder(home, own).file(path) as (descriptor, _):
            return _note.decode(read_bytes(descriptor, MAX_NOTE))
    except (BasculeError, OSError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return None  # it is being written, or it is no such note


def process_lives(pid: int, start: str | None) -> bool:
    """Whether the pid runs, is ours, and has the noted start time. A pid alone may have been reused."""
    if not 1 < pid < 2**31:
        return False
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.geteuid():
            return False
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read(4096).rpartition(b")")[2].split()
    except FileNotFoundError:
        return _may_signal(pid) if not os.path.exists("/proc/self") else False
    except OSError:
        return False
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return False
    return start is None or not start.isdecimal() or fields[19].decode() == start


def _may_signal(pid: int) -> bool:
    """Whether it runs and is ours, where there is no /proc."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
