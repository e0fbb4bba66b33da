"""Replication in a store: the daemon's half reads its own logs, the hub's half takes copies in."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple, Protocol

from bascule.model.records import SessionRecord
from bascule.store.audit import SentRecord
from bascule.store.base import AuditCheck, AuditRecord, Listener, Row
from bascule.store.device_audit import DeviceChain, TakenAudit


class Replica(NamedTuple):
    """A session whose log another device writes; this store has a copy.

    `copy_of` names the session whose earlier copy this is: such a copy was set aside and never grows.
    """

    session_id: str
    device: str
    copy_of: str | None = None
    gone: bool = False  # the device no longer has it
    fold_version: str | None = None  # some of its rows are not understood; the vocabulary they were read with
    generation: int = 0  # how often its log was begun again


class TakenIn(NamedTuple):
    """What became of some rows: how far the copy reaches, how many of them were new."""

    head: int
    new: int
    rows: int  # ever taken in from this device


class OwnLog(NamedTuple):
    """A log that this store's own daemon writes."""

    session_id: str
    seq: int
    live: bool
    found: bool
    updated_at: str


Heads = dict[str, tuple[int, int]]  # of each session: its last row's number and checksum


class SourceStore(Protocol):
    """The daemon's half."""

    @property
    def link_name(self) -> str:
        """Names this store on a link: both ends say the same only when they share it."""
        ...

    async def writable(self) -> None: ...

    def listen(self, listener: Listener) -> Callable[[], None]: ...

    async def need_synced_rows(self) -> Callable[[], None]:
        """From now on rows are on the disk before a listener or reader sees them. The result ends that."""
        ...

    async def own_logs(self) -> list[OwnLog]: ...

    async def own_log(self, session_id: str) -> OwnLog | None: ...

    async def read_some(self, session_id: str, after: int, size: int) -> list[Row]:
        """Rows of about `size` bytes; one larger row comes alone."""
        ...

    async def checksums_at(self, positions: dict[str, int]) -> dict[str, int]:
        """The checksum of one row of each session; a session without that row is left out."""
        ...

    async def acknowledged(self, hub: str) -> int:
        """How many rows a hub had acknowledged when it was last noted."""
        ...

    def note_acknowledged(self, hub: str, rows: int) -> "asyncio.Future[None]": ...

    def watch_audit(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` after each commit with audit records. The result ends that."""
        ...

    async def audit(self, records: list[AuditRecord]) -> None:
        """Chain records; returns once they would survive a power cut."""
        ...

    async def audit_rows(self, after: int, size: int) -> list[SentRecord]:
        """Audit records numbered above `after`, of about `size` bytes; one larger comes alone."""
        ...

    async def audit_hash(self, n: int) -> str | None:
        """The hash of one audit record; None when there is none."""
        ...


class ReplicaStore(Protocol):
    """The hub's half."""

    def take_in(
        self, device: str, session_id: str, first: int, rows: list[bytes], skew: float = 0.0
    ) -> "asyncio.Future[TakenIn]":
        """Add rows to the copy of a device's log; those it has already are compared and skipped.

        `skew`: seconds that the device's clock is ahead, so that the session stands in the list by our clock.
        They are stored as they came and survive a power cut after the next `barrier`. The future fails with
        `OwnerMismatch` when the log is not this device's, with `Diverged` when a row differs from the copy,
        with `StoreConflict` when rows are missing before the first, with `InvalidInput` when these are no
        rows, and as that of `append` otherwise.
        """
        ...

    def barrier(self) -> "asyncio.Future[None]":
        """Once it is done, everything that was queued before would survive a power cut."""
        ...

    def set_aside(self, device: str, session_id: str) -> "asyncio.Future[str | None]":
        """Move the copy of a session to a new id, so that its log can be taken in from row 1.

        The future gives the new id; None when there is no copy, or only that of a found session, which is
        dropped. It fails with `OwnerMismatch`, and with `LimitReached` when it was set aside too often.
        """
        ...

    def forget_copy(self, device: str, session_id: str) -> "asyncio.Future[bool]":
        """The device no longer has this session. True when its copy was deleted: that of a found session.

        Any other copy is kept and marked as gone. Fails with `OwnerMismatch`.
        """
        ...

    def found_again(self, device: str) -> "asyncio.Future[None]":
        """Take back what `forget_copy` marked: the device connects again and is asked again."""
        ...

    async def heads_of(self, device: str, after: str = "", limit: int = 1000) -> Heads:
        """How far the copies of a device's logs reach: a page of them, in the order of their ids."""
        ...

    async def head_of(self, session_id: str) -> tuple[int, int]:
        """How far one copy reaches, as in `heads_of`; zeros when there is none."""
        ...

    async def rows_of(self, device: str) -> int:
        """How many rows were ever taken in from a device. It never falls."""
        ...

    def take_in_audit(
        self, device: str, first: int, rows: list[SentRecord], *, anew: bool = False
    ) -> "asyncio.Future[TakenAudit]":
        """Add records to the copy of a machine's audit chain, up to the first that is not as it should be.

        They are on the disk when the future is done. `anew` begins another chain of that machine.
        """
        ...

    async def audit_copy(self, device: str) -> DeviceChain | None:
        """Where the copy of the chain ends that the machine sends now."""
        ...

    async def audit_copies(self) -> list[DeviceChain]:
        """Of all machines, the oldest chain of each first."""
        ...

    async def copied_audit_lines(
        self, device: str, chain: int | None = None, after: int = 0, limit: int = 1000
    ) -> list[bytes]:
        """Records of a copy as lines of the export; of the last chain unless one is named."""
        ...

    async def verify_audit_copy(self, chain: DeviceChain) -> AuditCheck: ...

    async def audit_parted_at(self, chain: DeviceChain) -> int | None:
        """The first record of a chain that the machine's next chain does not have."""
        ...

    async def replica(self, session_id: str) -> Replica | None: ...

    async def gone_sessions(self, device: str) -> list[str]: ...

    async def session(self, session_id: str) -> SessionRecord | None: ...

    async def writable(self) -> None: ...
