"""Which requests people were told of outside the page, and by which channels, for a hub that is restarted."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bascule.store.connection import Connection
from bascule.store.protocols import BookStore
from bascule.store.transaction import Transaction

log = logging.getLogger(__name__)

Key = tuple[str, str]  # a session, and one of its requests or what its guard rail asks
Statement = tuple[str, tuple[object, ...]]

TELL = "INSERT OR REPLACE INTO told_notices (session_id, request_id, tag) VALUES (?, ?, ?)"
SEND = "INSERT OR IGNORE INTO told_channels (tag, channel) VALUES (?, ?)"
SHOWN = "UPDATE told_channels SET shown = 1 WHERE tag = ? AND channel = ?"
OVER = "DELETE FROM told_channels WHERE tag = ? AND channel = ?"
FORGET = "DELETE FROM told_channels WHERE channel = ?"
SWEEP = "DELETE FROM told_notices WHERE tag NOT IN (SELECT tag FROM told_channels)"


class Told(NamedTuple):
    """The tag that each request was told by; and of each tag the channels, with whether they have sent it."""

    tags: dict[Key, str]
    channels: dict[str, dict[str, bool]]


class ToldBook:
    """Nothing waits for the disk: at worst, after a power cut, something is told twice.

    A request that no channel has, or has still to send, was not told to anybody and is forgotten.
    """

    def __init__(self, store: BookStore) -> None:
        self._store = store

    async def load(self) -> Told:
        return await self._store.query(_load)

    def told(self, key: Key, tag: str) -> None:
        self._write([(TELL, (*key, tag))])

    def sending(self, tag: str, channels: Iterable[str]) -> None:
        """These have it to send; call it after `told`."""
        self._write([*((SEND, (tag, one)) for one in channels), (SWEEP, ())])

    def shown(self, tag: str, channel: str) -> None:
        self._write([(SHOWN, (tag, channel))])

    def over(self, tag: str, channel: str) -> None:
        """It neither shows the notice nor has it to send."""
        self._write([(OVER, (tag, channel)), (SWEEP, ())])

    def settled(self, tag: str, channels: Sequence[str]) -> None:
        """Its request is over; only these have still to say so."""
        others = (
            f"DELETE FROM told_channels WHERE tag = ? AND channel NOT IN ({', '.join('?' for _ in channels)})"
        )
        self._write([(others, (tag, *channels)), (SWEEP, ())])

    def forget(self, channel: str) -> None:
        """The channel was removed."""
        self._write([(FORGET, (channel,)), (SWEEP, ())])

    def _write(self, statements: list[Statement]) -> None:
        def write(transaction: Transaction) -> None:
            for statement, values in statements:
                transaction.connection.execute(statement, values)

        self._store.transact(write, sync=False).add_done_callback(_written)


def _written(done: "asyncio.Future[None]") -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        log.warning("what people were told could not be stored: %s", error)


def _load(connection: Connection) -> Told:
    told = connection.execute("SELECT session_id, request_id, tag FROM told_notices").fetchall()
    channels: dict[str, dict[str, bool]] = {}
    for tag, channel, shown in connection.execute("SELECT tag, channel, shown FROM told_channels"):
        channels.setdefault(tag, {})[channel] = bool(shown)
    return Told({(one, request): tag for one, request, tag in told if tag in channels}, channels)
