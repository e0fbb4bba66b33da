"""The writer's projection of one session: applies the model's folds and makes the rows to store.

The log is written with every step; what is folded from it only now and then, so that a piece of output costs
the row of its event. Entries are folded when a turn ends; those of a long turn a part at a time, in the spare
time of the writer. The reader of a page folds the rest of the log onto what is stored. The row of a live
session may be behind its log within a second, and only in what `COUNTED` events change: its reader folds the
rest as well.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from bascule.model.codec import Logged
from bascule.model.entries import AnyEntry, Fold, TextEntry
from bascule.model.events import (
    AnyEvent,
    SessionEnded,
    SessionFailed,
    TextAppended,
    ToolChanged,
    TurnEnded,
    UsageChanged,
)
from bascule.model.lifecycle import LIVE
from bascule.model.records import RequestRecord, SessionRecord
from bascule.model.session_fold import CHANGES_PENDING, NO_RECORD_CHANGE, SessionFold
from bascule.store.base import Batch, Row
from bascule.store.replication import Replica
from bascule.store.rows import SessionRow, encode_offsets, seed
from bascule.store.session_index import Facts, facts_of

MAX_LAG_EVENTS = 512  # a longer tail is folded in parts
MAX_LAG_BYTES = 256 * 1024
# A text that is still open is written anew with each part, so the parts of a long one grow with it.
MAX_TEXT_LAG_EVENTS = 4096
PIECE_BYTES = 64  # of a text, about
PART_BYTES = 512 * 1024  # about as much as is folded at a time, unless its events are small
TEXT_TIMES = 4  # that the log of a text may be as long as what is folded of it
SECOND = len("2027-01-15T08:00:00")  # of a timestamp
MAX_DELIVERED = 64  # requests whose answer was delivered and whose tool has not moved yet

# They add to counters of the record. Whatever else changes a record is stored with it at once; so is a new
# cost, because costs are summed up in SQL.
COUNTED: frozenset[type[AnyEvent]] = frozenset({ToolChanged, UsageChanged})
ENDINGS: frozenset[type[AnyEvent]] = frozenset({TurnEnded, SessionEnded, SessionFailed})


def may_lag(record: SessionRecord) -> bool:
    """Whether a stored record may be behind its log."""
    return record.phase in LIVE and not record.found


def merged(log: Iterable[Logged]) -> Iterator[Logged]:
    """The same log with neighbouring pieces of one text joined: it folds to the same, without re-copying."""
    for entry_id, run in groupby(log, _text_of):
        if entry_id is None:
            yield from run
        else:
            yield _joined(list(run))


def _text_of(logged: Logged) -> str | None:
    return logged.event.entry_id if isinstance(logged.event, TextAppended) else None


def _joined(run: list[Logged]) -> Logged:
    last = run[-1]
    assert isinstance(last.event, TextAppended)
    text = "".join(one.event.text for one in run if isinstance(one.event, TextAppended))
    return Logged(last.seq, last.at, TextAppended(last.event.entry_id, last.event.kind, text))


def _characters(entries: Iterable[AnyEntry]) -> int:
    """Of the texts that are still open."""
    return sum(len(entry.text) for entry in entries if isinstance(entry, TextEntry))


class FoldedEntries:
    """The entries that changed, and those that left the fold without a change of their own."""

    def __init__(self, changed: list[AnyEntry], open_now: set[int], left: set[int]) -> None:
        self.changed = changed
        self.open_now = open_now
        self.left = left


class SessionState:
    """A session's folds, and their changes that are not in the database yet."""

    def __init__(
        self,
        row: SessionRow,
        open_entries: list[AnyEntry],
        tail: list[Logged],
        tail_bytes: int,
        requests: list[RequestRecord],
    ) -> None:
        self.row = row
        self.session_id = row.record.session_id
        self.seed = seed(self.session_id)
        self._session = SessionFold(row.record, row.pending, requests)
        self._entries = Fold(open_entries)
        self._open_rows = {entry.first_seq for entry in open_entries}
        self._tail = tail
        self._tail_bytes = tail_bytes
        self._open_text = _characters(open_entries)
        self._turn_over = False
        self.title_changed = False
        self._indexed = facts_of(row.record) if row.record.seq else None
        self.advanced = False  # something of its record may have changed
        self._row_changed = row.record.seq == 0  # in something that must not lag
        self._row_second = ""  # in which it was last written
        self._row_seq = row.record.seq
        self._offsets_moved = False
        self.pending_changed = False
        self.state_changed = False
        self.rows: list[Row] = []
        self.changed_requests: dict[str, RequestRecord] = {}
        self.replica: Replica | None = None  # it is a copy of another device's log

    def add_tail(self, tail: list[Logged], tail_bytes: int) -> None:
        """More of its log that the stored entries do not hold."""
        self._tail += tail
        self._tail_bytes += tail_bytes

    def apply(self, batch: Batch, log: list[Logged], bodies: list[bytes]) -> None:
        """Take one step. Only memory changes: the transaction writes what it finds here."""
        numbers = range(batch.first_seq, batch.first_seq + len(bodies))
        self._extend(log, numbers, bodies)
        self._move_marks(batch)

    def take_in(self, log: list[Logged], bodies: list[bytes], device: str) -> None:
        """Rows of a log that another device writes. Whose it is, the rows themselves can't change."""
        self._extend(log, range(log[0].seq, log[0].seq + len(log)), bodies)
        record, generation = self.row.record, self.replica.generation if self.replica else 0
        if (record.device, record.generation) != (device, generation):
            record.device, record.generation, self._row_changed = device, generation, True

    def _extend(self, log: list[Logged], numbers: range, bodies: list[bytes]) -> None:
        self._tail += log
        self.rows += map(Row, numbers, bodies)
        self._tail_bytes += sum(map(len, bodies))
        for logged in log:
            event = logged.event
            if type(event) not in NO_RECORD_CHANGE and not self._session.only_moves(event):
                self._advance(logged)
        if log:
            self.row.record.seq, self.row.record.updated_at = log[-1].seq, log[-1].at

    def _move_marks(self, batch: Batch) -> None:
        row = self.row
        if batch.out_offset is not None:
            row.out_offset, self._offsets_moved = batch.out_offset, True
        if batch.err_offset is not None:
            row.err_offset, self._offsets_moved = batch.err_offset, True
        if batch.driver_state is not None:
            row.driver_state = batch.driver_state
            row.state_offset = row.out_offset if batch.state_offset is None else batch.state_offset
            self.state_changed = True

    def _advance(self, logged: Logged) -> None:
        self.advanced = True
        record, kind = self.row.record, type(logged.event)
        title, cost = record.title, record.cost_usd
        changed = self._session.apply(logged)
        for request in changed:
            self.changed_requests[request.request_id] = request
        if kind in COUNTED and not changed and record.cost_usd == cost:
            return
        self._row_changed = True
        self.pending_changed = self.pending_changed or kind in CHANGES_PENDING
        self.title_changed = self.title_changed or record.title != title
        self._turn_over = self._turn_over or kind in ENDINGS

    def open_requests(self) -> list[RequestRecord]:
        return [request for request in self._session.requests.values() if request.state == "open"]

    def take_offsets(self) -> bytes | None:
        """How far its output has been read, for the last row of a step that read on."""
        moved, self._offsets_moved = self._offsets_moved, False
        return encode_offsets(self.row.out_offset, self.row.err_offset) if moved else None

    @property
    def row_is_due(self) -> bool:
        """Whether its row has to be written with this step."""
        lost_offsets = self._offsets_moved and not self.rows  # with no event to hold them
        return (
            self._row_changed
            or self.state_changed
            or lost_offsets
            or not may_lag(self.row.record)
            or self.row.record.seq - self._row_seq >= MAX_LAG_EVENTS  # its readers fold them one by one
            or self.row.record.updated_at[:SECOND] != self._row_second  # lists are in the order of the rows
        )

    def row_written(self) -> None:
        self._row_changed = self.pending_changed = self.state_changed = self._offsets_moved = False
        self._row_second, self._row_seq = self.row.record.updated_at[:SECOND], self.row.record.seq

    def take_facts(self) -> Facts | None:
        """What lists choose it by, when that has changed."""
        if not self.advanced:
            return None
        before = self._indexed
        self._indexed = facts_of(self.row.record)
        return None if self._indexed == before else self._indexed

    @property
    def lag_bytes(self) -> int:
        """About how much of the log the entries do not hold yet."""
        return self._tail_bytes

    @property
    def lags(self) -> bool:
        return bool(self._tail)

    @property
    def tail_end(self) -> int:
        """The last event that is folded, or in memory to be folded."""
        return self._tail[-1].seq if self._tail else self.row.folded_seq

    @property
    def lags_far(self) -> bool:
        most_bytes = max(MAX_LAG_BYTES, TEXT_TIMES * self._open_text)
        return len(self._tail) >= self._most_events or self._tail_bytes >= most_bytes

    @property
    def _most_events(self) -> int:
        return max(MAX_LAG_EVENTS, min(MAX_TEXT_LAG_EVENTS, self._open_text // PIECE_BYTES))

    @property
    def fold_is_due(self) -> bool:
        return (self._turn_over and self.lags) or self.lags_far

    def fold(self) -> FoldedEntries:
        """Bring the entries up to the head of the log, or nearer to it."""
        length = len(self._tail)
        fitting = length * max(PART_BYTES, TEXT_TIMES * self._open_text) // max(1, self._tail_bytes)
        most = max(1, min(self._most_events, fitting))
        part = self._tail[:most]
        del self._tail[:most]
        for logged in merged(part):
            self._entries.apply(logged)
        changed = self._entries.take_dirty()
        open_now = {entry.first_seq for entry in self._entries.open.values()}
        # An entry whose name was taken by a newer one is never changed again, though it never closed.
        left = self._open_rows - open_now - {entry.first_seq for entry in changed}
        self._open_rows, self._open_text = open_now, _characters(self._entries.open.values())
        self._tail_bytes = self._tail_bytes * len(self._tail) // length
        self._turn_over = self._turn_over and self.lags
        self.row.folded_seq = part[-1].seq
        self._row_changed = True
        return FoldedEntries(changed, open_now, left)

    def written(self) -> list[Row]:
        """All is in the transaction: hand over the new rows and forget the changes."""
        if self.changed_requests:
            self._forget_settled_requests()
        rows, self.rows, self.changed_requests = self.rows, [], {}
        self.title_changed = self.advanced = False
        return rows

    def _forget_settled_requests(self) -> None:
        self._session.forget(("confirmed", "withdrawn"))
        self._session.forget(("delivered",), MAX_DELIVERED)
