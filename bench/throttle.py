"""A share of a processor for one process: a control group of its own, which the bench makes and removes.

With version 2 of control groups the group is made where this process is root and `cpu` is handed down; with
version 1 below the controller `cpu`. The period is short, so that a process that has used up its share waits
for some milliseconds and not for a tenth of a second.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PERIOD = 10_000  # microseconds
REMOVE_SECONDS = 5.0


class Throttle:
    """One group for one process. It holds nobody up outside of `holding`."""

    def __init__(self, name: str, percent: int) -> None:
        self.percent = percent
        self._parent, self._is_v2 = _place()
        self._group = self._parent / f"bascule-bench-{os.getpid()}-{name}"
        self._group.mkdir()

    def take(self, pid: int) -> None:
        """This process with all its threads."""
        (self._group / "cgroup.procs").write_text(str(pid))

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        self._allow(PERIOD * self.percent // 100)
        try:
            yield
        finally:
            self._allow(None)

    @property
    def times(self) -> int:
        """How often it was held up."""
        words = (self._group / "cpu.stat").read_text().split()
        return int(words[words.index("nr_throttled") + 1])

    def close(self) -> None:
        """Its process, if it still runs, goes back to the group it came from."""
        deadline = time.monotonic() + REMOVE_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):  # one that just ended is counted for a moment
                for pid in (self._group / "cgroup.procs").read_text().split():
                    (self._parent / "cgroup.procs").write_text(pid)
                self._group.rmdir()
                return
            time.sleep(0.05)

    def _allow(self, microseconds: int | None) -> None:
        if self._is_v2:
            quota = "max" if microseconds is None else str(microseconds)
            (self._group / "cpu.max").write_text(f"{quota} {PERIOD}")
            return
        (self._group / "cpu.cfs_period_us").write_text(str(PERIOD))
        (self._group / "cpu.cfs_quota_us").write_text("-1" if microseconds is None else str(microseconds))


def reason_not_to() -> str:
    """Why no process can be throttled here; empty when one can."""
    try:
        trial = Throttle("trial", 10)
    except OSError as error:
        return f"no control group with a share of a processor can be made here ({error.strerror})"
    try:
        with trial.holding():
            return ""
    except OSError as error:
        return f"a control group can't be given a share of a processor here ({error.strerror})"
    finally:
        trial.close()


def _place() -> tuple[Path, bool]:
    """The group below which ours are made, and whether it is of version 2."""
    with contextlib.suppress(OSError):
        if "cpu" in (ROOT / "cgroup.subtree_control").read_text().split():
            return ROOT, True
    return ROOT / "cpu", False
