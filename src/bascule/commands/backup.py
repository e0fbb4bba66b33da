"""`bascule backup` and `bascule restore`: a server's database as one file, and back."""

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from bascule import __version__
from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.request_prompt import command_line
from bascule.config import load
from bascule.model.errors import InvalidInput
from bascule.state_folder import prepare, remove_note
from bascule.store.backup import back_up
from bascule.store.backup import restore as put_back

DATABASE = "bascule.db"
EVERY_SECONDS = 1.0
MEGABYTE = 1_000_000
PG_DUMP = "A hub on PostgreSQL is backed up with pg_dump: docs/scaling.md says how."


class Progress:
    """Says every second how far a copy is; nothing when it takes less."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said_at = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._said_at >= EVERY_SECONDS:
            self._said_at = now
            self._console.line(f"{done / MEGABYTE:,.0f} of {total / MEGABYTE:,.0f} MB")


def backup(args: argparse.Namespace) -> int:
    settings = load({"data_dir": args.data})
    if settings.store:
        raise InvalidInput(f"This hub's database is not in its state folder. {PG_DUMP}")
    database = Path(settings.data_dir) / DATABASE
    if not database.is_file():
        raise InvalidInput(f"There is no database at {database}. Name a state folder with --data. {PG_DUMP}")
    target = Path(args.file).expanduser() if args.file else Path(_name())
    if target.exists():
        raise InvalidInput(f"{target} exists already. Name another FILE.")
    made = back_up(database, target, __version__, time.time, Progress(Console(sys.stderr)))
    print(f"{target}: {made.sessions:,} sessions, {made.records:,} audit records, of {made.at}.")
    print(f"It holds what people and agents wrote, and no links. Restore: {command_line('restore', 'FILE')}")
    return exits.OK


def _name() -> str:
    return f"bascule-backup-{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}.db"


def restore(args: argparse.Namespace) -> int:
    settings = load({"data_dir": args.data})
    if settings.store:
        raise InvalidInput(f"This hub's database is not in its state folder. {PG_DUMP}")
    folder, file = Path(settings.data_dir), Path(args.file).expanduser()
    prepare(folder)
    progress = Progress(Console(sys.stderr))
    made = put_back(file, folder / DATABASE, time.time, progress, replace=args.replace)
    remove_note(folder)
    print(f"Restored to {folder}: {made.sessions:,} sessions, {made.records:,} audit records, of {made.at}.")
    if made.aside is not None:
        print(f"The previous database is kept at {made.aside}. Delete it once you don't need it.")
    print(
        "Links made before then no longer work; the next start prints a new one. Machines have to join again."
    )
    return exits.OK
