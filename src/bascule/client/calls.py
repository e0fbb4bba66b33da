"""Calls of a server by name, over one connection that is made again when it was lost."""

import asyncio
import contextlib
import secrets
from pathlib import Path
from typing import Any, TypeVar

from bascule.client.address import Address, Unreachable, local
from bascule.client.log_follower import LogFollower, decoded
from bascule.client.server_connection import Connection
from bascule.model.errors import BasculeError

REPLY_SECONDS = 60

T = TypeVar("T")


class Calls:
    def __init__(
        self, address: Address, *, patience: float = 600, data_dir: str | Path | None = None
    ) -> None:
        self.address = address
        self.patience = patience  # seconds without a connection before `events` gives up
        self._data_dir = data_dir  # a local server that restarts leaves a new key there
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._follower = LogFollower(self._request, self._unsubscribe, self.look_again)

    def look_again(self) -> None:
        """A local server that came back may have left a new address."""
        if self._data_dir is not None:
            with contextlib.suppress(Unreachable):  # still down: the next try says so
                self.address = local(self._data_dir)

    async def _connected(self) -> Connection:
        async with self._connecting:
            if self._connection is None or self._connection.lost:
                self._connection = await Connection.open(
                    self.address, self._follower.pushed, self._follower.end_all
                )
            return self._connection

    async def _unsubscribe(self, session_id: str) -> None:
        connection = self._connection
        if connection is not None and not connection.lost:
            # Best effort: a connection that closes unsubscribes as well.
            with contextlib.suppress(BasculeError):
                await connection.request("session:unsubscribe", {"sessionId": session_id}, timeout=5)

    async def _request(self, kind: str, fields: dict[str, Any]) -> bytes:
        connection = await self._connected()
        given = {name: value for name, value in fields.items() if value is not None}
        return await connection.request(kind, given, REPLY_SECONDS)

    async def _command(self, kind: str, fields: dict[str, Any], result: type[T] = dict[str, Any]) -> T:
        return decoded(kind, await self._request(kind, fields), result)

    async def _keyed(self, kind: str, fields: dict[str, Any], result: type[T]) -> T:
        """A command that may be sent twice: its key lets the server know it again."""
        return await self._read(kind, {**fields, "key": secrets.token_hex(16)}, result)

    async def _read(self, kind: str, fields: dict[str, Any], result: type[T]) -> T:
        try:
            reply = await self._request(kind, fields)
        except Unreachable:
            reply = await self._request(kind, fields)
        return decoded(kind, reply, result)
