"""The keeper's own log: a bounded file that also receives what Python prints on stderr."""

import os
import time

MAX_BYTES = 1024 * 1024


class Log:
    def __init__(self, path: str, stderr_too: bool) -> None:
        self._path = path
        self._stderr_too = stderr_too
        self._fd = -1
        self._open()

    def write(self, text: str) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        try:
            if os.fstat(self._fd).st_size > MAX_BYTES:
                os.replace(self._path, self._path + ".1")
                self._open()
            os.write(self._fd, f"{stamp} {text}\n".encode(errors="replace"))
        except OSError:
            # A full disk must not end the keeper; clients hear of it by notice, and there is no other place.
            return

    def _open(self) -> None:
        fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = fd
        if self._stderr_too:
            os.dup2(fd, 2)
