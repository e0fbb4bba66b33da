"""Marks the programs that are only asked for their version or login, and ends those a killed server left."""

import hashlib
import os
import signal
from pathlib import Path

MARK = "BASCULE_PROBE"
MAX_LOOKS = 20
PIECE = 64 * 1024


def mark_of(folder: Path) -> str:
    """What the probes of the server with this state folder carry in their environment."""
    return hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]


def sweep_probes(mark: str) -> int:
    """End every process that carries this mark. How many there were; none where there is no /proc.

    Called by the only server of a state folder when it starts, and when it stops. A probe may start another
    process while we look, so this looks again until it finds none.
    """
    wanted = f"{MARK}={mark}".encode()
    ended = 0
    for _ in range(MAX_LOOKS):
        found = sum(_end(pid, wanted) for pid in _all() if _carries(pid, wanted))
        if not found:
            break
        ended += found
    return ended


def _all() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _carries(pid: int, wanted: bytes) -> bool:
    """Whether a process has this variable in its environment. All processes are looked at in each start."""
    try:
        descriptor = os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # gone, or another user's
        return False
    try:
        environment = b""
        while piece := os.read(descriptor, PIECE):
            environment += piece
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return wanted in environment and wanted in environment.split(b"\0")


def _end(pid: int, wanted: bytes) -> bool:
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        # Looked at again: from the opening on, the handle can't come to mean another process.
        if not _carries(pid, wanted):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
