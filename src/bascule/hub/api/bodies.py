"""The parameters of operations, a struct each: the same over HTTP and the socket."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bascule.model.comparisons import MAX_CONTESTANTS
from bascule.model.events import PermissionMode
from bascule.model.fields import Cells, DriverName, Epoch, Name, Seq, Sha256, Short, Text, Title
from bascule.model.rules import RuleSpec, ToolClass


class Body(Struct, rename="camel", forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The base of all: a field that is not named here is refused, never ignored."""


class SessionBody(Body, kw_only=True, frozen=True):
    """Of an operation in one session, without further parameters."""

    session_id: Name


class ImageBody(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str  # base64


class CreateBody(Body, kw_only=True, frozen=True):
    model: Name | None = None
    agent: Name | None = None
    cwd: Short | None = None
    project_id: Name | None = None  # instead of cwd
    device: Name | None = None  # the first one connected, or the project's, unless said
    prompt: Text | None = None
    images: tuple[ImageBody, ...] = ()
    client_message_id: Name | None = None
    permission_mode: PermissionMode = "relay"
    mode: Name | None = None
    resume: Name | None = None
    fork: bool = False
    title: Title | None = None
    driver: DriverName | None = None  # one of the agent's ways to be talked to; its first unless said
    cols: Cells | None = None
    rows: Cells | None = None
    skip_permissions: bool = False  # the terminal's agent asks nothing; only ever for this session
    worktree: bool = False  # in a git work tree of its own


class SpawnBody(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The same command in the words of the remote API."""

    prompt: Text
    cwd: Short
    harness: Name | None = None
    model: Name | None = None
    permission_mode: PermissionMode = "relay"
    resume_session_id: Name | None = None


class SendBody(SessionBody, kw_only=True, frozen=True):
    text: Text
    client_message_id: Name | None = None
    images: tuple[ImageBody, ...] = ()


class PermissionBody(SessionBody, kw_only=True, frozen=True):
    request_id: Name
    decision: Literal["allow", "deny"]
    message: Short | None = None
    input_sha256: Sha256 | None = None
    option: Name | None = None
    remember: bool = False


class QuestionBody(SessionBody, kw_only=True, frozen=True):
    request_id: Name
    answers: dict[str, str] = {}
    notes: dict[str, str] = {}
    message: Short | None = None
    input_sha256: Sha256 | None = None


class QueueBody(SessionBody, kw_only=True, frozen=True):
    """One change of the waiting prompts: edit and withdraw name one, reorder names all."""

    op: Literal["edit", "reorder", "withdraw"]
    prompt_id: Name | None = None
    text: Text | None = None
    order: tuple[Name, ...] = ()


class ModeBody(SessionBody, kw_only=True, frozen=True):
    mode: Name


class ModelBody(SessionBody, kw_only=True, frozen=True):
    model: Name


class PermissionModeBody(SessionBody, kw_only=True, frozen=True):
    mode: PermissionMode


class TitleBody(SessionBody, kw_only=True, frozen=True):
    title: Title


class ArchiveBody(SessionBody, kw_only=True, frozen=True):
    archived: bool = True


class ReconnectBody(Body, kw_only=True, frozen=True):
    """One of both: a session, or the agent whose sessions are all meant."""

    session_id: Name | None = None
    cli_type: Name | None = None


class AgentNamed(Body, kw_only=True, frozen=True):
    agent: Name


class TicketBody(Body, kw_only=True, frozen=True):
    """A ticket for the browser socket, or for one session's stream or terminal."""

    purpose: Literal["socket", "stream", "terminal"] = "socket"
    session_id: Name | None = None


class TrustBody(Body, kw_only=True, frozen=True):
    path: Short
    trusted: bool = True


class GrantNamed(Body, kw_only=True, frozen=True):
    grant_id: Name


class GrantBody(Body, kw_only=True, frozen=True):
    name: Name
    role: Literal["owner", "operator", "viewer", "session", "daemon"]
    session_id: Name | None = None
    expires_in: Annotated[float, Meta(gt=0, le=315_360_000)] | None = None  # seconds


class QrBody(Body, kw_only=True, frozen=True):
    """At most what the largest code holds, whatever the characters."""

    text: Annotated[str, Meta(min_length=1, max_length=500)]


class ShareBody(SessionBody, kw_only=True, frozen=True):
    name: Name | None = None
    expires_in: Annotated[float, Meta(gt=0, le=366 * 86_400)] = 7 * 86_400.0  # seconds


class ProjectAdd(Body, kw_only=True, frozen=True):
    path: Short
    name: Name | None = None


class ProjectNamed(Body, kw_only=True, frozen=True):
    project_id: Name


class ProjectChange(ProjectNamed, kw_only=True, frozen=True):
    name: Name | None = None
    collapsed: bool | None = None


class EntrantBody(Struct, rename="camel", forbid_unknown_fields=True, kw_only=True, frozen=True):
    agent: Name
    model: Name | None = None


class CompareBody(Body, kw_only=True, frozen=True):
    """The same prompt for several agents, each in a git work tree of its own."""

    prompt: Text
    agents: Annotated[tuple[EntrantBody, ...], Meta(min_length=2, max_length=MAX_CONTESTANTS)]
    cwd: Short | None = None
    project_id: Name | None = None  # instead of cwd
    images: tuple[ImageBody, ...] = ()
    permission_mode: PermissionMode = "relay"
    title: Title | None = None


class ComparisonNamed(Body, kw_only=True, frozen=True):
    comparison_id: Name


class ContestantBody(ComparisonNamed, kw_only=True, frozen=True):
    session_id: Name


class RemoveTreesBody(ComparisonNamed, kw_only=True, frozen=True):
    """`confirm` must be true: folders are removed, and with them what git ignores in them."""

    session_ids: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MAX_CONTESTANTS)]
    confirm: bool = False


