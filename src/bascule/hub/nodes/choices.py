"""Settings shared by all nodes of a hub: its notification channels, and the keys that belong to them."""

import asyncio
import logging
import os

from bascule.notify.book import DENY_KEY
from bascule.notify.web_push import FILE as PUSH_KEY
from bascule.notify.web_push import b64
from bascule.store.connection import Connection
from bascule.store.protocols import BookStore
from bascule.store.transaction import Transaction

log = logging.getLogger("bascule.hub")

ALL = "SELECT name, value FROM choices"
PUT = "INSERT OR REPLACE INTO choices (name, value) VALUES (?, ?)"
MAKE = "INSERT OR IGNORE INTO choices (name, value) VALUES (?, ?)"


class SharedChoices:
    """A `Keep` in the database. In memory, too; made by `open`."""

    def __init__(self, store: BookStore, choices: dict[str, bytes]) -> None:
        self._store, self._choices = store, choices
        self._unwritten: dict[str, bytes] = {}  # the newest of each name that is on its way to the database

    @classmethod
    async def open(cls, store: BookStore) -> "SharedChoices":
        """Keys are made here, so that nodes that start together have the same ones."""

        def make(transaction: Transaction) -> dict[str, bytes]:
            secret = os.urandom(32)
            scalar = bytes((secret[0] & 0x7F,)) + secret[1:]  # below the order of the curve
            transaction.connection.execute(MAKE, (PUSH_KEY, b64(scalar).encode()))
            transaction.connection.execute(MAKE, (DENY_KEY, os.urandom(32)))
            return _load(transaction.connection)

        return cls(store, await store.transact(make))

    async def reload(self) -> None:
        """What other nodes have chosen. What was chosen here since it was read is newer, and stays."""
        stored = await self._store.transact(lambda transaction: _load(transaction.connection), sync=False)
        self._choices = stored | self._unwritten

    def read(self, name: str) -> bytes | None:
        return self._choices.get(name)

    def write(self, name: str, data: bytes) -> None:
        """It holds here at once, and at the other nodes within two seconds."""
        self._choices[name] = self._unwritten[name] = data

        def put(transaction: Transaction) -> None:
            transaction.connection.execute(PUT, (name, data))

        def written(done: "asyncio.Future[None]") -> None:
            if self._unwritten.get(name) is data:
                del self._unwritten[name]
            if not done.cancelled() and (error := done.exception()) is not None:
                log.warning("a choice could not be stored: %s", error)

        self._store.transact(put).add_done_callback(written)


def _load(connection: Connection) -> dict[str, bytes]:
    return {name: bytes(value) for name, value in connection.execute(ALL)}
