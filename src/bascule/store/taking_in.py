"""Takes rows of another machine's log into its copy here, sets a copy aside, and folds one again.

The bytes are the truth and are stored as they came. They are folded by the same code as our own rows. An
event that this version does not know is kept, and folded again once a newer version opens the store.
"""

import re
import secrets
from collections.abc import Iterator
from datetime import datetime
from zlib import crc32

import msgspec

from bascule.model.codec import UNKNOWN, Logged, decode_leniently, encode_logged, timestamp, vocabulary
from bascule.model.errors import Diverged, InvalidInput, LimitReached, OwnerMismatch
from bascule.model.events import (
    AnyEvent,
    ArchivedChanged,
    Note,
    PermissionWithdrawn,
    QuestionWithdrawn,
    SessionEnded,
    TitleChanged,
    Unrecognised,
)
from bascule.model.lifecycle import LIVE
from bascule.store import found, reader, replicas
from bascule.store.base import Batch, Row
from bascule.store.projection import SessionState
from bascule.store.replication import Replica, TakenIn
from bascule.store.transaction import Transaction

MAX_ROW_BYTES = 64 * 1024 * 1024  # a line of an agent has up to 16 MiB, and JSON may need two bytes for one
MAX_BATCH_BYTES = MAX_ROW_BYTES + 64 * 1024
MAX_BATCH_ROWS = 20_000
MAX_COPIES = 16  # of one session that are set aside
PART = 2048  # rows of a long log that are read at a time

EARLIER = " (earlier copy)"
BY = "Bascule"
SET_ASIDE = "log_set_aside"
TEXT = (
    "This is the copy that was kept here before {device} sent another log of the session: that machine was "
    "restored from an older copy, or cloned. The rows up to number {head} are as they came; the session goes "
    "on under its own link."
)
FOLDED = ("entries", "edits", "search_owed", "requests", "pending")

_SESSION_ID = re.compile(r"[A-Za-z0-9_.:-]{1,140}")
_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Incoming:
    """Rows as a device sent them, from number `first` on."""

    def __init__(
        self, device: str, session_id: str, first: int, rows: list[bytes], skew: float = 0.0
    ) -> None:
        self.device = device
        self.session_id = session_id
        self.first = first
        self.rows = rows
        self.skew = skew
        self.log: list[Logged] = []
        self.understood = True

    def check(self, size: int) -> None:
        """Decode them. Raises `InvalidInput` when they are not rows of a log."""
        if not _SESSION_ID.fullmatch(self.session_id) or self.first < 1 or not self.rows:
            raise InvalidInput("These are no rows of a session.", session_id=self.session_id[:140])
        if size > MAX_BATCH_BYTES or len(self.rows) > MAX_BATCH_ROWS:
            raise InvalidInput(f"Too many rows at once: {len(self.rows)}, {size} bytes.")
        self.log = list(map(self._decoded, range(self.first, self.first + len(self.rows)), self.rows))
        for at in {logged.at for logged in self.log}:
            if not _AT.fullmatch(at):
                raise InvalidInput(f"A row of session {self.session_id} has no time.")

    def _decoded(self, seq: int, body: bytes) -> Logged:
        try:
            logged = decode_leniently(body)
            if not body.isascii():
                body.decode()
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidInput(f"Row {seq} of session {self.session_id} is no row: {error}") from error
        if logged.seq != seq:
            raise InvalidInput(f"Row {seq} of session {self.session_id} says that it is row {logged.seq}.")
        if _is_unknown(logged):
            self.understood = False
        return logged


def take_in(transaction: Transaction, incoming: Incoming) -> TakenIn:
    """Raises before it has changed anything."""
    session_id, device, first = incoming.session_id, incoming.device, incoming.first
    state = transaction.state_of(session_id)
    head = state.row.record.seq
    replica = _owned(state, device)
    if first > head + 1:
        transaction.refuse_gap(session_id, first, head)
    known = min(head + 1 - first, len(incoming.rows))
    _compare(transaction, state, first, incoming.rows[:known])
    new = len(incoming.rows) - known
    if new:
        _keep(transaction, state, replica, incoming.understood)
        state.take_in(incoming.log[known:], incoming.rows[known:], device)
        if incoming.skew:
            state.row.record.updated_at = _by_our_clock(incoming.log[-1].at, incoming.skew)
    return TakenIn(state.row.record.seq, new, replicas.count_rows(transaction.connection, device, new))


def _by_our_clock(at: str, skew: float) -> str:
    try:
        return timestamp(datetime.fromisoformat(at).timestamp() - skew)
    except ValueError:  # a time that no calendar has; the row keeps it
        return at


def _owned(state: SessionState, device: str) -> Replica:
    """Checks that this device writes the log. A log that nobody has written yet becomes its own."""
    replica, session_id = state.replica, state.session_id
    if replica is None and state.row.record.seq == 0:
        return Replica(session_id, device)
    if replica is None or replica.device != device or replica.copy_of is not None:
        raise OwnerMismatch(f"Session {session_id} is not a session of this device.", session_id=session_id)
    return replica


