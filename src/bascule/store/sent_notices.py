"""Record of sent notifications: which requests, by which channels. It outlives a restart."""

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

TELL = "INSERT OR REPLACE INTO sent_notices (session_id, request_id, tag) VALUES (?, ?, ?)"
SEND = "INSERT OR IGNORE INTO sent_channels (tag, channel) VALUES (?, ?)"
SHOWN = "UPDATE sent_channels SET shown = 1 WHERE tag = ? AND channel = ?"
OVER = "DELETE FROM sent_channels WHERE tag = ? AND channel = ?"
FORGET = "DELETE FROM sent_channels WHERE channel = ?"
SWEEP = "DELETE FROM sent_notices WHERE tag NOT IN (SELECT tag FROM sent_channels)"


class Sent(NamedTuple):
    """The tag that each request was sent by; and of each tag the channels, with whether they have sent it."""

    tags: dict[Key, str]
    channels: dict[str, dict[str, bool]]


class SentBook:
    """Nothing waits for the disk: at worst, after a power cut, something is sent twice.

    A request that no channel has, or has still to send, was not sent to anybody and is forgotten.
    """

    shared = False  # with other nodes, which have sent some of it

    def __init__(self, store: BookStore) -> None:
        self._store = store

    async def is_ours(self, key: Key) -> bool:
        """Whether this server is the one to say what became of it."""
        return True

    async def load(self) -> Sent:
        return await self._store.query(_load)

    def sent(self, key: Key, tag: str) -> None:
        self._write([(TELL, (*key, tag))])

    def sending(self, tag: str, channels: Iterable[str]) -> None:
        """These have it to send; call it after `sent`."""
        self._write([*((SEND, (tag, channel)) for channel in channels), (SWEEP, ())])

    def shown(self, tag: str, channel: str) -> None:
        self._write([(SHOWN, (tag, channel))])

    def over(self, tag: str, channel: str) -> None:
        """It neither shows the notice nor has it to send."""
        self._write([(OVER, (tag, channel)), (SWEEP, ())])

    def settled(self, tag: str, channels: Sequence[str]) -> None:
        """Its request is over; only these have still to say so."""
        others = (
            f"DELETE FROM sent_channels WHERE tag = ? AND channel NOT IN ({', '.join('?' for _ in channels)})"
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
        log.warning("what was sent could not be stored: %s", error)


def _load(connection: Connection) -> Sent:
    sent = connection.execute("SELECT session_id, request_id, tag FROM sent_notices").fetchall()
    channels: dict[str, dict[str, bool]] = {}
    for tag, channel, shown in connection.execute("SELECT tag, channel, shown FROM sent_channels"):
        channels.setdefault(tag, {})[channel] = bool(shown)
    return Sent({(one, request): tag for one, request, tag in sent if tag in channels}, channels)
