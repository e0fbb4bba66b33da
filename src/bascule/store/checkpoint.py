"""Checkpoints SQLite's write-ahead log into the database, on a thread beside the writer."""

import logging
import sqlite3
import threading
from pathlib import Path
from queue import SimpleQueue

log = logging.getLogger(__name__)

# Bytes written between two checkpoints; more would only make the log, and the next opening, longer.
EVERY_BYTES = 4 * 1024 * 1024
# Pages in the log at which the writer does it after all: a flood may leave the checkpointer no gap.
BACKSTOP_PAGES = 16 * 1024


class Checkpointer:
    """A thread of its own: a checkpoint waits for the disk, and nobody's commit should wait with it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unfolded = 0
        self.asked = self.finished = 0  # checkpoints
        self._commands: SimpleQueue[bool] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="store checkpointer", daemon=True)
        self._thread.start()

    def wrote(self, size: int) -> None:
        """Called by the writer after each commit."""
        self._unfolded += size
        if self._unfolded >= EVERY_BYTES:
            self._unfolded = 0
            self.asked += 1
            self._commands.put(True)

    def close(self) -> None:
        self._commands.put(False)
        self._thread.join()

    def _run(self) -> None:
        while self._commands.get():
            try:
                self._checkpoint()
            except sqlite3.Error as error:
                # Nothing is lost, the log keeps it all; the writer's own checkpoint meets the fault too.
                log.debug("checkpoint put off: %s", error)
            self.finished += 1

    def _checkpoint(self) -> None:
        # Only a file that is there: an empty one in place of one that was removed would hide the loss.
        place = f"{self._path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(place, uri=True, isolation_level=None)
        try:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        finally:
            connection.close()
