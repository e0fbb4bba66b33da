"""What somebody asks for: imperative, frozen, checked before it becomes a fact.

`by` is always filled in by the hub from the grant that was shown, never by the sender.
`key` makes a command safe to send twice: the second one gets the first one's reply.
"""

from typing import Literal

from msgspec import Struct

from bascule.model.events import Image, PermissionMode, snake


class Actor(Struct, frozen=True, omit_defaults=True):
    """Who acts, for the log and the audit: the grant's name, and where it was used from."""

    name: str
    grant_id: str = ""
    address: str = ""
    user_agent: str = ""


class Command(Struct, frozen=True, tag_field="type", tag=snake, omit_defaults=True, kw_only=True):
    """The base of every command."""

    session_id: str
    by: Actor
    key: str | None = None


class StartSession(Command, frozen=True, kw_only=True):
    agent: str
    cwd: str
    model: str | None = None
    permission_mode: PermissionMode = "relay"
    mode: str | None = None  # the agent's own starting mode, such as "plan"
    prompt: str | None = None
    images: tuple[Image, ...] = ()
    client_message_id: str | None = None
    resume: str | None = None  # the agent's own conversation id
    fork: bool = False
    title: str | None = None
    driver: str | None = None  # how to talk to it; the agent's first way unless said
    cols: int | None = None  # of a terminal
    rows: int | None = None
    skip_permissions: bool = False  # only when a person chose it for this very session
    worktree: bool = False  # in a git work tree of its own, beside the repository that `cwd` is in
    worktree_of: str | None = None  # filled in by the device that made the tree


class SendPrompt(Command, frozen=True, kw_only=True):
    text: str
    images: tuple[Image, ...] = ()
    client_message_id: str | None = None


class EditPrompt(Command, frozen=True, kw_only=True):
    prompt_id: str
    text: str


class ReorderPrompts(Command, frozen=True, kw_only=True):
    order: tuple[str, ...]


class WithdrawPrompt(Command, frozen=True, kw_only=True):
    prompt_id: str


class Interrupt(Command, frozen=True, kw_only=True):
    pass


class AnswerPermission(Command, frozen=True, kw_only=True):
    request_id: str
    decision: Literal["allow", "deny"]
    input_sha256: str | None = None  # checked when given; the browser always gives it
    option: str | None = None
    remember: bool = False
    message: str | None = None


class AnswerQuestion(Command, frozen=True, kw_only=True):
    request_id: str
    answers: dict[str, str] = {}
    notes: dict[str, str] = {}
    input_sha256: str | None = None
    message: str | None = None  # declines the question when there are no answers


class SetMode(Command, frozen=True, kw_only=True):
    mode: str


class SetModel(Command, frozen=True, kw_only=True):
    model: str


class SetPermissionMode(Command, frozen=True, kw_only=True):
    mode: PermissionMode


class RenameSession(Command, frozen=True, kw_only=True):
    title: str


class ArchiveSession(Command, frozen=True, kw_only=True):
    archived: bool


class ResumeSession(Command, frozen=True, kw_only=True):
    """Bring an ended session's agent back, on the same log."""


class EndSession(Command, frozen=True, kw_only=True):
    reason: Literal["closed", "killed"] = "closed"


AnyCommand = (
    StartSession
    | SendPrompt
    | EditPrompt
    | ReorderPrompts
    | WithdrawPrompt
    | Interrupt
    | AnswerPermission
    | AnswerQuestion
    | SetMode
    | SetModel
    | SetPermissionMode
    | RenameSession
    | ArchiveSession
    | ResumeSession
    | EndSession
)
