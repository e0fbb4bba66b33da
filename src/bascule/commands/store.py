"""`bascule store copy`: moves a hub from its SQLite file to PostgreSQL."""

import argparse
import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.server_address import data_dir_of
from bascule.model.errors import InvalidInput
from bascule.notify.book import DENY_KEY
from bascule.notify.book import FILE as NOTIFICATIONS
from bascule.notify.keep import FolderKeep
from bascule.notify.web_push import FILE as PUSH_KEY
from bascule.store.heads import Heads
from bascule.store.health import open_sound
from bascule.store.lock import Lock
from bascule.store.revoked_grants import RevokedGrants

if TYPE_CHECKING:
    from bascule.store.postgres.copying import Kept

DATABASE = "bascule.db"
EVERY_SECONDS = 1.0


class Progress:
    """Says how far a copy is: each table once it is done, and every second."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said_at = 0.0

    def __call__(self, table: str, done: int, total: int) -> None:
        now = time.monotonic()
        if total and (done == total or now - self._said_at >= EVERY_SECONDS):
            self._said_at = now
            self._console.line(f"{table}: {done:,} of {total:,}")


async def copy(args: argparse.Namespace) -> int:
    if not args.to.startswith(("postgresql://", "postgres://")):
        raise InvalidInput(
            "--to is not the address of a PostgreSQL database: postgresql://user@host/database"
        )
    rows = await asyncio.to_thread(_copy, _database(args), args.to)
    Console().line(f"Copied {rows:,} rows, all compared. Now start: bascule hub --store {args.to}")
    return exits.OK


def _copy(path: Path, url: str) -> int:
    from bascule.store.postgres.copying import copy_store

    lock = Lock(path)
    try:
        source, problem = open_sound(path, lock, time.time)
        if problem is not None:
            raise problem
        try:
            progress = Progress(Console(sys.stderr))
            return copy_store(source, url, _kept(path), progress, time.time).total
        finally:
            source.close()
            lock.closed()
    finally:
        lock.release()


def _kept(database: Path) -> "Kept":
    """What the hub has in files and all nodes share. Limits, tunnels and the clock of grants
    stay there: they are each node's own."""
    from bascule.store.postgres.copying import Kept

    folder = database.parent
    files = FolderKeep(folder)
    hub = (files.read("device") or b"").decode().strip()
    kept = {name: files.read(name) for name in (NOTIFICATIONS, DENY_KEY, PUSH_KEY)}
    choices = {name: data for name, data in kept.items() if data is not None}
    return Kept(hub, choices, RevokedGrants(folder, time.time()), Heads(database))


def _database(args: argparse.Namespace) -> Path:
    """A state folder, the file in it, or the usual state folder."""
    named = Path(args.source).expanduser() if args.source else Path(data_dir_of(args))
    path = named / DATABASE if named.is_dir() else named
    if not path.is_file():
        raise InvalidInput(f"There is no database at {path}. Name a hub's state folder with --from.")
    return path
