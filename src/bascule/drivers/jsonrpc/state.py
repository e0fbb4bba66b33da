"""The part of a driver's stored state that ACP and Codex share: ids, prompts that wait, open requests.

`DriverState` of each protocol adds its own fields. Field names are stored, so they must not change.
"""

from typing import Generic, Protocol, TypeVar

from msgspec import Raw, Struct

from bascule.drivers.base import DriverLaunch
from bascule.drivers.bounded import forget_oldest
from bascule.model.events import PromptSent

MAX_OPEN = 200  # requests or tools; more than an agent ever has at once


class OpenRequest(Protocol):
    """A request of the agent that waits for a person's answer."""

    @property
    def rpc_id(self) -> Raw: ...

    @property
    def kind(self) -> str:
        """`question` for one that is answered in words; any other is a permission."""
        ...


PendingT = TypeVar("PendingT")  # what a request of ours was about, until the agent answers it
RequestT = TypeVar("RequestT", bound=OpenRequest)


class RpcState(Struct, Generic[PendingT, RequestT], omit_defaults=True):
    launch: DriverLaunch = DriverLaunch()
    skipping: bool = False  # inside a line too long to read
    id_base: int = 0  # ids of our requests begin above it
    next_id: int = 1
    written: int = 0  # counts writes of our own making, for their ids
    entries: int = 0  # counts entries, for their ids
    asked: int = 0  # counts the agent's requests, for their ids
    held: list[PromptSent] = []  # prompts the agent can't take yet
    pending: dict[int, PendingT] = {}
    requests: dict[str, RequestT] = {}

    def new_id(self, pending: PendingT) -> int:
        number = self.id_base + self.next_id
        self.next_id += 1
        self.pending[number] = pending
        forget_oldest(self.pending, MAX_OPEN, self.may_forget)
        return number

    def may_forget(self, pending: PendingT) -> bool:
        """Whether an unanswered request of ours may be dropped when there are too many."""
        return True

    def new_write(self, what: str) -> str:
        self.written += 1
        return f"{what}:{self.launch.run}:{self.written}"

    def remember_request(self, request: RequestT) -> str:
        """Keep an open request; returns the id by which people answer it."""
        self.asked += 1
        request_id = f"{self.launch.run}:{self.asked}"
        self.requests[request_id] = request
        forget_oldest(self.requests, MAX_OPEN)
        return request_id
