"""Commands: what people and programs ask a machine to do, checked before it becomes a fact.

A command is also the body of its operation, over HTTP and over the socket. Who asks, and the idempotency key,
stand in its `Envelope`: the hub fills it in from the grant that was shown, never the sender.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args, get_origin

from msgspec import Meta, Struct

from bascule.model.event_values import Decision, GuardDecision
from bascule.model.events import (
    CopiedFrom,
    Image,
    PermissionMode,
    StartOptions,
    snake,
)
from bascule.model.fields import DriverName, Name, Sha256, Short, Text, Title
from bascule.model.starts import StartSignature, WaitingStart

A = TypeVar("A")
C_co = TypeVar("C_co", bound="Command[Any]", covariant=True)


class Actor(Struct, frozen=True, omit_defaults=True):
    """Who acts, for the log and the audit: the grant's name, and where it was used from.

    `given_at` is when they did, of an answer that waited for its machine. `via` names the hub it came by, if
    that is another process: the daemon fills it in by the line, and believes nobody else.
    """

    name: str
    grant_id: str = ""
    address: str = ""
    user_agent: str = ""
    given_at: str = ""
    via: str = ""


class Command(
    Struct,
    Generic[A],
    frozen=True,
    tag_field="type",
    tag=snake,
    omit_defaults=True,
    kw_only=True,
    rename="camel",
    forbid_unknown_fields=True,
):
    """The base of every command. `A` is the type of its answer."""


def answer_type(command: type[Command[A]]) -> type[A]:
    """What a command is answered with, as its class declares it."""
    for kind in command.__mro__:
        for base in getattr(kind, "__orig_bases__", ()):
            origin, arguments = get_origin(base), get_args(base)
            if isinstance(origin, type) and issubclass(origin, Command) and isinstance(arguments[0], type):
                return arguments[0]
    raise TypeError(f"{command.__name__} does not declare its answer.")


@dataclass(frozen=True)
class Envelope(Generic[C_co]):
    """A command with who asks.

    The same `key` from the same grant again gets the first answer. `body_sha256` is of the command, so that a
    key used again for another one is noticed; empty when there is no key.
    """

    command: C_co
    by: Actor
    key: str | None = None
    body_sha256: str = ""


# Answers


class Answer(Struct, frozen=True, omit_defaults=True, kw_only=True, rename="camel"):
    """The base of answers to commands."""


class Done(Answer, frozen=True):
    """It was done."""


class PromptPlaced(Done, frozen=True, kw_only=True):
    """A prompt was sent to the agent, or waits in the queue."""

    prompt_id: str
    state: Literal["sent", "queued"]


class SessionBegun(Answer, frozen=True, kw_only=True):
    """A session was started, or will be. `seq` is the last row of its log by then."""

    session_id: str
    seq: int = 0
    waiting: WaitingStart | None = None  # nothing is started yet: somebody has to approve it


# Commands for one session


class SentImage(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """An image of a prompt; `data` is base64."""

    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str

    def logged(self) -> Image:
        return Image(self.media_type, self.data)


class SessionCommand(Command[A], Generic[A], frozen=True, kw_only=True):
    session_id: Name


class StartSession(SessionCommand[SessionBegun], frozen=True, kw_only=True):
    """Start an agent in a folder. The hub chooses the new session's id."""

    agent: Name
    cwd: Short
    options: StartOptions = StartOptions()
    prompt: Text | None = None
    images: tuple[SentImage, ...] = ()
    client_message_id: Name | None = None
    resume: Name | None = None  # the agent's own conversation id
    fork: bool = False
    fork_at: Name | None = None  # the copy ends with this turn of the conversation
    copied_from: CopiedFrom | None = None  # for people: where the conversation is that was copied
    title: Title | None = None
    driver: DriverName | None = None  # how to talk to it; the agent's first way unless said
    worktree: bool = False  # in a git work tree of its own, beside the repository that `cwd` is in
    worktree_of: str | None = None  # filled in by the device that made the tree
    signature: StartSignature | None = None  # of a browser that the machine trusts


class SendPrompt(SessionCommand[PromptPlaced], frozen=True, kw_only=True):
    text: Text
    client_message_id: Name | None = None
    images: tuple[SentImage, ...] = ()


class EditPrompt(SessionCommand[Done], frozen=True, kw_only=True):
    prompt_id: Name
    text: Text


class ReorderPrompts(SessionCommand[Done], frozen=True, kw_only=True):
    order: Annotated[tuple[Name, ...], Meta(min_length=1)]


class WithdrawPrompt(SessionCommand[Done], frozen=True, kw_only=True):
    prompt_id: Name


class ReleasePrompts(SessionCommand[Done], frozen=True, kw_only=True):
    """Send prompts that are held: these, or all of them."""

    prompt_ids: tuple[Name, ...] = ()


class DiscardHeld(SessionCommand[Done], frozen=True, kw_only=True):
    """Withdraw every prompt that is held."""


class Interrupt(SessionCommand[Done], frozen=True, kw_only=True):
    """Stop the turn, keep the agent. Prompts that wait are held until somebody lets them go."""

    hold: bool = True


class AnswerPermission(SessionCommand[Done], frozen=True, kw_only=True):
    request_id: Name
    decision: Decision
    message: Short | None = None
    input_sha256: Sha256 | None = None  # checked when given; the page always gives it
    option: Name | None = None
    remember: bool = False


class AnswerQuestion(SessionCommand[Done], frozen=True, kw_only=True):
    request_id: Name
    answers: dict[str, str] = {}
    notes: dict[str, str] = {}
    message: Short | None = None  # declines the question when there are no answers
    input_sha256: Sha256 | None = None


class SetMode(SessionCommand[Done], frozen=True, kw_only=True):
    mode: Name


class SetModel(SessionCommand[Done], frozen=True, kw_only=True):
    model: Name


class SetPermissionMode(SessionCommand[Done], frozen=True, kw_only=True):
    mode: PermissionMode


class RenameSession(SessionCommand[Done], frozen=True, kw_only=True):
    title: Title


class ArchiveSession(SessionCommand[Done], frozen=True, kw_only=True):
    archived: bool = True


class ResumeSession(SessionCommand[Done], frozen=True, kw_only=True):
    """Bring an ended session's agent back, on the same log."""

    signature: StartSignature | None = None  # of a browser that the machine trusts


class AnswerGuard(SessionCommand[Done], frozen=True, kw_only=True):
    """Decide what a guard rail asked: let the agent go on, with a cap raised for this session, or end it."""

    guard_id: Name
    decision: GuardDecision
    allowed: Annotated[int, Meta(ge=1, le=10**12)] | None = (
        None  # the new cap; unless given, twice the old one
    )


class KeepSession(SessionCommand[Done], frozen=True, kw_only=True):
    """Start the session's clocks again: the one of its age and the one of its idle time."""


class EndSession(SessionCommand[Done], frozen=True, kw_only=True):
    """Close the session and end its agent."""


QueueChange = EditPrompt | ReorderPrompts | WithdrawPrompt | ReleasePrompts | DiscardHeld
LiveCommand = (
    SendPrompt
    | QueueChange
    | Interrupt
    | AnswerPermission
    | AnswerQuestion
    | SetMode
    | SetModel
    | SetPermissionMode
    | KeepSession
    | AnswerGuard
)
AnySessionCommand = StartSession | LiveCommand | RenameSession | ArchiveSession | ResumeSession | EndSession
