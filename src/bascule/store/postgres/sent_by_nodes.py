"""Which node sent the notices of which requests: it sends their outcome, or another node once it is gone."""

from collections.abc import Iterable, Sequence

from bascule.store.connection import Connection
from bascule.store.postgres.node_rows import DEAD_AFTER
from bascule.store.protocols import BookStore
from bascule.store.sent_notices import Key, Sent, SentBook, Statement
from bascule.store.transaction import Transaction

TELL = """
INSERT INTO sent_notices (session_id, request_id, tag, node) VALUES (?, ?, ?, ?)
ON CONFLICT (session_id, md5(request_id)) DO UPDATE SET tag = excluded.tag, node = excluded.node
"""
SEND = "INSERT OR IGNORE INTO sent_channels (tag, channel, node) VALUES (?, ?, ?)"
SHOWN = "UPDATE sent_channels SET shown = 1 WHERE tag = ? AND channel = ? AND node = ?"
OVER = "DELETE FROM sent_channels WHERE tag = ? AND channel = ? AND node = ?"
SETTLED = "DELETE FROM sent_channels WHERE tag = ? AND node = ?"
SWEEP = """
DELETE FROM sent_notices WHERE node = ? AND tag NOT IN (SELECT tag FROM sent_channels WHERE node = ?)
"""
ANOTHERS = """
SELECT 1 FROM sent_notices WHERE session_id = ? AND md5(request_id) = md5(?) AND request_id = ? AND node <> ?
"""
GONE = """
SELECT node FROM (SELECT node FROM sent_notices UNION SELECT node FROM sent_channels) AS sent
WHERE node <> ? AND node NOT IN (SELECT node FROM nodes WHERE heard_at > now() - make_interval(secs => ?))
"""
TAKE = "UPDATE sent_notices SET node = ? WHERE node = ? RETURNING session_id, request_id, tag"
TAKE_CHANNELS = """
INSERT OR IGNORE INTO sent_channels (tag, channel, shown, node)
SELECT tag, channel, shown, CAST(? AS text) FROM sent_channels WHERE node = ?
"""
LEAVE = "DELETE FROM sent_channels WHERE node = ?"
OURS = "SELECT tag, channel, shown FROM sent_channels WHERE node = ?"


class SentByNodes(SentBook):
    """A `SentBook` in which each row belongs to one node."""

    shared = True

    def __init__(self, store: BookStore, node: str) -> None:
        super().__init__(store)
        self._node = node

    async def load(self) -> Sent:
        """Take over what nodes have sent that are gone. Of nodes that ask at once, one gets each row."""
        return await self._store.transact(self._take_over)

    async def is_ours(self, key: Key) -> bool:
        """False when this node was taken for gone, and another one says what becomes of the request."""
        session_id, request_id = key

        def ask(transaction: Transaction) -> bool:  # in the order of our own changes
            asked = transaction.connection.execute(ANOTHERS, (session_id, request_id, request_id, self._node))
            return asked.fetchone() is None

        return await self._store.transact(ask, sync=False)

    def sent(self, key: Key, tag: str) -> None:
        self._write([(TELL, (*key, tag, self._node))])

    def sending(self, tag: str, channels: Iterable[str]) -> None:
        self._write([*((SEND, (tag, channel, self._node)) for channel in channels), self._sweep])

    def shown(self, tag: str, channel: str) -> None:
        self._write([(SHOWN, (tag, channel, self._node))])

    def over(self, tag: str, channel: str) -> None:
        self._write([(OVER, (tag, channel, self._node)), self._sweep])

    def settled(self, tag: str, channels: Sequence[str]) -> None:
        others = f" AND channel NOT IN ({', '.join('?' for _ in channels)})" if channels else ""
        self._write([(SETTLED + others, (tag, self._node, *channels)), self._sweep])

    @property
    def _sweep(self) -> Statement:
        return SWEEP, (self._node, self._node)

    def _take_over(self, transaction: Transaction) -> Sent:
        connection = transaction.connection
        tags: dict[Key, str] = {}
        for (gone,) in connection.execute(GONE, (self._node, DEAD_AFTER)).fetchall():
            taken = connection.execute(TAKE, (self._node, gone)).fetchall()
            tags |= {(session_id, request_id): tag for session_id, request_id, tag in taken}
            connection.execute(TAKE_CHANNELS, (self._node, gone))
            connection.execute(LEAVE, (gone,))
        return Sent(tags, _channels(connection, self._node, set(tags.values())))


def _channels(connection: Connection, node: str, tags: set[str]) -> dict[str, dict[str, bool]]:
    found: dict[str, dict[str, bool]] = {}
    for tag, channel, shown in connection.execute(OURS, (node,)):
        if tag in tags:
            found.setdefault(tag, {})[channel] = bool(shown)
    return found
