"""One admitted request, as a route's function gets it."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from starlette.types import Receive, Scope, Send

from bascule.hub.api.table import Row
from bascule.hub.services import Hub
from bascule.model.commands import Actor
from bascule.store.grants import Grant

B = TypeVar("B")
Q = TypeVar("Q")


@dataclass(frozen=True, kw_only=True)
class Call(Generic[B, Q]):
    """`grant` is None only on public routes; everything in it was checked before."""

    hub: Hub
    row: Row
    scope: Scope
    receive: Receive
    send: Send
    grant: Grant | None
    by: Actor
    params: dict[str, str]
    query: Q
    body: B
    key: str | None  # the Idempotency-Key; the device makes it the sender's own

    @property
    def session_id(self) -> str:
        return self.params["id"]

    @property
    def holder(self) -> Grant:
        assert self.grant is not None
        return self.grant


AnyCall = Call[Any, Any]