def _compare(transaction: Transaction, state: SessionState, first: int, bodies: list[bytes]) -> None:
    """What is there already has to be the same."""
    if not bodies:
        return
    in_memory = {row.seq: row.body for row in state.rows}
    stored = state.row.record.seq - len(in_memory)
    last = first + len(bodies) - 1
    checksums = replicas.checksums(transaction.connection, state.session_id, first, min(last, stored))
    for seq, body in enumerate(bodies, first):
        if seq > stored:
            same = in_memory[seq] == body
        else:
            same = seq - first < len(checksums) and _checksum(state, seq, body) == checksums[seq - first]
        if not same:
            raise Diverged(
                f"Row {seq} of session {state.session_id} is not the one that was copied before.",
                session_id=state.session_id,
                seq=seq,
            )


def _checksum(state: SessionState, seq: int, body: bytes) -> int:
    return crc32(body, (state.seed + seq) & 0xFFFFFFFF)


def _keep(transaction: Transaction, state: SessionState, replica: Replica, understood: bool) -> None:
    """Note whose log it is; that it is there after all; and that a newer version may understand more."""
    kept = replica._replace(gone=False)
    if not understood:
        kept = kept._replace(fold_version=vocabulary())
    if kept != state.replica:
        replicas.put(transaction.connection, kept)
        state.replica = kept
    transaction.touch(state)


# Divergence ---------------------------------------------------------------------------------------------


def set_aside(transaction: Transaction, device: str, session_id: str, now: float) -> str | None:
    """Move a session's copy to a new id. Nothing of it is lost: the log lets go only of rows the copy has."""
    state = transaction.state_of(session_id)
    replica = _owned(state, device)
    if state.row.record.seq == 0:
        return None
    if state.row.record.found:
        _begin_again(transaction, replica)
        return None
    transaction.write_now(session_id)
    copies = transaction.connection.execute(replicas.COPIES, (session_id,)).fetchone()[0]
    if copies >= MAX_COPIES:
        raise LimitReached(f"Session {session_id} was set aside {copies} times already.")
    copy = _copied(transaction, session_id, replica)
    head = copy.row.record.seq
    _close(copy, TEXT.format(device=device, head=head), timestamp(now))
    transaction.touch(copy)
    _begin_again(transaction, replica)
    return copy.session_id


def _begin_again(transaction: Transaction, replica: Replica) -> None:
    found.delete(transaction, replica.session_id)
    replicas.put(transaction.connection, replica._replace(gone=False, generation=replica.generation + 1))


def _copied(transaction: Transaction, session_id: str, replica: Replica) -> SessionState:
    name = secrets.token_hex(8)
    aside = replica._replace(session_id=name, copy_of=session_id, gone=False, generation=0)
    replicas.put(transaction.connection, aside)
    copy = transaction.empty(name)
    copy.replica = aside
    for part in _log(transaction, session_id):
        copy.take_in(*part, replica.device)
        transaction.write_part(copy)
    return copy


def _close(copy: SessionState, text: str, at: str) -> None:
    """From here on the log is this hub's own: it says why, and that nothing of it is waiting or running."""
    record = copy.row.record
    events: list[AnyEvent] = [Note(SET_ASIDE, text, "warning")]
    for request in copy.open_requests():
        withdrawn = PermissionWithdrawn if request.kind == "permission" else QuestionWithdrawn
        events.append(withdrawn(request.request_id, "restored"))
    if record.phase in LIVE or record.end_reason == "disconnected":
        events.append(SessionEnded("lost"))
    events += [TitleChanged(record.title + EARLIER, BY), ArchivedChanged(True, BY)]
    first = record.seq + 1
    bodies = [encode_logged(seq, at, event) for seq, event in enumerate(events, first)]
    batch = Batch(copy.session_id, first, at, events)
    copy.apply(batch, batch.log(), bodies)


def _log(transaction: Transaction, session_id: str) -> Iterator[tuple[list[Logged], list[bytes]]]:
    """All of a session's log, a part at a time."""
    after = 0
    while rows := reader.events(transaction.connection, session_id, after, PART):
        yield _decoded(rows)
        after = rows[-1].seq


def _decoded(rows: list[Row]) -> tuple[list[Logged], list[bytes]]:
    bodies = [row.body for row in rows]
    return list(map(decode_leniently, bodies)), bodies


def forget_copy(transaction: Transaction, device: str, session_id: str) -> bool:
    """Delete the copy of a found session; mark that of any other as gone. True when it was deleted."""
    state = transaction.state_of(session_id)
    replica = _owned(state, device)
    if state.row.record.seq == 0:
        return False
    if not state.row.record.found:
        state.replica = replica._replace(gone=True)
        replicas.put(transaction.connection, state.replica)
        return False
    found.delete(transaction, session_id)
    transaction.connection.execute(replicas.DROP, (session_id,))
    return True


# A newer version ----------------------------------------------------------------------------------------


def refold(transaction: Transaction, session_id: str) -> None:
    """Make everything that is folded from a copy's log again: this version may know more of its events."""
    connection = transaction.connection
    transaction.write_now(session_id)
    transaction.forget(session_id)
    found.drop_text(connection, session_id)
    for table in FOLDED:
        connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))
    state = transaction.empty(session_id)
    assert state.replica is not None
    understood = True
    for log, bodies in _log(transaction, session_id):
        understood = understood and not any(_is_unknown(one) for one in log)
        state.take_in(log, bodies, state.replica.device)
        state.rows = []  # they are in the log
        transaction.write_part(state)
    transaction.fold_all(state)
    state.replica = state.replica._replace(fold_version=None if understood else vocabulary())
    replicas.put(connection, state.replica)


def _is_unknown(logged: Logged) -> bool:
    return type(logged.event) is Unrecognised and logged.event.reason.startswith(UNKNOWN)
