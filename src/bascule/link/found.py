"""What is asked about sessions that were begun outside Bascule, and what is answered."""

from typing import Literal

from msgspec import Struct

from bascule.model.commands import Actor
from bascule.model.events import snake

MAX_LISTED = 5000


class FoundCommand(Struct, frozen=True, tag_field="type", tag=snake):
    """The base of the questions here."""


class ListFound(FoundCommand, frozen=True):
    """The sessions that agents keep on this device. Looks for new ones; `wait` until that is done."""

    limit: int = MAX_LISTED
    wait: bool = False


class FollowFound(FoundCommand, frozen=True):
    """Somebody looks at this one: for half a minute, what is added to its file is read at once."""

    session_id: str


class AwaitFeedback(FoundCommand, frozen=True):
    """A hook of the agent in a terminal asks whether a message waits for it. Answers when one does.

    `conversation` is the agent's own id of it; `pid` its process, 0 when it is not known.
    """

    agent: str
    conversation: str
    pid: int = 0


class TakeFeedback(FoundCommand, frozen=True):
    """That hook takes the first message. `idle`: only while its agent says that it is idle.

    The same `key` again is the same taking, so that a hook whose answer was lost may ask again.
    """

    agent: str
    conversation: str
    by: Actor
    pid: int = 0
    idle: bool = False
    key: str | None = None


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


class Followed(Struct, frozen=True, rename="camel"):
    """`session_id` is another one when the history was rewritten and had to be read anew."""

    session_id: str
    terminal: OpenTerminal | None
    command: str = ""


class FeedbackNews(Struct, frozen=True):
    """`ready`: take it. `nothing`: ask again. `over`: there is no such terminal, or a newer hook of it."""

    state: Literal["ready", "nothing", "over"]


class TakenFeedback(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A message in the words for the agent; empty when there is none."""

    prompt_id: str = ""
    text: str = ""
