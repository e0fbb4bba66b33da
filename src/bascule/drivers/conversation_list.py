"""The list of an agent's earlier conversations, from which a person resumes one."""

from typing import Protocol, runtime_checkable

from msgspec import Struct

from bascule.model.conversations import Conversation
from bascule.model.records import Write

MAX_LISTED = 500


class Listing(Struct, frozen=True):
    """The agent's answer; `problem` is its error if it refused."""

    conversations: tuple[Conversation, ...] = ()
    more: bool = False  # the list is not complete
    problem: str = ""


@runtime_checkable
class ListsConversations(Protocol):
    """A driver whose protocol can list conversations."""

    @property
    def lists(self) -> bool:
        """Whether the agent supports it and is ready."""
        ...

    def list_conversations(self, write_id: str) -> Write: ...

    def take_listing(self) -> Listing | None:
        """Take the answer, once it came."""
        ...
