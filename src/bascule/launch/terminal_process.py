"""Starts a terminal in a session of its own, which outlives us, and tells when its process ends."""

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from bascule.launch.errors import LaunchError
from bascule.launch.private_folder import failed

MAX_COMPLAINT = 2000


class TerminalProcess:
    """`on_exit` is called in a thread of ours, with the exit code.

    Not an asyncio subprocess: those are killed with their loop, and a person's window must not be.
    """

    def __init__(self, argv: list[str], env: dict[str, str], folder: Path, stdin: str) -> None:
        try:
            self._complaint = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - lives as long as the launch
        except OSError as error:
            raise failed(error) from error
        try:
            self._process = subprocess.Popen(
                argv,
                env=env,
                cwd=os.path.expanduser("~"),
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._complaint,
                start_new_session=True,
            )
        except OSError as error:
            self._complaint.close()
            message = f"Failed to open terminal: {os.path.basename(argv[0])} can't be started"
            raise LaunchError("terminal_spawn_failed", f"{message} ({error.strerror}).") from error
        if self._process.stdin is not None:
            with self._process.stdin as pipe:
                pipe.write(stdin.encode())

    def watch(self, on_exit: Callable[[int], None]) -> None:
        def wait() -> None:
            on_exit(self._process.wait())

        threading.Thread(target=wait, name=f"terminal {self._process.pid}", daemon=True).start()

    def complaint(self) -> str:
        """What it printed on stderr, for the log."""
        said = os.pread(self._complaint.fileno(), MAX_COMPLAINT, 0).decode("utf-8", "replace")
        return " ".join(said.split())

    def forget(self) -> None:
        """The launch is settled: what the terminal still prints is not for us."""
        self._complaint.close()

    def kill(self) -> None:
        """End one that opened no window in time, before it opens one that nobody expects."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
