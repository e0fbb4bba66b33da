"""Copies of other machines' audit chains: taken in record by record, each hash computed here.

What does not follow is kept out, and the copy is marked as broken there. Nothing that was taken in is ever
changed: a machine with another chain than was copied gets a new one beside it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from bascule.store import audit
from bascule.store.audit import FIRST, SentRecord, chained
from bascule.store.base import AuditCheck
from bascule.store.connection import Connection

MAX_CHAINS = 16  # of one machine
MAX_BODY = 1024 * 1024

COLUMNS = "device, chain, began_at, copied_at, n, hash, broken_at, fault"
LAST = f"SELECT {COLUMNS} FROM device_chains WHERE device = ? ORDER BY chain DESC LIMIT 1"
CHAINS = f"SELECT {COLUMNS} FROM device_chains ORDER BY device, chain"
KEEP = f"INSERT OR REPLACE INTO device_chains ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
INSERT = "INSERT INTO device_audit (device, chain, n, body, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?)"
HELD = "SELECT body, prev_hash, hash FROM device_audit WHERE device = ? AND chain = ? AND n = ?"
WALK = """
SELECT n, body, prev_hash, hash FROM device_audit WHERE device = ? AND chain = ? AND n > ? ORDER BY n LIMIT ?
"""
PARTED = """
SELECT min(held.n) FROM device_audit AS held LEFT JOIN device_audit AS later
ON later.device = held.device AND later.chain = held.chain + 1 AND later.n = held.n
WHERE held.device = ? AND held.chain = ? AND later.hash IS NOT held.hash
"""
BLOCK = 1000

CHANGED = "it was changed after it was written"
NOT_AFTER = "it does not follow the record before it"
OTHER = "it is not the record that was copied before"
TOO_MANY = f"the machine began a new chain more than {MAX_CHAINS} times"


class DeviceChain(NamedTuple):
    """The copy of one chain of a machine: where it ends, and what came that was not taken."""

    device: str
    chain: int
    began_at: str
    copied_at: str
    n: int = 0
    hash: str = FIRST
    broken_at: int | None = None
    fault: str = ""


class TakenAudit(NamedTuple):
    """What became of some records: where the copy ends now, and why not all of them were taken."""

    copy: DeviceChain
    refused: str = ""
    began: bool = False  # another chain than the one of before


class _Record(Struct, frozen=True):
    """What every version has in a record; anything else is only bytes here."""

    n: int
    at: str
    record: dict[str, Any]


def last_chain(connection: Connection, device: str) -> DeviceChain | None:
    """The one that the machine sends now."""
    row = connection.execute(LAST, (device,)).fetchone()
    return None if row is None else DeviceChain(*row)


def chains(connection: Connection) -> list[DeviceChain]:
    """Of all machines, the oldest of each first."""
    return [DeviceChain(*row) for row in connection.execute(CHAINS)]


def take_in(
    connection: Connection, device: str, first: int, rows: list[SentRecord], at: str, *, anew: bool
) -> TakenAudit:
    """Add records up to the first that is not as it should be."""
    copy = last_chain(connection, device) or DeviceChain(device, 1, at, at)
    began = anew and copy.n > 0
    if began:
        if copy.chain >= MAX_CHAINS:
            return _refuse(connection, copy, copy.n + 1, TOO_MANY)
        copy = DeviceChain(device, copy.chain + 1, at, at)
    if not 1 <= first <= copy.n + 1:
        return _refuse(connection, copy, copy.n + 1, f"record {copy.n + 1} is missing", began=began)
    for number, row in enumerate(rows, first):
        fault = _fault(connection, copy, number, row)
        if fault:
            return _refuse(connection, copy, number, fault, began=began)
        if number > copy.n:
            connection.execute(INSERT, (device, copy.chain, number, *row))
            copy = copy._replace(n=number, hash=row.hash, copied_at=at)
            if number == copy.broken_at:  # the record that belongs there has come after all
                copy = copy._replace(broken_at=None, fault="")
    connection.execute(KEEP, copy)
    return TakenAudit(copy, began=began)


def _refuse(
    connection: Connection, copy: DeviceChain, number: int, fault: str, *, began: bool = False
) -> TakenAudit:
    """Mark the copy as broken at this record, which is kept out."""
    marked = copy._replace(broken_at=number, fault=fault)
    connection.execute(KEEP, marked)
    return TakenAudit(marked, fault, began)


def _fault(connection: Connection, chain: DeviceChain, number: int, row: SentRecord) -> str:
    if number <= chain.n:
        held = connection.execute(HELD, (chain.device, chain.chain, number)).fetchone()
        return "" if held is not None and SentRecord(*held) == row else OTHER
    if row.prev_hash != chain.hash:
        return NOT_AFTER
    if chained(chain.hash, row.body) != row.hash:
        return CHANGED
    return _not_a_record(number, row.body)


def _not_a_record(number: int, body: bytes) -> str:
    """It is shown as JSON later on: what is none must not come in, however well it is chained."""
    if len(body) > MAX_BODY:
        return "it is too large"
    try:
        body.decode()
        said = msgspec.json.decode(body, type=_Record).n
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "it is no audit record"
    return "" if said == number else f"it says that it is record {said}"


def lines(connection: Connection, device: str, chain: int | None, after: int, limit: int) -> list[bytes]:
    """Some of a copy, as lines of the export; of the chain that the machine sends now unless one is named."""
    if chain is None:
        last = last_chain(connection, device)
        chain = 0 if last is None else last.chain
    return audit.as_lines(connection.execute(WALK, (device, chain, after, limit)))


def verify(connection: Connection, chain: DeviceChain) -> AuditCheck:
    """Walk a copy; says how many of its records hold, and the first that does not."""
    walked = audit.walk(_records(connection, chain))
    if walked.bad is None and (walked.checked, walked.head) != (chain.n, chain.hash):
        return AuditCheck(walked.checked, walked.head, walked.checked + 1, audit.MISSING_END)
    if walked.bad is None and chain.broken_at is not None:
        return AuditCheck(walked.checked, walked.head, chain.broken_at, chain.fault)
    return walked


def parted_at(connection: Connection, chain: DeviceChain) -> int | None:
    """The first record of this chain that the machine's next chain has not, or has another one for."""
    return connection.execute(PARTED, (chain.device, chain.chain)).fetchone()[0]


def _records(connection: Connection, chain: DeviceChain) -> Iterator[tuple[int, bytes, str, str]]:
    after = 0
    while block := connection.execute(WALK, (chain.device, chain.chain, after, BLOCK)).fetchall():
        yield from block
        after = block[-1][0]
