"""The parameters of operations, a struct each: the same over HTTP and the socket."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from bascule.link.rules import TryRequest
from bascule.model.capability import Capability
from bascule.model.commands import SentImage
from bascule.model.comparisons import MAX_CONTESTANTS
from bascule.model.events import CopiedFrom, PermissionMode
from bascule.model.fields import Cells, DriverName, Epoch, Name, Seq, Short, Text, Title
from bascule.model.rules import RuleSpec
from bascule.model.starts import StartSignature


class Body(Struct, rename="camel", forbid_unknown_fields=True, kw_only=True, frozen=True, omit_defaults=True):
    """The base of all: a field that is not named here is refused, never ignored."""


class SessionBody(Body, kw_only=True, frozen=True):
    """Of an operation in one session, without further parameters."""

    session_id: Name


class FoundNamed(Body, kw_only=True, frozen=True):
    session_id: Name


class CreateBody(Body, kw_only=True, frozen=True):
    model: Annotated[str, Meta(max_length=200)] | None = None  # empty is as good as none
    agent: Name | None = None
    cwd: Short | None = None
    project_id: Name | None = None  # instead of cwd
    prompt: Text | None = None
    images: tuple[SentImage, ...] = ()
    client_message_id: Name | None = None
    permission_mode: PermissionMode = "relay"
    mode: Name | None = None
    capability: Capability | None = None  # how much of the machine it may reach; unless said, what it allows
    resume: Name | None = None
    fork: bool = False
    fork_at: Name | None = None  # with `fork`: the copy ends with the turn whose end has this `fork_at`
    copied_from: CopiedFrom | None = None  # shown to people, with a link
    title: Title | None = None
    driver: DriverName | None = None  # one of the agent's ways to be talked to; its first unless said
    cols: Cells | None = None
    rows: Cells | None = None
    skip_permissions: bool = False  # the terminal's agent asks nothing; only ever for this session
    worktree: bool = False  # in a git work tree of its own
    signature: StartSignature | None = None  # of a browser that the machine trusts


class LaunchBody(Body, kw_only=True, frozen=True):
    """As the launch bridge takes it; errors have the bridge's own codes and words."""

    prompt: Any = None
    mode: Any = None
    agent: Any = None
    working_directory: Any = None
    repo: Any = None


class LaunchedBody(Body, kw_only=True, frozen=True):
    launch_id: Name


class OfferNamed(Body, kw_only=True, frozen=True):
    offer_id: Name


