"""Ends the keeper of a state folder: it outlives its server, and writes into that folder until it is gone."""

import json
import os
import select
import signal
from contextlib import suppress
from pathlib import Path

from tests.waiting import PATIENCE


def end_keeper(data: Path) -> None:
    """Returns once it is gone. Nothing happens where none runs."""
    with suppress(FileNotFoundError, ProcessLookupError):
        pid = json.loads((data / "keeper" / "keeper.lock").read_text())["pid"]
        watch = os.pidfd_open(pid)
        try:
            os.kill(pid, signal.SIGTERM)
            gone = select.poll()
            gone.register(watch, select.POLLIN)
            assert gone.poll(PATIENCE * 1000), f"the keeper {pid} goes on"
        finally:
            os.close(watch)
