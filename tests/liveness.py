"""Whether a process that the keeper named still runs."""

from typing import Protocol

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
