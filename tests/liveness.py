"""Whether a process that the keeper named still runs; and an end for all that have a home in common."""

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Protocol

from tests.waiting import PATIENCE

from bascule.keeper import procs


class Named(Protocol):
    @property
    def pid(self) -> int: ...
    @property
    def started(self) -> int: ...
    @property
    def boot(self) -> str: ...


def is_alive(process: Named) -> bool:
    """True only for the same pid, start time and boot: a pid alone may be reused. A zombie is not alive."""
    if process.boot != procs.boot():
        return False
    found = procs.read(process.pid)
    return found is not None and not found.zombie and found.started == process.started


def end_all_at_home(home: Path) -> None:
    """Kill every process with this home folder, and wait: none may write there when it is removed."""
    deadline = time.monotonic() + PATIENCE
    while _kill_all_at_home(home):  # one may have started another meanwhile
        assert time.monotonic() < deadline, "a process does not end"
        time.sleep(0.01)


def _kill_all_at_home(home: Path) -> int:
    """How many there were."""
    found = 0
    for one in Path("/proc").iterdir():
        if one.name.isdigit() and int(one.name) != os.getpid():
            with contextlib.suppress(OSError):
                if f"HOME={home}\0".encode() in (one / "environ").read_bytes():
                    os.kill(int(one.name), signal.SIGKILL)
                    found += 1
    return found
