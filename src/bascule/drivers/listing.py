"""The conversations an agent knows, as it lists them: for a person who wants to take one up."""

from typing import Protocol, runtime_checkable

from msgspec import Struct

from bascule.model.records import Write

MAX_LISTED = 500


class Conversation(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One of them. `id` is the agent's own name for it."""

    id: str
    title: str = ""
    cwd: str = ""
    updated_at: str = ""
    session: str | None = None  # the session here that holds it


class Listing(Struct, frozen=True):
    """What came of asking; `problem` in the agent's words when nothing did."""

    conversations: tuple[Conversation, ...] = ()
    more: bool = False  # it knows more than it told
    problem: str = ""


@runtime_checkable
class ListsConversations(Protocol):
    """A driver whose protocol has a word for it."""

    @property
    def lists(self) -> bool:
        """Whether the agent can be asked, as far as it has said."""
        ...

    def list_conversations(self, write_id: str) -> Write: ...

    def take_listing(self) -> Listing | None:
        """The answer to that, once."""
        ...
