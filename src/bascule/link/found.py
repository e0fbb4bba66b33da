"""Commands about found sessions: those begun outside Bascule."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bascule.model.commands import Answer, Command, SessionCommand
from bascule.model.fields import Name

MAX_LISTED = 5000


TerminalStatus = Literal["idle", "waiting", "working"]


class OpenTerminal(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A terminal in which the session runs now. `waiting_for` is what the agent says it waits for there.

    `listens`: a hook of the agent asks here for messages, so they reach it at its next idle moment.
    """

    pid: int
    status: TerminalStatus
    waiting_for: str = ""
    listens: bool = False


class FoundItem(Struct, frozen=True, rename="camel"):
    """One session: enough for a row of a list."""

    session_id: str
    agent: str
    title: str
    cwd: str
    created_at: str
    updated_at: str
    messages: int
    cost_usd: float | None
    model: str | None
    phase: str
    queued: int
    archived: bool
    terminal: OpenTerminal | None
    command: str  # goes on with it in a terminal; empty when its agent can't
    device: str = ""  # filled in by the hub


class Looking(Struct, frozen=True, rename="camel"):
    """How far the search through the agents' files is."""

    running: bool
    done: int
    total: int
    problems: int = 0  # files that could not be read


class FoundList(Struct, frozen=True, rename="camel"):
    """The newest first; `total` counts also those that are not listed."""

    sessions: list[FoundItem]
    total: int
    looking: Looking


class ListFound(Command[FoundList], frozen=True, kw_only=True):
    """The sessions that agents keep on this device. Looks for new ones; `wait`: answer when that is done."""

    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED)] = 1000
    wait: bool = False


class Followed(Struct, frozen=True, rename="camel"):
    """`session_id` is another one when the history was rewritten and had to be read anew."""

    session_id: str
    terminal: OpenTerminal | None
    command: str = ""


class FollowFound(SessionCommand[Followed], frozen=True, kw_only=True):
    """Read what is added to a session's file at once, for half a minute."""


class ResumeCommand(Answer, frozen=True, kw_only=True):
    """What a person types to go on with a conversation in a terminal; `argv` without the folder."""

    command: str
    argv: tuple[str, ...]


class ShowResumeCommand(SessionCommand[ResumeCommand], frozen=True, kw_only=True):
    """The command that continues a session, found or not, in a terminal of its machine."""


class FeedbackNews(Struct, frozen=True):
    """`ready`: take it. `nothing`: ask again. `over`: there is no such terminal, or a newer hook of it."""

    state: Literal["ready", "nothing", "over"]


class AwaitFeedback(Command[FeedbackNews], frozen=True, kw_only=True):
    """A hook of the agent in a terminal asks whether a message waits for it. Answers when one does.

    `conversation` is the agent's own id of it; `pid` its process, 0 when it is not known.
    """

    agent: Name
    conversation: Name
    pid: Annotated[int, Meta(ge=0, lt=2**31)] = 0


class TakenFeedback(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A message in the words for the agent; empty when there is none."""

    prompt_id: str = ""
    text: str = ""


class TakeFeedback(Command[TakenFeedback], frozen=True, kw_only=True):
    """That hook takes the first message. `idle`: only while its agent says that it is idle.

    The same idempotency key again is the same taking: a hook whose answer was lost may ask again.
    """

    agent: Name
    conversation: Name
    pid: Annotated[int, Meta(ge=0, lt=2**31)] = 0
    idle: bool = False


class FoundHit(Struct, frozen=True, rename="camel"):
    """A message of a found session, or with `first_seq` 0 its title. Every second piece of `snippet` fits."""

    session_id: str
    title: str
    first_seq: int
    snippet: list[str]
    at: str
    kind: str
    archived: bool = False


class FoundHits(Answer, frozen=True, kw_only=True):
    hits: list[FoundHit]
    owed: int = 0  # messages that can't be found yet


class SearchFound(Command[FoundHits], frozen=True, kw_only=True):
    """Search the found sessions of this device: a hub has copies only of those that somebody opened there."""

    q: Annotated[str, Meta(min_length=1, max_length=1000)]
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


FoundCommand = ListFound | SearchFound | FollowFound | ShowResumeCommand | AwaitFeedback | TakeFeedback
