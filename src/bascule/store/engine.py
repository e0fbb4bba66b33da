"""Interface to a database for the writer thread: beginning a transaction, syncing to disk, faults."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from bascule.model.errors import StorageFailed
from bascule.store.base import Committed
from bascule.store.connection import Connection


class Engine(Protocol):
    """Used by the writer's thread alone."""

    @property
    def connection(self) -> Connection: ...

    def is_quick(self) -> bool:
        """Whether a small commit that need not survive a power cut would wait for nothing outside memory."""
        ...

    def prepare(self, full_sync: bool, *, patient: bool = True) -> None:
        """Called before a transaction begins; with `full_sync` its commit must survive a power cut. One that
        is not `patient` fails at once where it would have to wait for another process.

        Raises `StorageFailed` when what would be written could not be found again.
        """
        ...

    def renewed(self) -> frozenset[str] | None:
        """Called once it has begun: None when no other node wrote since. Otherwise the devices whose sessions
        no other node has touched: what is in memory of all others may be out of date."""
        ...

    def committing(self, devices: frozenset[str], grown: Mapping[str, int]) -> None:
        """Called before a commit, with the devices whose sessions it looked at or changed, and the last row
        of each session whose log has grown."""
        ...

    def committed(self, commits: Sequence[Committed], audited: int | None) -> None:
        """Called after a commit and before anybody hears of it; `audited` is the new end of the audit log."""
        ...

    def wrote(self, size: int) -> None:
        """About as many bytes were written; called when no caller waits for it."""
        ...

    def fault(self, error: BaseException) -> StorageFailed | None:
        """The error as a problem that may pass (a full disk), after which the same step succeeds."""
        ...

    def in_our_words(self, error: Exception, session_id: str | None) -> Exception:
        """The error as one of ours where it means something, else as it is."""
        ...

    def probe(self) -> None:
        """Write about as much as a busy moment does, and take it back. Raises while that is not possible."""
        ...

    def close(self) -> None: ...
