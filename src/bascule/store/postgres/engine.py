"""PostgreSQL's engine: every commit waits for its disk, and a connection that was cut is made again."""

from collections.abc import Sequence

from bascule.model.errors import AlreadyRunning, StorageFailed
from bascule.store.base import Committed
from bascule.store.postgres.connection import PostgresConnection
from bascule.store.postgres.errors import in_our_words, storage_fault

PROBE_BYTES = 64 * 1024
_PROBE = "INSERT OR REPLACE INTO meta (name, value) VALUES ('probe', ?)"


class PostgresEngine:
    """Owns the connection that writes."""

    def __init__(self, connection: PostgresConnection) -> None:
        self.connection = connection
        self._connected = connection.connected

    def prepare(self, full_sync: bool) -> None:
        """Nothing: commits are synchronous unless the server's owner said otherwise."""

    def renewed(self) -> bool:
        """After a cut, the server may have been restored, or another hub may have written meanwhile."""
        before, self._connected = self._connected, self.connection.connected
        return before != self._connected

    def committed(self, commits: Sequence[Committed], audited: int | None) -> None:
        """Nothing: whether a server was restored is its owner's to know."""

    def wrote(self, size: int) -> None:
        """Nothing: the server looks after its own log."""

    def fault(self, error: BaseException) -> StorageFailed | None:
        if isinstance(error, AlreadyRunning):  # another took over while this one was cut off
            return StorageFailed(error.message)
        return storage_fault(error)

    def in_our_words(self, error: Exception, session_id: str | None) -> Exception:
        return in_our_words(error, session_id)

    def probe(self) -> None:
        for size in (PROBE_BYTES, 0):
            self.connection.execute("BEGIN")
            self.connection.execute(_PROBE, (bytes(size),))
            self.connection.execute("COMMIT")

    def close(self) -> None:
        self.connection.close()
