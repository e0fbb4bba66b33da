"""What people may send, one struct a message. HTTP bodies and socket messages are the same structs."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bascule.model.events import PermissionMode

Text = Annotated[str, Meta(min_length=1, max_length=1_048_576)]
Short = Annotated[str, Meta(max_length=4096)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Title = Annotated[str, Meta(min_length=1, max_length=500)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Side = Annotated[int, Meta(ge=-(2**53), le=2**53)]  # clamped where the terminal is
Place = Annotated[int, Meta(ge=0, le=2**53)]  # in a log


class Body(Struct, rename="camel", forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The base of all: a field that is not named here is refused, never ignored."""


class SessionBody(Body, kw_only=True, frozen=True):
    """Of a session's own routes: the chat API lets its token come in the body."""

    token: str | None = None


class ImageBody(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str  # base64


class Nothing(SessionBody, kw_only=True, frozen=True):
    """A wish that needs no words."""


class CreateBody(Body, kw_only=True, frozen=True):
    model: Name | None = None
    agent: Name | None = None
    cwd: Short | None = None
    project_id: Name | None = None  # instead of cwd
    prompt: Text | None = None
    images: tuple[ImageBody, ...] = ()
    client_message_id: Name | None = None
    permission_mode: PermissionMode = "relay"
    mode: Name | None = None
    resume: Name | None = None
    fork: bool = False
    title: Title | None = None
    driver: Literal["terminal"] | None = None  # the agent's own way unless said
    cols: Side | None = None
    rows: Side | None = None
    skip_permissions: bool = False  # the terminal's agent asks nothing; only ever for this session


class SpawnBody(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """The same wish in the words of the remote API."""

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


class TicketBody(Body, kw_only=True, frozen=True):
    """A ticket for the browser socket, or for one session's stream or terminal."""

    purpose: Literal["socket", "stream", "terminal"] = "socket"
    session_id: Name | None = None


class TrustBody(Body, kw_only=True, frozen=True):
    path: Short
    trusted: bool = True


class GrantBody(Body, kw_only=True, frozen=True):
    name: Name
    role: Literal["owner", "operator", "viewer", "session", "daemon"]
    session_id: Name | None = None
    expires_in: Annotated[float, Meta(gt=0, le=315_360_000)] | None = None  # seconds


class ShareBody(SessionBody, kw_only=True, frozen=True):
    name: Name | None = None
    expires_in: Annotated[float, Meta(gt=0, le=366 * 86_400)] = 7 * 86_400.0  # seconds


class ProjectAdd(Body, kw_only=True, frozen=True):
    path: Short
    name: Name | None = None


class ProjectChange(Body, kw_only=True, frozen=True):
    name: Name | None = None
    collapsed: bool | None = None


class TypingBody(Body, kw_only=True, frozen=True):
    typing: bool = True


# Queries


class SearchQuery(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    q: Annotated[str, Meta(min_length=1, max_length=1000)]
    session: Name | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class FileQuery(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    path: Short = ""


class ExportQuery(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    format: Literal["markdown", "html", "json"] = "markdown"


class PageQuery(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """The newest entries; or those before, after or around the entry that begins at a number."""

    before: Place | None = None
    after: Place | None = None
    around: Place | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class EventsQuery(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    after: Place = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class ListQuery(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    archived: bool = False


class StreamQuery(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    after: Place | None = None


class TerminalQuery(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """`after`: an offset, or `tail`. `run`: which run the offset is of. `lag`: bytes to be behind at most."""

    after: Annotated[str, Meta(pattern="^(tail|[0-9]{1,15})$")] = "tail"
    run: Place | None = None
    lag: Place | None = None


class AgentsQuery(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    refresh: bool = False


class DirectoryQuery(Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """`path` asks whether a folder can be used; `prefix` how a half-typed one goes on."""

    path: Short | None = None
    prefix: Short | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
