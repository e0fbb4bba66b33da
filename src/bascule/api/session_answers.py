"""Answers of the API about sessions: lists, transcripts, logs and what was spent."""

from msgspec import Raw, Struct, field

from bascule.api.view import View
from bascule.model.events import PromptQueued
from bascule.model.records import SessionRecord
from bascule.model.starts import WaitingStart


class SessionView(SessionRecord, kw_only=True):
    """A session's record, with the names that the chat API and the workbench have for some of its fields."""

    id: str = ""
    status: str = ""
    created: str = field(name="createdAt", default="")
    last_active: str = field(name="lastActiveAt", default="")
    cli_type: str = field(name="cliType", default="")
    model: str | None = field(default_factory=lambda: None)  # unlike a plain default, null is sent


class DamagedSession(View, frozen=True, kw_only=True):
    """A session whose record can't be read. Its name stays taken, its log is left as it is."""

    session_id: str
    message: str


class SessionList(View, frozen=True, kw_only=True):
    """A page, the latest activity first. `next` is the cursor of the page after it; null after the last.

    `damaged` stands in the first page only.
    """

    sessions: list[SessionView]
    damaged: list[DamagedSession] = field(default_factory=list[DamagedSession])
    next: str | None = None


class FolderSessions(View, frozen=True, kw_only=True):
    """How many sessions work for a folder of a machine."""

    path: str
    device: str
    sessions: int


class SessionCount(View, frozen=True, kw_only=True):
    """`total` and `archived` count every session; `folders` has the 500 fullest."""

    folders: list[FolderSessions]
    total: int
    archived: int


class AgentSums(View, frozen=True, kw_only=True):
    """`costUsd` is null when no session of this agent says what it cost."""

    agent: str
    sessions: int
    turns: int
    cost_usd: float | None


class DeviceSums(View, frozen=True, kw_only=True):
    """What the sessions of one machine took and cost. `name` is empty once it is no longer listed."""

    device: str
    name: str
    sessions: int
    turns: int
    cost_usd: float | None


class UsageSums(View, frozen=True, kw_only=True):
    """What all sessions of all machines took and cost, archived ones included, and the 100 that cost most."""

    sessions: int
    turns: int
    cost_usd: float | None
    agents: list[AgentSums]
    devices: list[DeviceSums]
    costliest: list[SessionView]


class Created(View, frozen=True, kw_only=True):
    """A new session. `token` opens it and nothing else; it is shown only once."""

    id: str
    token: str = ""
    session_id: str = ""  # the same as `id`, by the name the socket uses
    seq: int = 0
    model: str | None = None
    created_at: str = ""
    waiting: WaitingStart | None = None  # it starts once somebody approves it on its machine


class Spawned(Struct, frozen=True, kw_only=True):
    session_id: str
    status: str
    harness: str


class SessionOpened(View, frozen=True, kw_only=True):
    """A page of the transcript and where the log stands: subscribe after `seq` and nothing is missing."""

    session: SessionView
    seq: int
    epoch: str
    entries: list[Raw]
    before: int | None
    after: int | None
    queue: list[PromptQueued]


class Subscribed(View, frozen=True, kw_only=True):
    seq: int = 0
    epoch: str = ""


class EntriesPage(View, frozen=True, kw_only=True):
    """Entries, the newest last, true as of `seq`: follow the events after it.

    `before` reaches further up, `after` further down; null where there is nothing more.
    """

    seq: int
    entries: list[Raw]
    before: int | None = None
    after: int | None = None
    epoch: str = ""  # which history `seq` is of


class Queue(View, frozen=True, kw_only=True):
    """The prompts that wait, in the order they will be sent."""

    queue: list[PromptQueued]


class CastPage(View, frozen=True, kw_only=True):
    """Lines of an asciinema v2 file; `next` is the offset of the next page, null at the end."""

    text: str
    next: int | None


class EventsPage(View, frozen=True, kw_only=True):
    """Rows of the log as they are: `{"seq", "at", "event"}`."""

    events: list[Raw]
    last: int


class LaunchTerminal(View, frozen=True, kw_only=True):
    """`rule` says why this terminal; `problem` why there is none, as where no desktop session is."""

    terminal: str = ""
    rule: str = ""
    problem: str = ""


class TerminalOpened(View, frozen=True, kw_only=True):
    """`launched` is true once the window has reported; else `GET /launch/{id}` tells what became of it."""

    id: str
    launched: bool
    terminal: str
    rule: str


class SessionShown(View, frozen=True, kw_only=True):
    """One session, as the socket gives it."""

    session: SessionView
