"""Answers of the API, one struct each, for HTTP, the socket, the page and the client. camelCase.

The hub sends every field. Defaults are for a client that talks to an older server.
"""

from typing import Literal

from msgspec import Raw, Struct, field

from bascule.link.found import FoundList
from bascule.link.machine import AgentInfo
from bascule.link.rules import DryRun
from bascule.link.starts import StartsState
from bascule.link.tunnels import TunnelStatus
from bascule.model.capability import Capability
from bascule.model.commands import Done
from bascule.model.events import PromptQueued
from bascule.model.projects import Project
from bascule.model.records import AnswerState, RequestRecord, SessionRecord
from bascule.model.rules import Tried
from bascule.model.settings import Limits, TerminalSettings
from bascule.model.starts import WaitingStart


class View(Struct, frozen=True, rename="camel", kw_only=True):
    """The base of every answer."""


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
    damaged: list[DamagedSession] = []
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


class Waits(View, frozen=True, kw_only=True):
    """Seconds that a request waits before it is answered with no."""

    permission: int
    question: int


class Hello(View, frozen=True, kw_only=True):
    """Who the socket's grant says it is, and which Bascule answers."""

    name: str
    former_names: list[str]  # of the same grant
    role: str
    session_id: str | None
    grant_id: str
    made_by: str
    expires_at: str | None
    version: str
    waits: Waits
    boot: str  # names this run of the server
    epoch: str
    device: str = ""  # the machine this server runs on; empty when it has no sessions of its own


class EntriesPage(View, frozen=True, kw_only=True):
    """Entries, the newest last, true as of `seq`: follow the events after it.

    `before` reaches further up, `after` further down; null where there is nothing more.
    """

    seq: int
    entries: list[Raw]
    before: int | None = None
    after: int | None = None
    epoch: str = ""  # which history `seq` is of


class SearchHitView(View, frozen=True, kw_only=True):
    """A message, or with `firstSeq` 0 a title. The second, fourth, … pieces of `snippet` matched."""

    session_id: str
    title: str
    first_seq: int
    snippet: list[str]
    at: str
    kind: str
    archived: bool
    found: bool  # in a session that was begun outside Bascule
    device: str = ""  # of a found session that this hub has no copy of yet: `found:fetch` makes one


class MissingDevice(View, frozen=True, kw_only=True):
    """A machine that is not in a list of all of them: it is away, or did not answer in time."""

    device: str
    name: str
    last_heard: str | None = None


class SearchAnswer(View, frozen=True, kw_only=True):
    """Newest first, titles before messages. `owed` messages can't be found yet: the index is being filled.

    `missing`: machines whose found sessions were not searched: they are away or did not answer in time.
    """

    hits: list[SearchHitView]
    owed: int
    missing: tuple[MissingDevice, ...] = ()


class ProjectList(View, frozen=True, kw_only=True):
    """In the order they were added."""

    projects: list[Project]


class RecentFolder(View, frozen=True, kw_only=True):
    """A path means a folder only together with its machine."""

    path: str
    device: str


class RecentDirectories(View, frozen=True, kw_only=True):
    """The latest first. `directories` are the paths alone, each once."""

    directories: list[str]
    folders: list[RecentFolder] = []


class Directories(View, frozen=True, omit_defaults=True, kw_only=True):
    """Either the real path of the folder asked about, or folders that a beginning could become."""

    path: str | None = None
    files: int | None = None  # how many git tracks or does not ignore there; none without git
    directories: list[str] | None = None
    cut: bool = False


class ChangedFile(View, frozen=True, kw_only=True):
    """`source` says who knows of it: the session's own tools, git, or both. Git's patch is the whole change.

    `edits` are the entries that changed it, newest first. `status` "edited" is a tool's word without git's.
    """

    path: str
    status: Literal["modified", "added", "deleted", "untracked", "conflict", "edited"]
    added: int
    removed: int
    patch: str
    cut: bool
    binary: bool
    staged: bool = False
    source: Literal["session", "git", "both"]
    edits: list[int]


class Changes(View, frozen=True, kw_only=True):
    branch: str | None
    files: list[ChangedFile]
    cut: bool
    git_problem: str | None


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