class RuleNamed(Body, kw_only=True, frozen=True):
    rule_id: Name


class RuleBody(Body, kw_only=True, frozen=True):
    rule: RuleSpec
    replaces: Name | None = None  # a rule that goes when this one comes


class TriedRequest(Struct, rename="camel", forbid_unknown_fields=True, kw_only=True, frozen=True):
    tool_class: ToolClass = "command"
    text: Short
    folder: Short | None = None
    agent: Name | None = None


class TryBody(Body, kw_only=True, frozen=True):
    """Either a rule, tried on what was asked before; or a request, tried on the rules."""

    rule: RuleSpec | None = None
    request: TriedRequest | None = None


class TypingBody(SessionBody, kw_only=True, frozen=True):
    typing: bool = True


# Parameters of questions


class SearchQuery(Body, kw_only=True, frozen=True):
    q: Annotated[str, Meta(min_length=1, max_length=1000)]
    session: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class FileQuery(SessionBody, kw_only=True, frozen=True):
    path: Short = ""


class ExportQuery(SessionBody, kw_only=True, frozen=True):
    format: Literal["markdown", "html", "json"] = "markdown"


class PageQuery(SessionBody, kw_only=True, frozen=True):
    """The newest entries; or those before, after or around the entry that begins at a number."""

    before: Seq | None = None
    after: Seq | None = None
    around: Seq | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class EventsQuery(SessionBody, kw_only=True, frozen=True):
    after: Seq = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class ListQuery(Body, kw_only=True, frozen=True):
    archived: bool = False
    project_id: Name | None = None  # only those that run in this project's folder or below


class FoundQuery(Body, kw_only=True, frozen=True):
    """`wait`: answer only once the look through the files is done, or 25 s have passed."""

    limit: Annotated[int, Meta(ge=1, le=5000)] = 1000
    wait: bool = False


class FeedbackBody(Body, kw_only=True, frozen=True):
    """Of a hook that an agent in a terminal runs: which conversation, in which process (0: unknown)."""

    agent: Name
    conversation: Name
    pid: Annotated[int, Meta(ge=0, lt=2**31)] = 0


class TakeFeedbackBody(FeedbackBody, kw_only=True, frozen=True):
    idle: bool = False  # only while the agent is idle


class StreamQuery(SessionBody, kw_only=True, frozen=True):
    """`after`: a number, or an `id:` of the stream as it was sent."""

    after: str | None = None


class TerminalQuery(SessionBody, kw_only=True, frozen=True):
    """`after`: an offset, or `tail`: about the last so many bytes (256 KiB unless `tail` says).

    `run`, `epoch`: which run of which epoch the offset is of. `lag`: bytes to be behind at most.
    """

    after: str = "tail"
    run: Seq | None = None
    epoch: Epoch | None = None
    lag: Seq | None = None
    tail: Seq | None = None


class ImportQuery(Body, kw_only=True, frozen=True):
    folder: Short | None = None


class AgentsQuery(Body, kw_only=True, frozen=True):
    refresh: bool = False


class DirectoryQuery(Body, kw_only=True, frozen=True):
    """`path` asks whether a folder can be used; `prefix` how a half-typed one goes on."""

    path: Short | None = None
    prefix: Short | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50


class AuditQuery(Body, kw_only=True, frozen=True):
    after: Seq = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class Subscribe(SessionBody, kw_only=True, frozen=True):
    """`after`: a number, or a position with its epoch as one word, `42-9f3c…`. Or the epoch beside it."""

    after: int | str = 0
    epoch: Epoch | None = None


class ProcessNamed(Body, kw_only=True, frozen=True):
    name: Name
