"""The lock file beside the database: one process at a time; it also records a clean shutdown."""

import fcntl
import os
import time
from pathlib import Path

from bascule.model.errors import AlreadyRunning
from bascule.model.process_ids import pid_exists

# That a program which a killed server was just starting has to begin: until then it holds the lock, too.
RELEASE_SECONDS = 5.0
RETRY_SECONDS = 0.01


class Lock:
    """Held while the store is open; the kernel releases it however the process ends."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + ".lock")
        self._descriptor = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        os.fchmod(self._descriptor, 0o600)
        if not self._take():
            pid = self._holder()
            os.close(self._descriptor)
            raise AlreadyRunning(
                f"Bascule is already running (pid {pid or 'unknown'}) with {database}.", pid=pid
            )
        words = self._words()
        self._before = words[1] if len(words) > 1 else "closed"
        self._say("open" if self.left_open else "starting")

    @property
    def left_open(self) -> bool:
        """Whether the run before this one ended without closing the database."""
        return self._before == "open"

    def opened(self) -> None:
        self._say("open")

    def closed(self) -> None:
        self._say("closed")

    def release(self) -> None:
        os.close(self._descriptor)

    def _take(self) -> bool:
        deadline = time.monotonic() + RELEASE_SECONDS
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pid = self._holder()
                if pid is None or pid_exists(pid) or time.monotonic() >= deadline:
                    return False
                time.sleep(RETRY_SECONDS)
            else:
                return True

    def _holder(self) -> int | None:
        words = self._words()
        return int(words[0]) if words and words[0].isdigit() else None

    def _words(self) -> list[str]:
        return os.pread(self._descriptor, 100, 0).decode("ascii", "replace").split()

    def _say(self, state: str) -> None:
        text = f"{os.getpid()} {state}\n".encode()
        os.pwrite(self._descriptor, text, 0)
        os.ftruncate(self._descriptor, len(text))
