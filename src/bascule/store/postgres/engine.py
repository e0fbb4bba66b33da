"""PostgreSQL's engine: every commit waits for its disk, and a connection that was cut is made again."""

import os
from collections.abc import Mapping, Sequence
from time import monotonic

from bascule.model.errors import AlreadyRunning, StorageFailed
from bascule.store.base import Committed
from bascule.store.postgres.bus import CHANNEL, FLUSH_SECONDS, Wake, payload_of
from bascule.store.postgres.connection import PostgresConnection
from bascule.store.postgres.errors import in_our_words, is_read_only, storage_fault

PROBE_ROWS, PROBE_BYTES = 16, 1500  # some pages of the log; a longer row would go to another file
_PROBE = "INSERT OR REPLACE INTO meta (name, value) VALUES ('probe', ?)"
_ROW = "INSERT INTO events (session_id, seq, body, crc) VALUES ('', ?, ?, 0)"

_WAKE = "SELECT pg_notify(?, ?)"
_TURN = "UPDATE writing SET node = ?"
_OURS = "SELECT device FROM device_writers WHERE node = ?"
_CLAIM = """
INSERT INTO device_writers (device, node) VALUES (?, ?)
ON CONFLICT (device) DO UPDATE SET node = excluded.node
"""


class PostgresEngine:
    """Owns the connection that writes. Transactions of all nodes come one after the other, and each node
    knows which devices' sessions it was the last to touch."""

    def __init__(self, connection: PostgresConnection, node: str) -> None:
        self.connection = connection
        self.node = node
        self._connected = connection.connected
        self._ours: frozenset[str] = frozenset()
        self._claimed: frozenset[str] = frozenset()  # in the transaction that is open
        self._woke_at = float("-inf")
        self._announcing: dict[str, int] = {}  # in the transaction that is open
        self._announced: dict[str, int] = {}  # replaced as a whole: the loop's thread reads it
        self._is_read_only = False  # a connection may stay so when the server no longer is

    def is_quick(self) -> bool:
        return False

    def prepare(self, full_sync: bool, *, patient: bool = True) -> None:
        """Nothing: commits are synchronous unless the server's owner said otherwise."""

    def renewed(self) -> frozenset[str] | None:
        """After a cut the server may have been restored from a backup: then nothing in memory counts."""
        before, self._connected = self._connected, self.connection.connected
        if before != self._connected:
            self._ours = frozenset()
            return self._ours
        if self.connection.wrote_last == self.node:
            return None
        self._ours = frozenset(device for (device,) in self.connection.execute(_OURS, (self.node,)))
        return self._ours

    def committing(self, devices: frozenset[str], grown: Mapping[str, int]) -> None:
        if self.connection.wrote_last != self.node:
            self.connection.execute(_TURN, (self.node,))
        self._claimed = devices - self._ours
        for device in sorted(self._claimed):
            self.connection.execute(_CLAIM, (device, self.node))
        self._wake_others(grown)

    def _wake_others(self, grown: Mapping[str, int]) -> None:
        """With the commit itself, so that other nodes read on while this one serves its own viewers. What
        comes too soon after another wake is left to the bus, which waits for more."""
        self._announcing, now = {}, monotonic()
        if grown and now - self._woke_at >= FLUSH_SECONDS:
            self._announcing, self._woke_at = dict(grown), now
            self.connection.execute(_WAKE, (CHANNEL, payload_of(Wake(self.node, sessions=self._announcing))))

    def announced(self, session_id: str, seq: int) -> bool:
        """Whether the commit of this row woke the other nodes."""
        return self._announced.get(session_id, 0) >= seq

    def committed(self, commits: Sequence[Committed], audited: int | None) -> None:
        self._ours |= self._claimed
        self._claimed = frozenset()
        if self._announcing:
            self._announced, self._announcing = self._announcing, {}

    def wrote(self, size: int) -> None:
        """Nothing: the server looks after its own log."""

    def fault(self, error: BaseException) -> StorageFailed | None:
        self._is_read_only = is_read_only(error)
        if isinstance(error, AlreadyRunning):  # another took over while this one was cut off
            return StorageFailed(error.message)
        return storage_fault(error)

    def in_our_words(self, error: Exception, session_id: str | None) -> Exception:
        return in_our_words(error, session_id)

    def probe(self) -> None:
        """Whether a commit is possible, and whether the log may grow: rows that no compression makes smaller,
        taken back."""
        if self._is_read_only:
            self.connection.drop()
        self.connection.execute("BEGIN")
        self.connection.execute(_PROBE, (b"",))
        self.connection.execute("COMMIT")
        self.connection.execute("BEGIN")
        rows = [(n, os.urandom(PROBE_BYTES)) for n in range(1, PROBE_ROWS + 1)]
        self.connection.executemany(_ROW, rows)
        self.connection.execute("ROLLBACK")

    def close(self) -> None:
        self.connection.close()
