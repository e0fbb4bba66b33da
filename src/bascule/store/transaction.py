"""One transaction of the writer: checks each step, then writes all of them to the tables."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import NoReturn
from zlib import crc32

from bascule.model.codec import Logged, encode, timestamp
from bascule.model.entries import TurnEntry
from bascule.model.errors import StorageFailed, StoreConflict
from bascule.model.records import Pending, SessionRecord
from bascule.store import edits, reader, replicas, session_index
from bascule.store.audit import AuditChain
from bascule.store.base import AuditRecord, Batch, Committed, StoredReply
from bascule.store.blocks import block_of, write_rows
from bascule.store.connection import Connection
from bascule.store.projection import MAX_DELIVERED, SessionState
from bascule.store.replication import Replica
from bascule.store.rows import SessionRow, checksum, encode_session, event_checksum

MAX_SESSIONS = 256  # whose folds stay in memory; the others are read again when they speak
MAX_DEBT_BYTES = 4 * 1024 * 1024  # of the log, in all sessions, that wait to be folded in the spare time
MAX_TAIL = 4096  # events that are read at a time to be folded
REPLY_SECONDS = 7 * 24 * 3600  # how long a repeated command is recognised
SWEEP_SECONDS = 3600
SWEEP_ROWS = 1000

UPSERT_SESSION = """
INSERT INTO sessions (session_id, seq, updated_at, archived, phase, record, crc, folded_seq, out_offset,
                      err_offset, resume_crc, found)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (session_id) DO UPDATE SET
    seq = excluded.seq, updated_at = excluded.updated_at, archived = excluded.archived,
    phase = excluded.phase, record = excluded.record, crc = excluded.crc, folded_seq = excluded.folded_seq,
    out_offset = excluded.out_offset, err_offset = excluded.err_offset, resume_crc = excluded.resume_crc,
    found = excluded.found
"""
UPSERT_PENDING = "INSERT OR REPLACE INTO pending (session_id, body) VALUES (?, ?)"
UPSERT_STATE = "INSERT OR REPLACE INTO driver_states (session_id, out_offset, state) VALUES (?, ?, ?)"
INSERT_EVENT = "INSERT INTO events (session_id, seq, body, crc, offsets) VALUES (?, ?, ?, ?, ?)"
INSERT_PLAIN = "INSERT INTO events (session_id, seq, body, crc) VALUES (?, ?, ?, ?)"
PLAIN_BLOCK = block_of(INSERT_PLAIN, 4)
UPSERT_ENTRY = """
INSERT INTO entries (session_id, first_seq, last_seq, open, body, crc) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (session_id, first_seq) DO UPDATE SET
    last_seq = excluded.last_seq, open = excluded.open, body = excluded.body, crc = excluded.crc
"""
ENTRY_BLOCK = block_of(UPSERT_ENTRY, 6)
OWE_SEARCH = "INSERT OR IGNORE INTO search_owed (session_id, first_seq) VALUES (?, ?)"
OWE_BLOCK = block_of(OWE_SEARCH, 2)
LEAVE_ENTRY = "UPDATE entries SET open = 0 WHERE session_id = ? AND first_seq = ?"
UPSERT_REQUEST = """
INSERT OR REPLACE INTO requests (session_id, request_id, seq, opened_at, state, body, crc)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
INSERT_WRITE = "INSERT OR IGNORE INTO outbox (session_id, write_id, data, crc) VALUES (?, ?, ?, ?)"
DELETE_WRITE = "DELETE FROM outbox WHERE session_id = ? AND write_id = ?"
INSERT_REPLY = "INSERT OR REPLACE INTO replies (key, body_sha256, reply, at) VALUES (?, ?, ?, ?)"
SWEEP_REPLIES = """
DELETE FROM replies WHERE key IN (SELECT key FROM replies WHERE at < ? ORDER BY at LIMIT ?)
"""

Committing = Callable[[frozenset[str], Mapping[str, int]], None]


