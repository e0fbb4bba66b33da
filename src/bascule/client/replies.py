"""What a server answers, as small structs; fields this client does not know are ignored."""

from typing import Literal

from msgspec import Raw, Struct

from bascule.model.records import SessionRecord


class Reply(Struct, frozen=True, rename="camel", kw_only=True):
    """The base of every answer: camelCase on the wire."""


class Created(Reply, frozen=True, kw_only=True):
    """A new session. `token` opens it and nothing else; it is shown this once."""

    id: str
    token: str = ""
    seq: int = 0
    model: str | None = None
    created_at: str = ""


class Sent(Reply, frozen=True, kw_only=True):
    prompt_id: str | None = None
    state: str | None = None  # "sent", or "queued" while the agent is busy


class Damaged(Reply, frozen=True, kw_only=True):
    """A session whose record can't be read."""

    session_id: str
    message: str


class Sessions(Reply, frozen=True, kw_only=True):
    sessions: list[SessionRecord]
    damaged: list[Damaged] = []


class Process(Reply, frozen=True, kw_only=True):
    """A process that runs, or ran, and is not in the log."""

    name: str
    running: bool
    pid: int | None = None
    argv: list[str] = []
    cwd: str = ""
    started_at: str = ""
    kept_bytes: int = 0
    session_ids: list[str] = []
    agent: str = ""
    title: str = ""
    can_take_up: bool = False
    problem: str = ""


class Processes(Reply, frozen=True, kw_only=True):
    processes: list[Process]


class TakenUp(Reply, frozen=True, kw_only=True):
    session_ids: list[str]


class PutAside(Reply, frozen=True, kw_only=True):
    folder: str


class Subscribed(Reply, frozen=True, kw_only=True):
    seq: int = 0
    epoch: str = ""


class Shown(Reply, frozen=True, kw_only=True):
    session: SessionRecord


class Request(Struct, frozen=True, kw_only=True):
    """Something that waits for a person; `asked` is the event as logged. A record, so in snake_case."""

    session_id: str
    request_id: str
    kind: Literal["permission", "question"]
    state: str
    input_sha256: str
    asked: Raw
    opened_at: str = ""
    seq: int = 0
    session_title: str = ""


class Requests(Reply, frozen=True, kw_only=True):
    requests: list[Request]


class Agent(Struct, frozen=True, kw_only=True):
    name: str
    title: str = ""
    available: bool = False
    version: str | None = None
    path: str | None = None
    problem: str | None = None
    demo: bool = False
    drivers: tuple[str, ...] = ()
    signed_in: Literal["yes", "no", "unknown"] | None = None
    login: str = ""
    unasked: dict[str, tuple[str, ...]] = {}


class Agents(Reply, frozen=True, kw_only=True):
    agents: list[Agent]


class Grant(Reply, frozen=True, kw_only=True):
    id: str
    name: str
    role: str
    session_id: str | None = None
    kind: str = ""
    created_at: str = ""
    expires_at: str | None = None
    last_used_at: str | None = None


class Grants(Reply, frozen=True, kw_only=True):
    grants: list[Grant]


class NewGrant(Reply, frozen=True, kw_only=True):
    """A grant just made. The secret is shown this once and never again."""

    grant: Grant
    token: str
    link: str


class Page(Reply, frozen=True, kw_only=True):
    """Some of the transcript, the newest last, true as of `seq`. `before` reaches the page above."""

    seq: int
    entries: list[Raw]
    before: int | None = None
    epoch: str = ""  # which history `seq` is of


class AuditPage(Reply, frozen=True, kw_only=True):
    """Some of the audit log, oldest first; `last` is the number to ask for the next page after."""

    records: list[Raw]
    last: int


class AuditVerdict(Reply, frozen=True, kw_only=True):
    ok: bool
    count: int = 0
    problem: str | None = None


class Ended(Reply, frozen=True, kw_only=True):
    ended: int = 0


class Folders(Reply, frozen=True, kw_only=True):
    folders: list[str] = []


class Folder(Reply, frozen=True, kw_only=True):
    path: str
