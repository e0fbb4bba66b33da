"""The SQLite store: a database in the state folder, for a daemon, a hub, or both in one process."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

from bascule.model.errors import StorageFailed
from bascule.store.continuity import go_on
from bascule.store.database import DatabaseStore
from bascule.store.heads import Heads
from bascule.store.health import open_sound, quarantined
from bascule.store.lock import Lock
from bascule.store.reader import Readers, connect_read_only
from bascule.store.sqlite_engine import SqliteEngine
from bascule.store.sqlite_errors import in_our_words


class SqliteStore(DatabaseStore):
    """A `HubStore`, a `DaemonStore`, a `SourceStore` and a `BookStore`. Made by `open`."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        problem: StorageFailed | None,
        lock: Lock,
        clock: Callable[[], float],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        heads = Heads(path)
        epoch, self.behind = go_on(connection, heads, clock)
        self.path = path
        self.quarantined = quarantined(path)
        readers = Readers(lambda: connect_read_only(path), in_our_words, loop)
        self.engine = SqliteEngine(path, connection, heads, lock)
        super().__init__(self.engine, readers, epoch, problem, clock, loop)

    @classmethod
    def open(
        cls, path: Path | str, *, clock: Callable[[], float], loop: asyncio.AbstractEventLoop
    ) -> "SqliteStore":
        """Open or make the database. Raises `AlreadyRunning`, `StoreDamaged`, `StoreRefused`."""
        path = Path(path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = Lock(path)
        try:
            connection, problem = open_sound(path, lock, clock)
        except BaseException:
            lock.release()
            raise
        return cls(path, connection, problem, lock, clock, loop)
