"""What people choose for all nodes of a hub (channels of notifications), and the keys that belong to it."""

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
        self._choices = await self._store.transact(
            lambda transaction: _load(transaction.connection), sync=False
        )

    def read(self, name: str) -> bytes | None:
        return self._choices.get(name)

    def write(self, name: str, data: bytes) -> None:
        """It holds here at once, and at the other nodes within two seconds."""
        self._choices[name] = data

        def put(transaction: Transaction) -> None:
            transaction.connection.execute(PUT, (name, data))

        self._store.transact(put).add_done_callback(_written)


def _load(connection: Connection) -> dict[str, bytes]:
    return {name: bytes(value) for name, value in connection.execute(ALL)}


def _written(done: "asyncio.Future[None]") -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        log.warning("a choice could not be stored: %s", error)
