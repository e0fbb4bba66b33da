"""Encodes and decodes rows, each with a checksum: SQLite does not detect a flipped bit."""

from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

from bascule.model.codec import encode
from bascule.model.entries import AnyEntry
from bascule.model.errors import StoreDamaged
from bascule.model.lifecycle import LIVE
from bascule.model.records import Pending, RequestRecord, SessionRecord
from bascule.store.base import Row

_record = msgspec.json.Decoder(SessionRecord)
_pending = msgspec.json.Decoder(Pending)
_request = msgspec.json.Decoder(RequestRecord)
_entry = msgspec.json.Decoder[AnyEntry](AnyEntry)

LIVE_PHASES = ", ".join(f"'{phase.value}'" for phase in sorted(LIVE))  # for a condition in SQL
SESSION_COLUMNS = (
    "session_id, seq, record, crc, folded_seq, sessions.out_offset, err_offset, resume_crc, "
    "pending.body, driver_states.out_offset, driver_states.state"
)
SESSION_TABLES = "sessions LEFT JOIN pending USING (session_id) LEFT JOIN driver_states USING (session_id)"


class SessionRow(Struct):
    """A session's row, with its pending prompts and its driver's state, which have rows of their own.

    `out_offset` is how far its output has become events. The driver's state may be older: it is that of
    `state_offset`.
    """

    record: SessionRecord
    pending: Pending
    folded_seq: int = 0
    out_offset: int = 0
    err_offset: int = 0
    state_offset: int = 0
    driver_state: bytes | None = None
    pending_crc: int = 0  # of both as they are stored: the session's checksum covers them
    state_crc: int = 0


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
        raise _damaged(session_id, number, what)
    return body


def _damaged(session_id: str, number: int, what: str) -> StoreDamaged:
    return StoreDamaged(
        f"Session {session_id}: {what} {number} does not match its checksum.",
        session_id=session_id,
        seq=number,
    )


def event_checksum(seed: int, seq: int, body: bytes, offsets: bytes | None) -> int:
    """`seed` is that of its session."""
    crc = crc32(body, (seed + seq) & 0xFFFFFFFF)
    return crc if offsets is None else crc32(offsets, crc)


def event_row(session_id: str, seq: int, body: object, crc: object, offsets: object) -> Row:
    if not isinstance(body, bytes) or not isinstance(offsets, bytes | None):
        raise _damaged(session_id, seq, "event")
    if event_checksum(seed(session_id), seq, body, offsets) != crc:
        raise _damaged(session_id, seq, "event")
    return Row(seq, body)


def encode_offsets(out: int, err: int) -> bytes:
    return b"%d %d" % (out, err)


def decode_offsets(offsets: bytes) -> tuple[int, int]:
    out, err = offsets.split()
    return int(out), int(err)


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
    body = encode(record)
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
        _resume_checksum(row),
        int(record.found),
    )


def decode_session(values: tuple[Any, ...]) -> SessionRow:
    """The row that `SESSION_COLUMNS` selects."""
    session_id, seq, body, crc, folded, out, err, resume_crc, pending, state_offset, state = values
    row = SessionRow(decode_record(session_id, seq, body, crc), Pending(), folded, out, err)
    row.state_offset, row.driver_state = state_offset or 0, state
    row.pending_crc, row.state_crc = crc32(pending or b""), crc32(state or b"")
    if _resume_checksum(row) != resume_crc:
        raise StoreDamaged(
            f"Session {session_id}: what it would resume from does not match its checksum.",
            session_id=session_id,
            seq=seq,
        )
    if pending is not None:
        row.pending = _pending.decode(pending)
    return row


def _resume_checksum(row: SessionRow) -> int:
    numbers = b"%d %d %d %d %d %d" % (
        *(row.folded_seq, row.out_offset, row.err_offset),
        *(row.state_offset, row.pending_crc, row.state_crc),
    )
    return checksum(row.record.session_id, row.record.seq, numbers)
