"""Processes in /proc: identity by pid and start time, environment marks, and signals by pidfd."""

import ctypes
import os
import signal
from typing import NamedTuple

SESSION_MARK = "BASCULE_SESSION"
KEEPER_MARK = "BASCULE_KEEPER"
_PR_SET_CHILD_SUBREAPER = 36


class Proc(NamedTuple):
    pid: int
    started: int
    parent: int
    group: int
    session: int
    zombie: bool


def read(pid: int) -> Proc | None:
    """The process's entry in /proc, or None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            text = file.read()
    except OSError:
        return None
    # The command name may hold spaces and parentheses; everything after the last one is numbers.
    fields = text[text.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        return None
    return Proc(
        pid, int(fields[19]), int(fields[1]), int(fields[2]), int(fields[3]), fields[0] in (b"Z", b"X")
    )


def started(pid: int) -> int:
    proc = read(pid)
    return proc.started if proc else 0


def boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


def everyone() -> list[Proc]:
    """A snapshot of all processes we could own; empty where there is no /proc."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    procs = (read(int(name)) for name in names if name.isdigit())
    return [proc for proc in procs if proc]


def marks(pid: int) -> dict[str, str]:
    """The two marks a process carries in the environment it was started with."""
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            text = file.readall()
    except OSError:
        return {}
    found: dict[str, str] = {}
    for entry in text.split(b"\0"):
        if entry.startswith(b"BASCULE_"):
            name, _, value = entry.decode(errors="replace").partition("=")
            if name in (SESSION_MARK, KEEPER_MARK):
                found[name] = value
    return found


def send(pid: int, start: int, number: signal.Signals) -> bool:
    """Signal exactly the process that had this pid at this start time; False when it is gone."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        # Checked after opening: from here on the handle cannot come to mean another process.
        if started(pid) != start:
            return False
        signal.pidfd_send_signal(handle, number)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def become_subreaper() -> bool:
    """Have orphaned grandchildren come to us instead of init, so that they can be found and ended."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False


def own_children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/self/task/{me}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return [proc.pid for proc in everyone() if proc.parent == me]
