"""Encodes and decodes rows, each with a checksum: SQLite does not detect a flipped bit."""

from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

from bascule.model.codec import encode
from bascule.model.entries import AnyEntry
from bascule.model.errors import StoreDamaged
from bascule.model.records import Pending, RequestRecord, SessionRecord
from bascule.store.base import Row

_record = msgspec.json.Decoder(SessionRecord)
_pending = msgspec.json.Decoder(Pending)
_request = msgspec.json.Decoder(RequestRecord)
_entry = msgspec.json.Decoder[AnyEntry](AnyEntry)

# `parked` is the column of `Pending`: its name stays as it was first stored.
SESSION_COLUMNS = (
    "session_id, seq, record, crc, folded_seq, out_offset, err_offset, parked, driver_state, resume_crc"
)


class SessionRow(Struct):
    """A session's row: its record, and what is needed to resume it."""

    record: SessionRecord
    pending: Pending
    folded_seq: int = 0
    out_offset: int = 0
    err_offset: int = 0
    driver_state: bytes | None = None


def lenient_text(data: bytes) -> str:
    """Text with a flipped bit still comes out, to be caught by its checksum rather than stop a whole list."""
    return data.decode("utf-8", "replace")


def seed(session_id: str) -> int:
    """The seed of a session's checksums, so that a row moved to another session fails."""
    return crc32(session_id.encode())


def checksum(session_id: str, number: int, body: bytes) -> int:
    return crc32(body, (seed(session_id) + number) & 0xFFFFFFFF)


def check(session_id: str, number: int, body: object, crc: object, what: str) -> bytes:
    """The body, if it is what was written."""
    if not isinstance(body, bytes) or checksum(session_id, number, body) != crc:
        raise StoreDamaged(
            f"Session {session_id}: {what} {number} does not match its checksum.",
            session_id=session_id,
            seq=number,
        )
    return body


def event_row(session_id: str, seq: int, body: object, crc: object) -> Row:
    return Row(seq, check(session_id, seq, body, crc, "event"))


def entry_body(session_id: str, first_seq: int, body: object, crc: object) -> bytes:
    return check(session_id, first_seq, body, crc, "the entry that begins at")


def decode_entry(body: bytes) -> AnyEntry:
    return _entry.decode(body)


def decode_request(session_id: str, seq: int, body: object, crc: object) -> RequestRecord:
    return _request.decode(check(session_id, seq, body, crc, "the request asked at"))


def decode_record(session_id: str, seq: int, body: object, crc: object) -> SessionRecord:
    return _record.decode(check(session_id, seq, body, crc, "its record at"))


def encode_session(row: SessionRow) -> tuple[object, ...]:
    """The values of one session, in the order the upsert names them."""
    record = row.record
    body, pending = encode(record), encode(row.pending)
    return (
        record.session_id,
        record.seq,
        record.updated_at,
        int(record.archived),
        record.phase.value,
        body,
        checksum(record.session_id, record.seq, body),
        row.folded_seq,
        row.out_offset,
        row.err_offset,
        pending,
        row.driver_state,
        _resume_checksum(row, pending),
        int(record.found),
    )


def decode_session(values: tuple[Any, ...]) -> SessionRow:
    """The row that `SESSION_COLUMNS` selects."""
    session_id, seq, body, crc, folded, out, err, pending, state, resume_crc = values
    row = SessionRow(decode_record(session_id, seq, body, crc), Pending(), folded, out, err, state)
    if _resume_checksum(row, pending) != resume_crc:
        raise StoreDamaged(
            f"Session {session_id}: what it would resume from does not match its checksum.",
            session_id=session_id,
            seq=seq,
        )
    row.pending = _pending.decode(pending)
    return row


def _resume_checksum(row: SessionRow, pending: bytes) -> int:
    numbers = b"%d %d %d %d" % (row.folded_seq, row.out_offset, row.err_offset, len(pending))
    return crc32(
        row.driver_state or b"", crc32(pending, checksum(row.record.session_id, row.record.seq, numbers))
    )