class Transaction:
    """The writer's view of the database: its connection, the sessions it has in memory, the audit chain."""

    def __init__(self, connection: Connection, clock: Callable[[], float]) -> None:
        self.connection = connection
        self._clock = clock
        self._chain = AuditChain(connection)
        self._sessions: OrderedDict[str, SessionState] = OrderedDict()
        self._touched: dict[str, SessionState] = {}
        self._unfolded: dict[
            str, SessionState
        ] = {}  # those with a part of the log to be folded in spare time
        self._replicas: bool | None = None  # whether there are any; None until a caller asks
        self._swept_at = float("-inf")
        self._owed = False
        self._seen: set[str] = set()  # devices whose sessions this transaction looked at
        self._early: list[Committed] = []  # written before the end of the transaction
        self.unsaved: dict[str, StorageFailed] = {}  # sessions with a step the disk would not take

    def begin(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")

    def rollback(self) -> None:
        """Forget what was begun, in the database and in memory."""
        for session_id in list(self._touched):
            self.forget(session_id)
        self._chain.forget()
        self._early = []
        self._seen.clear()
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def commit(self, committing: Committing | None = None) -> list[Committed]:
        """Write what the steps left in memory, commit, and say what has become true."""
        for state in self._touched.values():
            self._write(state)
        if committing is not None:
            committing(frozenset(self._seen), self._grown())
        self._seen.clear()
        self.connection.execute("COMMIT")
        committed, self._early = self._early, []
        for session_id, state in self._touched.items():
            self.unsaved.pop(session_id, None)
            committed += _committed(state)
        self._touched = {}
        if len(self._sessions) > MAX_SESSIONS:
            self._forget_quiet_sessions()
        return committed

    def _grown(self) -> dict[str, int]:
        """The last row of each session that this transaction adds to."""
        grown = {commit.record.session_id: commit.rows[-1].seq for commit in self._early}
        for session_id, state in self._touched.items():
            if state.rows:
                grown[session_id] = state.rows[-1].seq
        return grown

    def _forget_quiet_sessions(self) -> None:
        excess = len(self._sessions) - MAX_SESSIONS
        quiet = [session_id for session_id in self._sessions if session_id not in self._unfolded]
        for session_id in quiet[:excess]:
            del self._sessions[session_id]

    def append(self, batch: Batch, log: list[Logged], bodies: list[bytes]) -> None:
        """Take one step of a session, with its log as it is encoded in `bodies`. Raises before it changes
        anything."""
        state = self._session(batch.session_id)
        self._check(state, batch)
        self._sessions[batch.session_id] = self._touched[batch.session_id] = state
        state.apply(batch, log, bodies)
        for write in batch.writes:
            crc = checksum(batch.session_id, 0, write.write_id.encode() + write.data)
            self.connection.execute(INSERT_WRITE, (batch.session_id, write.write_id, write.data, crc))
        for write_id in batch.delivered:
            self.connection.execute(DELETE_WRITE, (batch.session_id, write_id))
        if batch.audit:
            self._chain.add(batch.audit, batch.at)
        if batch.reply is not None:
            self._keep_reply(batch.reply)

    def is_at_hand(self, session_id: str) -> bool:
        """Whether a few rows of this session cost no more than themselves: it is in memory, and no folding
        that was put off may fall due."""
        return session_id in self._sessions and not self._unfolded

    def forget(self, session_id: str) -> None:
        """Drop what is kept in memory of a session: its rows are being deleted, or were not written."""
        self._sessions.pop(session_id, None)
        self._touched.pop(session_id, None)
        self._unfolded.pop(session_id, None)

    def forget_all(self, but_of: frozenset[str]) -> None:
        """Drop what is kept in memory of the database, which may have changed by another hand; but not of
        the sessions of these devices."""
        for session_id, state in list(self._sessions.items()):
            if state.replica is None or state.replica.device not in but_of:
                self.forget(session_id)
        self._chain.forget()
        self._replicas = None

    @property
    def audited(self) -> int | None:
        """The number of the last audit record, when one was added since the store was opened."""
        return self._chain.reached

    def audit(self, records: Iterable[AuditRecord]) -> None:
        self._chain.add(records, timestamp(self._clock()))

    def _session(self, session_id: str) -> SessionState:
        state = self._sessions.get(session_id)
        if state is not None:
            self._sessions.move_to_end(session_id)
            self._see(state)
            return state
        row = reader.session_row(self.connection, session_id)
        if row is None:
            return self.empty(session_id)
        state = SessionState(
            row,
            reader.open_entries(self.connection, session_id),
            *reader.tail(self.connection, session_id, row.folded_seq, MAX_TAIL),
            reader.waiting(self.connection, session_id)
            + reader.delivered(self.connection, session_id, MAX_DELIVERED),
        )
        state.replica = self._replica(session_id)
        self._see(state)
        self._fold_long_tail(state)
        return state

    def _see(self, state: SessionState) -> None:
        if state.replica is not None:
            self._seen.add(state.replica.device)

    def _replica(self, session_id: str) -> Replica | None:
        if self._replicas is None:
            self._replicas = replicas.any_replica(self.connection)
        return replicas.replica(self.connection, session_id) if self._replicas else None

    def empty(self, session_id: str) -> SessionState:
        """A session with nothing in its log."""
        state = SessionState(SessionRow(SessionRecord(session_id), Pending()), [], [], 0, [])
        state.replica = self._replica(session_id)
        return state

    def state_of(self, session_id: str) -> SessionState:
        """For those who take a step other than `append`; what they change they have to `touch`."""
        return self._session(session_id)

    def touch(self, state: SessionState) -> None:
        self._sessions[state.session_id] = self._touched[state.session_id] = state
        if state.replica is not None:
            self._replicas = True
            self._seen.add(state.replica.device)

    def write_now(self, session_id: str) -> None:
        """Write what earlier steps of this transaction left in memory, for a step that reads the log."""
        state = self._touched.get(session_id)
        if state is not None:
            self._write(state)
            self._early += _committed(state)

    def write_part(self, state: SessionState) -> None:
        """Write what a state holds so far: a long log is not kept in memory until the commit."""
        self.touch(state)
        self._write(state)
        state.written()

    def fold_all(self, state: SessionState) -> None:
        """Make all of a session's entries at once."""
        while state.lags:
            self._write_entries(state)

    def _fold_long_tail(self, state: SessionState) -> None:
        """Nearly all of the log may have to be folded, when its entries were thrown away."""
        session_id, row = state.session_id, state.row
        while state.tail_end < row.record.seq:
            self._sessions[session_id] = self._touched[session_id] = state
            while state.lags_far:
                self._write_entries(state)
            state.add_tail(*reader.tail(self.connection, session_id, state.tail_end, MAX_TAIL))

    def rebuild(self, session_id: str) -> None:
        """Make a session's entries again from its log; the caller has thrown away the stored ones."""
        self.forget(session_id)
        self._touched[session_id] = self._sessions[session_id] = state = self._session(session_id)
        self.fold_all(state)

    def _check(self, state: SessionState, batch: Batch) -> None:
        head = state.row.record.seq
        if state.replica is not None:
            raise StoreConflict(f"Session {batch.session_id} is written by another device.")
        if batch.first_seq != head + 1:
            self.refuse_gap(batch.session_id, batch.first_seq, head)
        if head == 0 and not batch.events:
            raise StoreConflict(f"There is no session {batch.session_id} yet.", session_id=batch.session_id)
        if batch.reply is not None and reader.reply(
            self.connection, batch.reply.key, self._clock() - REPLY_SECONDS
        ):
            raise StoreConflict("A command with this key has already been answered.", key=batch.reply.key)

    def refuse_gap(self, session_id: str, first_seq: int, head: int) -> NoReturn:
        earlier = self.unsaved.get(session_id)
        if earlier is not None and first_seq > head + 1:
            # It was queued behind a step that could not be stored: the fault is the disk's, not its owner's.
            raise type(earlier)(earlier.message, session_id=session_id, head=head)
        raise StoreConflict(
            f"Session {session_id} is at {head}; a step from {first_seq} on does not follow.",
            session_id=session_id,
            head=head,
            first_seq=first_seq,
        )

    def _keep_reply(self, kept: StoredReply) -> None:
        now = self._clock()
        self.connection.execute(INSERT_REPLY, (kept.key, kept.body_sha256, kept.reply, now))
        if now - self._swept_at >= SWEEP_SECONDS:
            self.connection.execute(SWEEP_REPLIES, (now - REPLY_SECONDS, SWEEP_ROWS))
            self._swept_at = now

    def _write(self, state: SessionState) -> None:
        session_id = state.session_id
        if state.fold_is_due:
            self._fold_or_put_off(state)
        row_is_due = state.row_is_due
        self._write_log(state)
        if state.title_changed:
            self._owe(session_id, [0])
        for request in state.changed_requests.values():
            body = encode(request)
            crc = checksum(session_id, request.seq, body)
            key = (session_id, request.request_id, request.seq, request.opened_at, request.state)
            self.connection.execute(UPSERT_REQUEST, (*key, body, crc))
        if row_is_due:
            self._write_row(state)

    def _fold_or_put_off(self, state: SessionState) -> None:
        """The end of an ordinary turn is folded at once, a long tail in the writer's spare time."""
        if not state.lags_far:
            self._write_entries(state)
            return
        self._unfolded[state.session_id] = state
        while state.lags_far and self._debt() >= MAX_DEBT_BYTES:
            self._write_entries(state)

    def _debt(self) -> int:
        """Bytes of the log, in all sessions, whose folding was put off."""
        return sum(state.lag_bytes for state in self._unfolded.values())

    def fold_some(self) -> bool:
        """Fold a part of what was put off. False when there is nothing."""
        for session_id, state in self._unfolded.items():
            self._touched[session_id] = state
            self._write_entries(state)
            return True
        return False

    def _write_log(self, state: SessionState) -> None:
        if not state.rows:
            return
        session_id, base, rows = state.session_id, state.seed, state.rows
        *rest, last = rows
        values = [
            (session_id, row.seq, row.body, crc32(row.body, (base + row.seq) & 0xFFFFFFFF)) for row in rest
        ]
        write_rows(self.connection, INSERT_PLAIN, PLAIN_BLOCK, values)
        offsets = state.take_offsets()
        crc = event_checksum(base, last.seq, last.body, offsets)
        self.connection.execute(INSERT_EVENT, (session_id, last.seq, last.body, crc, offsets))

    def _write_row(self, state: SessionState) -> None:
        session_id, row = state.session_id, state.row
        if state.pending_changed:
            body = encode(row.pending)
            row.pending_crc = crc32(body)
            self.connection.execute(UPSERT_PENDING, (session_id, body))
        if state.state_changed and row.driver_state is not None:
            row.state_crc = crc32(row.driver_state)
            self.connection.execute(UPSERT_STATE, (session_id, row.state_offset, row.driver_state))
        self.connection.execute(UPSERT_SESSION, encode_session(row))
        state.row_written()
        facts = state.take_facts()
        if facts is not None:
            session_index.write(self.connection, session_id, facts)

    def _write_entries(self, state: SessionState) -> None:
        session_id, base, folded = state.session_id, state.seed, state.fold()
        if not state.fold_is_due:
            self._unfolded.pop(session_id, None)
        values: list[tuple[str, int, int, int, bytes, int]] = []
        done: list[int] = [*folded.left]
        for entry in folded.changed:
            body, first = encode(entry), entry.first_seq
            crc = crc32(body, (base + first) & 0xFFFFFFFF)
            still_open = first in folded.open_now
            values.append((session_id, first, entry.last_seq, int(still_open), body, crc))
            if not still_open and not isinstance(entry, TurnEntry):
                done.append(first)
                edits.keep(self.connection, session_id, entry)
        write_rows(self.connection, UPSERT_ENTRY, ENTRY_BLOCK, values)
        for first_seq in folded.left:
            self.connection.execute(LEAVE_ENTRY, (session_id, first_seq))
        self._owe(session_id, done)

    def _owe(self, session_id: str, first_seqs: list[int]) -> None:
        """Marks finished entries as owed to the search index."""
        if first_seqs:
            rows = [(session_id, first_seq) for first_seq in first_seqs]
            write_rows(self.connection, OWE_SEARCH, OWE_BLOCK, rows)
            self._owed = True

    def take_owed(self) -> bool:
        """Whether entries became owed to the search index since the last call, or are to be folded."""
        owed, self._owed = self._owed or bool(self._unfolded), False
        return owed


def _committed(state: SessionState) -> list[Committed]:
    """What was written of a session, for listeners; nothing when its log has not grown."""
    requests = [copy(request) for request in state.changed_requests.values()]
    changed, taken_in = state.advanced, state.replica is not None
    rows = state.written()
    return [Committed(copy(state.row.record), rows, requests, changed, taken_in)] if rows else []
