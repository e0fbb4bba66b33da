"""What is asked about sessions that were begun outside Bascule, and what is answered."""

from typing import Literal

from msgspec import Struct

from bascule.model.events import snake

MOST_LISTED = 5000


class FoundWish(Struct, frozen=True, tag_field="type", tag=snake):
    """The base of the questions here."""


class ListFound(FoundWish, frozen=True):
    """The sessions that agents keep on this device. Looks for new ones; `wait` until that is done."""

    limit: int = MOST_LISTED
    wait: bool = False


class FollowFound(FoundWish, frozen=True):
    """Somebody looks at this one: for half a minute, what is added to its file is read at once."""

    session_id: str


TerminalStatus = Literal["idle", "waiting", "working"]


class OpenTerminal(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A terminal in which the session runs now. `waiting_for` is what the agent says it waits for there."""

    pid: int
    status: TerminalStatus
    waiting_for: str = ""


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