class SpawnBody(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The same command in the words of the remote API."""

    prompt: Text
    cwd: Short
    harness: Name | None = None
    model: Name | None = None
    permission_mode: PermissionMode = "relay"
    capability: Capability | None = None
    resume_session_id: Name | None = None


class QueueBody(SessionBody, kw_only=True, frozen=True):
    """One change of the waiting prompts: edit and withdraw name one, reorder names all.

    Release sends what is held: the one named, or all. Discard withdraws all that is held.
    """

    op: Literal["edit", "reorder", "withdraw", "release", "discard"]
    prompt_id: Name | None = None
    text: Text | None = None
    order: tuple[Name, ...] = ()


class ReconnectBody(Body, kw_only=True, frozen=True):
    """One of both: a session, or the agent whose sessions are all meant."""

    session_id: Name | None = None
    cli_type: Name | None = None


class TicketBody(Body, kw_only=True, frozen=True):
    """A ticket for the browser socket, or for one session's stream, terminal or export."""

    purpose: Literal["socket", "stream", "terminal", "export"] = "socket"
    session_id: Name | None = None


class GrantNamed(Body, kw_only=True, frozen=True):
    grant_id: Name


class GrantRename(GrantNamed, kw_only=True, frozen=True):
    name: Name


class GrantBody(Body, kw_only=True, frozen=True):
    name: Name
    role: Literal["owner", "operator", "viewer", "session", "daemon"]
    session_id: Name | None = None
    device: Name | None = None  # of a machine's grant: the only one that may connect with it
    expires_in: Annotated[float, Meta(gt=0, le=315_360_000)] | None = None  # seconds


class PairingBody(Body, kw_only=True, frozen=True):
    """A machine that asks to join says what its owner needs to know it by."""

    device: Name
    name: Name
    user: Name
    version: Name
    agents: Annotated[tuple[Name, ...], Meta(max_length=100)] = ()


class PairingPoll(Body, kw_only=True, frozen=True):
    """`wait` is how many seconds the answer may take while nobody has decided."""

    secret: Name
    wait: Annotated[float, Meta(ge=0, le=25)] = 0.0


class PairingAnswer(Body, kw_only=True, frozen=True):
    """`code` is the one that the person saw: an answer to another request than that is refused.

    `replaces`: a machine that is away and will not come back, as this one is it, installed anew.
    """

    pairing_id: Name
    code: Name
    allow: bool
    replaces: Annotated[str, Meta(max_length=200)] = ""


class LinkBody(Body, kw_only=True, frozen=True):
    """A one-time link; without a name, the browser that redeems it names itself."""

    name: Annotated[str, Meta(max_length=100)] = ""
    role: Literal["owner", "operator", "viewer"] = "operator"


class RedeemBody(Body, kw_only=True, frozen=True):
    """`secret` is what stands behind `#pair=`; `name` is what this browser calls itself."""

    secret: Name
    name: Annotated[str, Meta(max_length=100)] = ""


class TunnelNamed(Body, kw_only=True, frozen=True):
    """`host` is as ssh knows it, such as `ana@host.example`."""

    host: Name


class TunnelBody(TunnelNamed, kw_only=True, frozen=True):
    """`port` of 127.0.0.1 on that machine leads to this server."""

    port: Annotated[int, Meta(ge=1024, le=65535)]


class JoinBody(Body, kw_only=True, frozen=True):
    """The hub's address, and the token that it gave this machine.

    `may_widen`: it may let agents on this machine do more without asking.
    """

    url: Short
    token: Name
    may_widen: bool = False


class WidenBody(Body, kw_only=True, frozen=True):
    """Whether the hub that this machine has joined may let agents here do more without asking."""

    may_widen: bool


class UplinkQuery(Body, kw_only=True, frozen=True):
    """`wait` is how many seconds the answer may take while a connection is being made."""

    wait: Annotated[float, Meta(ge=0, le=25)] = 0.0


class QrBody(Body, kw_only=True, frozen=True):
    """At most what the largest code holds, whatever the characters."""

    text: Annotated[str, Meta(min_length=1, max_length=500)]


class ShareBody(SessionBody, kw_only=True, frozen=True):
    name: Name | None = None
    expires_in: Annotated[float, Meta(gt=0, le=366 * 86_400)] = 7 * 86_400.0  # seconds
    keep_secrets: bool = False  # what looks like a key or token is shown to every holder of the link


class ProjectAdd(Body, kw_only=True, frozen=True):
    path: Short
    name: Name | None = None


class ProjectNamed(Body, kw_only=True, frozen=True):
    project_id: Name


class ProjectChange(ProjectNamed, kw_only=True, frozen=True):
    name: Name | None = None
    collapsed: bool | None = None


class DeviceNamed(Body, kw_only=True, frozen=True):
    device_id: Name


class AnswerNamed(Body, kw_only=True, frozen=True):
    session_id: Name
    answer_id: Name


class DeviceRename(DeviceNamed, kw_only=True, frozen=True):
    name: Annotated[str, Meta(max_length=100)]


class EntrantBody(Struct, rename="camel", forbid_unknown_fields=True, kw_only=True, frozen=True):
    agent: Name
    model: Name | None = None


class CompareBody(Body, kw_only=True, frozen=True):
    """The same prompt for several agents, each in a git work tree of its own."""

    prompt: Text
    agents: Annotated[tuple[EntrantBody, ...], Meta(min_length=2, max_length=MAX_CONTESTANTS)]
    cwd: Short | None = None
    project_id: Name | None = None  # instead of cwd
    images: tuple[SentImage, ...] = ()
    permission_mode: PermissionMode = "relay"
    title: Title | None = None


class TryBody(Body, kw_only=True, frozen=True):
    """Either a rule, tried on what was asked before; or a request, tried on the rules."""

    rule: RuleSpec | None = None
    request: TryRequest | None = None


class LimitsBody(Body, kw_only=True, frozen=True):
    """New values by name. 0 means no limit; null takes a change back."""

    limits: dict[str, int | None]


class TypingBody(SessionBody, kw_only=True, frozen=True):
    typing: bool = True


# Parameters of questions


class SearchQuery(Body, kw_only=True, frozen=True):
    q: Annotated[str, Meta(min_length=1, max_length=1000)]
    session: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class ExportQuery(SessionBody, kw_only=True, frozen=True):
    """`show`: as a page to read and print, instead of a download."""

    format: Literal["markdown", "html", "json"] = "markdown"
    show: bool = False
    keep_secrets: bool = False  # by the owner: what looks like a key or token is not hidden


class CastQuery(SessionBody, kw_only=True, frozen=True):
    offset: Annotated[int, Meta(ge=0)] | None = None  # where the page before ended; the beginning unless said
    keep_secrets: bool = False  # by the owner: every byte as it was


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
    """A page of the sessions that meet all conditions, after a cursor: `next` of the page before."""

    archived: bool = False
    live: bool = False  # only those whose agent runs, or is being started again
    project_id: Name | None = None  # only those in this project's folder, below it or in its work trees
    folder: Short | None = None  # only those in exactly this folder, or in its work trees
    device: Name | None = None  # only those of this machine
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    cursor: Annotated[str, Meta(max_length=1000)] | None = None


class CountQuery(Body, kw_only=True, frozen=True):
    archived: bool = False  # `folders` counts the archived sessions instead of the others


class SocketQuery(Body, kw_only=True, frozen=True):
    """`words`: ours, or those of the workbench's specification."""

    words: Literal["bascule", "workbench"] = "bascule"


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


class DirectoryQuery(Body, kw_only=True, frozen=True):
    """`path` asks whether a folder can be used; `prefix` how a half-typed one goes on."""

    path: Short | None = None
    prefix: Short | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50


class AuditNamed(Body, kw_only=True, frozen=True):
    device: Name | None = None  # the copy of this machine's audit log, instead of the hub's own


class AuditQuery(AuditNamed, kw_only=True, frozen=True):
    """`chain`: of a machine that has begun another one since, which; otherwise the last."""

    chain: Annotated[int, Meta(ge=1, le=1000)] | None = None
    after: Seq = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class Subscribe(SessionBody, kw_only=True, frozen=True):
    """`after`: a number, or a position with its epoch as one word, `42-9f3c…`. Or the epoch beside it."""

    after: int | str = 0
    epoch: Epoch | None = None