class WaitingAnswerView(Struct, frozen=True):
    """An answer that waits for the request's machine to come back: what, by whom, and when it was given."""

    decision: str  # allow, deny or answered
    by: str
    at: str


class RequestView(RequestRecord, kw_only=True):
    """A permission request or a question, with its session's title."""

    session_title: str = ""
    waiting_answer: WaitingAnswerView | None = field(name="waitingAnswer", default=None)


class AnswerGiven(Done, frozen=True, kw_only=True):
    """The machine took the answer; or it `waits`, because the machine is away: `message` says so."""

    waits: bool = False
    answer_id: str = ""  # of an answer that waits
    message: str = ""


class EndGiven(Done, frozen=True, kw_only=True):
    """The machine ends the session; or that `waits`, because the machine is away: `message` says so."""

    waits: bool = False
    message: str = ""


class AnswerView(View, frozen=True, kw_only=True):
    """An answer that was given while its request's machine was away.

    `state` is waiting, applied, refused (by the machine), expired (an allow that was too old), revoked (its
    grant no longer holds) or taken_back; `outcome` says it in words.
    """

    id: str
    device: str
    device_name: str
    session_id: str
    session_title: str
    request_id: str
    decision: str  # allow, deny or answered
    by: str
    at: str
    expires_at: str | None = None
    sent_at: str | None = None
    state: AnswerState = "waiting"
    outcome: str = ""
    settled_at: str | None = None
    may_take_back: bool = False  # by who asks


class AnswerList(View, frozen=True, kw_only=True):
    answers: list[AnswerView]


class FoundEverywhere(FoundList, frozen=True, kw_only=True, rename="camel"):
    """Found sessions of one machine or of all; `missing` are those that did not answer."""

    missing: tuple[MissingDevice, ...] = ()


class RequestList(View, frozen=True, kw_only=True):
    requests: list[RequestView]


# stale: connected, but nothing was heard of it for a while; away: not connected.
Presence = Literal["online", "stale", "away"]


class DeviceStatus(Struct, frozen=True, rename="camel"):
    """One machine as the hub sees it, or as it was when it was last heard."""

    device: str
    name: str
    version: str
    online: bool  # it is connected: `state` is not "away"
    epoch: int
    agents: tuple[AgentInfo, ...] = ()
    state: Presence = "away"
    last_heard: str | None = None
    paused: bool = False
    storage_problem: str | None = None  # why it can store nothing just now
    roots: tuple[str, ...] = ()  # the folders below which its sessions may run, the usual one first
    running: int = 0  # sessions whose agent runs
    skew_ms: int = 0  # how far its clock is ahead of the hub's
    needs_update: bool = False  # its version and the hub's have no protocol in common
    starts_by_itself: bool | None = None  # after the machine was restarted; None: not known
    starts: StartsState = StartsState()  # from elsewhere: what they need, and which wait
    levels: tuple[Capability, ...] = ("full",)  # that a start may ask for there, the least first


class DeviceOutcome(View, frozen=True, kw_only=True):
    """What became of a command for one of several machines.

    `waiting`: it is away, or did not answer in time, and gets the command first when it is back.
    """

    device: str
    name: str
    outcome: Literal["done", "waiting", "refused"]
    ended: int = 0  # agents that were stopped
    message: str = ""  # for a person


class DevicesTold(View, frozen=True, kw_only=True):
    devices: list[DeviceOutcome] = []


class EndedEverywhere(View, frozen=True, kw_only=True):
    """`ended` counts the agents that were stopped on all machines."""

    ended: int
    devices: list[DeviceOutcome] = []


class Capabilities(Struct, frozen=True):
    can_spawn_sessions: bool
    supported_harnesses: list[str]


class DaemonStatus(Struct, frozen=True):
    connected: bool
    client_id: str | None
    capabilities: Capabilities
    devices: list[DeviceStatus]
    storage_problem: str | None = None  # why nothing can be stored just now


class DeviceList(View, frozen=True, kw_only=True):
    devices: list[DeviceStatus]


class GrantView(View, frozen=True, kw_only=True):
    id: str
    name: str
    role: str
    session_id: str | None = None
    device: str | None = None
    kind: str = ""
    created_at: str = ""
    expires_at: str | None = None
    last_used_at: str | None = None
    open_streams: int = 0  # pages and streams that it has open now


