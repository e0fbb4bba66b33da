"""Restores: that an older copy of this database was put in place, for people to see and for the audit log.

The store notices it by its marks (`continuity`), `bascule restore` writes it down, and machines that have
joined report it: they know how many of their rows this hub had acknowledged. The first of them begins
the note, and the others add to it.
"""

from datetime import UTC, datetime, timedelta

import msgspec
from msgspec import Struct, structs

from bascule.model.codec import encode, timestamp
from bascule.store.base import AuditRecord
from bascule.store.connection import Connection
from bascule.store.protocols import BookStore
from bascule.store.transaction import Transaction

SHOWN = timedelta(days=30)
SAME = timedelta(days=1)  # in which reports of machines belong to one restore
MAX_MACHINES = 1000

READ = "SELECT value FROM meta WHERE name = 'restored'"
KEEP = "INSERT OR REPLACE INTO meta (name, value) VALUES ('restored', ?)"
AGAIN = (
    "{rows:,} rows of {device} that this hub had acknowledged are not in its database: an older copy was put "
    "back. The machine sends them again."
)


class Restore(Struct, frozen=True, omit_defaults=True):
    """`records`: of the audit log, that are missing. `backup_at`: when the backup was made, if it was one."""

    at: str
    records: int = 0
    backup_at: str = ""
    sent_again: dict[str, int] = {}  # rows, by the machine that has them


def read(connection: Connection) -> Restore | None:
    row = connection.execute(READ).fetchone()
    try:
        return None if row is None else msgspec.json.decode(bytes(row[0]), type=Restore)
    except msgspec.MsgspecError:
        return None  # of another version


def keep(connection: Connection, restore: Restore) -> None:
    connection.execute(KEEP, (encode(restore),))


class RestoreBook:
    """The last restore, in memory too."""

    def __init__(self, store: BookStore, last: Restore | None = None) -> None:
        self._store = store
        self._last = last

    @classmethod
    async def open(cls, store: BookStore) -> "RestoreBook":
        return cls(store, await store.query(read))

    @property
    def shown(self) -> Restore | None:
        """The last one, while people may want to know of it."""
        return self._last if self._last is not None and self._age(self._last) < SHOWN else None

    def _age(self, restore: Restore) -> timedelta:
        return datetime.fromtimestamp(self._store.clock(), UTC) - datetime.fromisoformat(restore.at)

    async def reload(self) -> None:
        """Other nodes of this hub have heard of it."""
        self._last = await self._store.transact(lambda transaction: read(transaction.connection), sync=False)

    async def sent_again(self, device: str, rows: int) -> bool:
        """A machine says that this hub has lost rows. False when it had said so: it may connect often."""

        def write(transaction: Transaction) -> tuple[Restore | None, bool]:
            # As it is now: another node may have added a machine.
            known = read(transaction.connection)
            last = known
            if last is None or self._age(last) >= SAME:
                last = Restore(timestamp(self._store.clock()))
            if device in last.sent_again or len(last.sent_again) >= MAX_MACHINES:
                return known, False
            restore = structs.replace(last, sent_again={**last.sent_again, device: rows})
            keep(transaction.connection, restore)
            detail = AGAIN.format(rows=rows, device=device)
            transaction.audit([AuditRecord("restored", device, detail=detail)])
            return restore, True

        self._last, is_new = await self._store.transact(write)
        return is_new
