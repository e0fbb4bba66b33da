"""Stored comparisons: their sessions, their work trees, and which result was kept."""

import msgspec

from bascule.model.codec import encode
from bascule.model.commands import Actor
from bascule.model.comparisons import Comparison
from bascule.model.errors import CallerError, StoreDamaged
from bascule.store.base import AuditRecord
from bascule.store.connection import Connection
from bascule.store.protocols import BookStore
from bascule.store.rows import check, checksum
from bascule.store.transaction import Transaction

ALL = "SELECT id, body, crc FROM comparisons ORDER BY n DESC LIMIT ?"
ONE = "SELECT id, body, crc FROM comparisons WHERE id = ?"
BY_KEY = "SELECT id, body, crc FROM comparisons WHERE key = ?"
INSERT = "INSERT INTO comparisons (id, key, body, crc) VALUES (?, ?, ?, ?)"
CHANGE = "UPDATE comparisons SET body = ?, crc = ? WHERE id = ?"
REMOVE = "DELETE FROM comparisons WHERE id = ?"
MAX_LISTED = 200

_decoder = msgspec.json.Decoder(Comparison)


class ComparisonNotFound(CallerError):
    code = "COMPARISON_NOT_FOUND"


class ComparisonBook:
    """Over the same database as the logs; every change is on disk before it is reported."""

    def __init__(self, store: BookStore) -> None:
        self._store = store

    async def list(self) -> "list[Comparison]":
        """The newest first."""
        found, damaged = await self._store.query(_all)
        self._store.remember(damaged)
        return found

    async def get(self, comparison_id: str) -> Comparison:
        """Raises `ComparisonNotFound`."""
        found = await self._store.query(lambda connection: _one(connection, ONE, comparison_id))
        if found is None:
            raise ComparisonNotFound("There is no such comparison.")
        return found

    async def with_key(self, key: str) -> Comparison | None:
        """The comparison that was started with this idempotency key."""
        return await self._store.query(lambda connection: _one(connection, BY_KEY, key))

    async def add(self, one: Comparison, key: str | None) -> None:
        body, crc = _body(one)
        await self._write(INSERT, (one.id, key, body, crc))

    async def change(self, one: Comparison, by: Actor | None = None, detail: str = "") -> None:
        """With a word in the audit log when a person did it."""
        body, crc = _body(one)

        def write(transaction: Transaction) -> None:
            transaction.connection.execute(CHANGE, (body, crc, one.id))
            if by is not None:
                transaction.audit([AuditRecord.of(by, "worktree", detail=detail)])

        await self._store.transact(write)

    async def remove(self, comparison_id: str) -> None:
        """Removes a comparison that never started."""
        await self._write(REMOVE, (comparison_id,))

    async def _write(self, statement: str, values: tuple[object, ...]) -> None:
        def write(transaction: Transaction) -> None:
            transaction.connection.execute(statement, values)

        await self._store.transact(write)


def _all(connection: Connection) -> tuple[list[Comparison], list[StoreDamaged]]:
    sound: list[Comparison] = []
    damaged: list[StoreDamaged] = []
    for values in connection.execute(ALL, (MAX_LISTED,)):
        try:
            sound.append(_decoded(*values))
        except StoreDamaged as damage:
            damaged.append(damage)
    return sound, damaged


def _one(connection: Connection, statement: str, value: str) -> Comparison | None:
    values = connection.execute(statement, (value,)).fetchone()
    return None if values is None else _decoded(*values)


def _decoded(comparison_id: str, body: object, crc: object) -> Comparison:
    return _decoder.decode(check(f"comparison {comparison_id}", 0, body, crc, "record"))


def _body(one: Comparison) -> tuple[bytes, int]:
    body = encode(one)
    return body, checksum(f"comparison {one.id}", 0, body)