class PairingAsked(View, frozen=True, kw_only=True):
    """The code to show to the person at the machine; the secret is for `poll` only."""

    code: str
    secret: str
    expires_in: float


class PairingState(View, frozen=True, kw_only=True):
    """`token` is there once, when the owner has allowed it."""

    state: Literal["waiting", "allowed", "denied"]
    token: str | None = None
    by: str = ""


class PairingView(View, frozen=True, kw_only=True):
    """A machine that waits to be let in."""

    id: str
    code: str
    device: str
    name: str
    user: str
    version: str
    address: str
    agents: list[str]
    expires_in: float
    known: bool = False  # a machine of this identity is there already; its grant is replaced


class PairingList(View, frozen=True, kw_only=True):
    pairings: list[PairingView]


class ServerAddress(View, frozen=True, kw_only=True):
    """Where this server may be reached; only a try shows whether it can."""

    kind: Literal["public", "network", "loopback"]
    url: str


class AddressList(View, frozen=True, kw_only=True):
    addresses: list[ServerAddress]


class TunnelList(View, frozen=True, kw_only=True):
    tunnels: list[TunnelStatus]


class LinkMade(View, frozen=True, kw_only=True):
    """A one-time link, with its secret alone for other addresses: `URL/#pair=SECRET`."""

    link: str
    secret: str
    expires_in: float
    addresses: list[ServerAddress]


class LinkRedeemed(View, frozen=True, kw_only=True):
    """The token is shown once, here."""

    token: str
    name: str
    role: str


class GrantList(View, frozen=True, kw_only=True):
    grants: list[GrantView]


class GrantMade(View, frozen=True, kw_only=True):
    """A new grant with its secret, shown only once."""

    grant: GrantView
    token: str
    link: str


class QrCode(View, frozen=True, kw_only=True):
    """A square of dots without its quiet border; in each row `1` is dark."""

    rows: list[str]


class LimitsView(View, frozen=True, kw_only=True):
    """`changed` names the limits whose value in force is not that of the settings (`configured`)."""

    limits: Limits
    configured: Limits
    changed: list[str]


class SettingsView(View, frozen=True, kw_only=True):
    """What this Bascule runs with, and the file in which a person changes it."""

    limits: Limits
    terminal: TerminalSettings
    roots: list[str]
    config_file: str


class AuditPage(View, frozen=True, kw_only=True):
    """Audit records as they are, oldest first; `last` is the number to ask for the next page after."""

    records: list[Raw]
    last: int


class AuditCopy(View, frozen=True, kw_only=True):
    """The copy of one audit chain of a machine.

    A machine that was restored from a backup, or whose records were rewritten, begins another chain; the one
    of before is kept, and `differs_at` is its first record that the next chain does not have.
    """

    device: str
    name: str
    chain: int
    current: bool  # the one that the machine sends now
    count: int
    began_at: str
    copied_at: str
    broken_at: int | None = None  # the record that does not follow; it was kept out
    problem: str | None = None
    differs_at: int | None = None


class AuditVerdict(View, frozen=True, kw_only=True):
    """`copies`: of all machines, as they were taken in; of one machine, when it is named, walked as well."""

    ok: bool
    count: int = 0
    bad: int | None = None  # the first record that does not hold
    problem: str | None = None
    copies: list[AuditCopy] = []


class TicketMade(View, frozen=True, kw_only=True):
    ticket: str
    expires_in: float


class OfferedPrompt(View, frozen=True, kw_only=True):
    """A prompt from a web page, and which page it was; what the page left open is null."""

    origin: str
    prompt: str
    mode: str | None = None
    agent: str | None = None
    cwd: str | None = None


class ResumeCommand(View, frozen=True, kw_only=True):
    """What a person types to go on with a conversation in a terminal; `argv` without the folder."""

    command: str
    argv: tuple[str, ...]


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


class Health(View, frozen=True, kw_only=True):
    status: str


class RuleTrial(View, frozen=True, omit_defaults=True, kw_only=True):
    """`dry_run` of a rule, or `tried` of a request."""

    dry_run: DryRun | None = None
    tried: Tried | None = None


class SessionShown(View, frozen=True, kw_only=True):
    """One session, as the socket gives it."""

    session: SessionView
