"""Arguments and results of a store: steps, rows, pages, hits. `protocols.py` has its methods."""

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from bascule.model.codec import Logged, encode
from bascule.model.commands import Actor, Command, Envelope
from bascule.model.events import AnyEvent
from bascule.model.records import Pending, RequestRecord, SessionRecord, Write

MAX_FOLDERS = 500

Conversation = tuple[str, str]  # an agent, and its own name of a session
# Of which machines; None for all. An older log names none: it is of the machine "".
Devices = Sequence[str] | None


class Row(Struct, frozen=True, gc=False):
    """One entry of a log, already in the form that goes to a browser (`Logged` as JSON).

    One is made for every event that is stored or read: a struct takes a quarter of a named tuple's time.
    """

    seq: int
    body: bytes


AuditAction = Literal[
    "session_started",
    "session_ended",
    "input",
    "permission",
    "question",
    "rule",
    "mode",
    "interrupt",
    "limit",  # a guard rail was answered
    "grant",
    "worktree",
    "git",
    "refused",
    "start_asked",
    "start_decided",
    "start_refused",
    "start_unusual",
    "restored",  # an older copy of a database, here or at a hub, was noticed
]


class AuditRecord(Struct, frozen=True, omit_defaults=True):
    """Who did what. The store adds the number, the time and the chain hash."""

    action: AuditAction
    actor: str
    session_id: str | None = None
    grant_id: str = ""
    address: str = ""
    user_agent: str = ""
    request_id: str | None = None
    decision: str | None = None
    input_sha256: str | None = None
    detail: str = ""
    via: str = ""  # the hub on another machine that said all this of who asked

    @staticmethod
    def of(by: Actor, action: AuditAction, session_id: str | None = None, detail: str = "") -> "AuditRecord":
        """A record of `by`'s action, with their grant, address and user agent."""
        who = (by.name, session_id, by.grant_id, by.address, by.user_agent)
        return AuditRecord(action, *who, detail=detail, via=by.via)


class StoredReply(Struct, frozen=True):
    """The answer to a command with an idempotency key, returned again if the command is repeated."""

    key: str
    body_sha256: str
    reply: bytes

    @staticmethod
    def to(envelope: Envelope[Command[Any]], answer: Struct) -> "StoredReply | None":
        """The reply to store with the command's events; None without a key."""
        if envelope.key is None:
            return None
        return StoredReply(envelope.key, envelope.body_sha256, encode(answer))


class Batch(Struct):
    """One atomic write of one session: events, and everything committed with them."""

    session_id: str
    first_seq: int
    at: str
    events: list[AnyEvent]
    out_offset: int | None = None  # spool bytes that have become events
    err_offset: int | None = None
    driver_state: bytes | None = None
    state_offset: int | None = None  # the offset of that state; `out_offset` when None
    writes: list[Write] = []  # into the outbox, to be delivered after the commit
    delivered: list[str] = []  # write ids that leave the outbox
    audit: list[AuditRecord] = []
    reply: StoredReply | None = None
    sync: bool = False  # report the commit only once it would survive a power cut

    def log(self) -> list[Logged]:
        numbers = range(self.first_seq, self.first_seq + len(self.events))
        return list(map(Logged, numbers, repeat(self.at), self.events))


class ResumePoint(Struct):
    """Everything needed to resume a session after a restart.

    `out_offset` is how far its output has become events. The driver's state is that of `state_offset`, at or
    before it: the driver is given the output between the two again, and what it says to it is in the log.
    """

    record: SessionRecord
    pending: Pending
    out_offset: int
    err_offset: int
    driver_state: bytes | None
    outbox: list[Write]
    requests: list[RequestRecord]  # open, or answered and not yet delivered
    state_offset: int = 0


class Page(NamedTuple):
    """Some folded entries (as JSON), the newest last, true as of `seq`.

    `before` reaches the page above, `after` the one below; None where there is nothing more.
    """

    seq: int
    entries: list[bytes]
    before: int | None
    after: int | None = None


class FoundSession(NamedTuple):
    """A session begun outside Bascule: its record, its pending prompts, and its import state."""

    record: SessionRecord
    pending: Pending
    state: bytes | None


class SessionFilter(Struct, frozen=True, kw_only=True):
    """Which sessions of ours; all conditions together."""

    archived: bool = False
    live: bool = False  # those whose agent runs, or is being started again
    folder: str | None = None  # whose work is meant for this folder
    below: bool = False  # or for one below it
    devices: Devices = None


ALL_SESSIONS = SessionFilter()


class SessionPage(NamedTuple):
    """`next` is the cursor of the page that follows; None after the last one."""

    sessions: list[SessionRecord]
    next: str | None


class FolderCount(NamedTuple):
    path: str
    device: str
    sessions: int


class SessionCounts(NamedTuple):
    """`folders` has at most `MAX_FOLDERS`, the fullest first; the other numbers count everything."""

    folders: list[FolderCount]
    listed: int
    archived: int


class AgentUsage(NamedTuple):
    """One agent on one machine. `cost_usd` is None when none of its sessions says what it cost."""

    agent: str
    sessions: int
    turns: int
    cost_usd: float | None
    device: str = ""


class Usage(NamedTuple):
    """The sums of all sessions of ours, and those that cost most."""

    agents: list[AgentUsage]
    costliest: list[SessionRecord]


class Edited(Struct):
    """One file as a session's tools changed it: how often, by how much, and the newest patches."""

    path: str
    added: int = 0
    removed: int = 0
    entries: list[int] = []  # their first_seq, newest first
    patch: str = ""
    cut: bool = False


class SearchHit(NamedTuple):
    """A message (or, with `first_seq` 0, a title) that matches a search.

    `snippet` is plain text in pieces: the second, fourth, … are the words that matched.
    """

    session_id: str
    title: str
    first_seq: int
    snippet: tuple[str, ...]
    at: str
    kind: str  # of the entry, or "title"
    archived: bool
    found: bool = False  # in a session that was begun outside Bascule


class SearchResult(NamedTuple):
    """`owed` entries are not indexed yet (just added, or after an update)."""

    hits: list[SearchHit]
    owed: int


class AuditCheck(Struct, frozen=True):
    """The result of verifying the audit chain."""

    checked: int  # records that hold, from the first
    head: str  # the hash of the last of them
    bad: int | None = None  # the number of the first record that does not hold
    fault: str = ""


class Committed(NamedTuple):
    """What a commit changed in one session, as listeners receive it.

    Called on the event loop, in commit order. Steps that were committed together come as one.
    """

    record: SessionRecord
    rows: list[Row]
    requests: Sequence[RequestRecord] = ()  # opened, answered, delivered or withdrawn by these rows
    changed: bool = True  # something of the record besides how far the log has grown, and when
    taken_in: bool = False  # a copy of another machine's log


Listener = Callable[[Committed], None]
