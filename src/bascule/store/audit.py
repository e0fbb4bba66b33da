"""The audit log: who did what, in a hash chain, so that a changed record is detected."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

import msgspec
from msgspec import Struct

from bascule.model.codec import encode
from bascule.store.base import AuditCheck, AuditRecord
from bascule.store.connection import Connection

FIRST = "0" * 64
_HEAD = "SELECT n, hash FROM audit ORDER BY n DESC LIMIT 1"
_INSERT = "INSERT INTO audit (n, body, prev_hash, hash) VALUES (?, ?, ?, ?)"
_WALK = "SELECT n, body, prev_hash, hash FROM audit WHERE n > ? ORDER BY n LIMIT ?"
_HASH = "SELECT hash FROM audit WHERE n = ?"
_KEEP_HEAD = "INSERT OR REPLACE INTO meta (name, value) VALUES ('audit_head', ?)"
_KEPT_HEAD = "SELECT value FROM meta WHERE name = 'audit_head'"
_KEEP_CUT = "INSERT OR REPLACE INTO meta (name, value) VALUES ('audit_cut', ?)"
_KEPT_CUT = "SELECT value FROM meta WHERE name = 'audit_cut'"
_OLDEST = "SELECT updated_at FROM sessions WHERE found = 0 AND archived = ? ORDER BY updated_at LIMIT 1"
_ANY_GRANT = "SELECT 1 FROM grants WHERE id > '' LIMIT 1"
_BLOCK = 1000

MISSING_END = "records are missing from the end"

_canonical = msgspec.json.Encoder(order="sorted")


class AuditEntry(Struct, frozen=True):
    """A numbered, timed record: the hash covers it as JSON with sorted keys."""

    n: int
    at: str
    record: AuditRecord


class AuditLine(Struct, frozen=True):
    """One line of the export, with its hash, so that the chain can be verified elsewhere."""

    entry: msgspec.Raw
    prev_hash: str
    hash: str


class SentRecord(NamedTuple):
    """A record as it goes to a hub."""

    body: bytes
    prev_hash: str
    hash: str


def chained(prev_hash: str, body: bytes) -> str:
    return sha256(prev_hash.encode() + body).hexdigest()


class AuditChain:
    """The writer's end of the chain."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._head: tuple[int, str] | None = None

    @property
    def reached(self) -> int | None:
        return self._head[0] if self._head else None

    def forget(self) -> None:
        """After a rollback: the head is read again when it is next needed."""
        self._head = None

    def add(self, records: Iterable[AuditRecord], at: str) -> None:
        if self._head is None:
            keep_cut(self._connection)
        n, before = self._head or self._connection.execute(_HEAD).fetchone() or (0, FIRST)
        for record in records:
            body = _canonical.encode(AuditEntry(n + 1, at, record))
            n, own = n + 1, chained(before, body)
            self._connection.execute(_INSERT, (n, body, before, own))
            before = own
        # Kept apart, so that rows cut off the end are missed too.
        self._connection.execute(_KEEP_HEAD, (f"{n} {before}".encode(),))
        self._head = (n, before)


def lines(connection: Connection, after: int, limit: int) -> list[bytes]:
    """Some of the export, one JSON object a line, without the line ends."""
    return as_lines(connection.execute(_WALK, (after, limit)))


def as_lines(rows: Iterable[tuple[int, bytes, str, str]]) -> list[bytes]:
    return [encode(AuditLine(msgspec.Raw(body), before, own)) for _, body, before, own in rows]


def rows_after(connection: Connection, after: int, limit: int, size: int) -> list[SentRecord]:
    """Records to send to a hub, of about `size` bytes; one larger comes alone.

    They go as they are, also those that somebody changed: it is the hub that says so.
    """
    found: list[SentRecord] = []
    for _, body, before, own in connection.execute(_WALK, (after, limit)):
        row = SentRecord(_bytes(body), _text(before), _text(own))
        size -= len(row.body)
        if found and size < 0:
            break
        found.append(row)
    return found


def _bytes(value: object) -> bytes:
    """A column of a database that somebody may have written to."""
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


def _text(value: object) -> str:
    return _bytes(value).decode(errors="replace")


def hash_at(connection: Connection, n: int) -> str | None:
    """The hash of one record; None when there is none. Number 0 stands before the first."""
    row = (FIRST,) if n == 0 else connection.execute(_HASH, (n,)).fetchone()
    return None if row is None else _text(row[0])


def verify(connection: Connection) -> AuditCheck:
    """Walk the whole chain; says how many records hold, and the first that does not."""
    walked = walk(_walk(connection))
    n, own = walked.checked, walked.head
    if walked.bad is not None:
        return walked
    if cut := connection.execute(_KEPT_CUT).fetchone():
        first = int(cut[0])
        return AuditCheck(first - 1, hash_at(connection, first - 1) or FIRST, bad=first, fault=MISSING_END)
    if n == 0 and (trace := _trace(connection)):
        return AuditCheck(0, FIRST, bad=1, fault=f"there are no records, though this folder is old ({trace})")
    return walked if _ends_at(connection, n, own) else AuditCheck(n, own, bad=n + 1, fault=MISSING_END)


def _ends_at(connection: Connection, n: int, own: str) -> bool:
    kept = connection.execute(_KEPT_HEAD).fetchone()
    return (kept[0] if kept else None) == (f"{n} {own}".encode() if n else None)


def keep_cut(connection: Connection) -> None:
    """Write down from where on records were cut off: those that follow would hide it."""
    n, own = connection.execute(_HEAD).fetchone() or (0, FIRST)
    if not _ends_at(connection, n, own) and connection.execute(_KEPT_CUT).fetchone() is None:
        connection.execute(_KEEP_CUT, (str(n + 1).encode(),))


def walk(rows: Iterable[tuple[int, bytes, str, str]]) -> AuditCheck:
    """Whether each record follows from the one before, from the first on."""
    n, own = 0, FIRST
    for number, body, before, stored in rows:
        fault = _fault(n, own, number, body, before, stored)
        if fault:
            return AuditCheck(n, own, bad=n + 1, fault=fault)
        n, own = number, stored
    return AuditCheck(n, own)


def _trace(connection: Connection) -> str:
    """Other evidence that the server was used, if the audit log is empty. Every start adds a record."""
    oldest = [row[0] for archived in (0, 1) for row in connection.execute(_OLDEST, (archived,))]
    if oldest:
        return f"since {min(oldest)}"
    return "it has grants" if connection.execute(_ANY_GRANT).fetchone() else ""


def _walk(connection: Connection) -> Iterator[tuple[int, bytes, str, str]]:
    after = 0
    while block := connection.execute(_WALK, (after, _BLOCK)).fetchall():
        yield from block
        after = block[-1][0]


def _fault(n: int, own: str, number: int, body: object, before: object, stored: object) -> str:
    if number != n + 1:
        return f"record {n + 1} is missing"
    if before != own:
        return "it does not follow the record before it"
    if not isinstance(body, bytes) or chained(own, body) != stored:
        return "it was changed after it was written"
    return ""
