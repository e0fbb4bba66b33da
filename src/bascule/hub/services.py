"""What every route may use: the rooms below the hub, and the hub's own parts, handed in once."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from bascule.hub.feed import Feed
from bascule.hub.presence import Presence
from bascule.hub.roles import Grant
from bascule.hub.switchboard import Switchboard
from bascule.hub.tickets import Tickets
from bascule.model.settings import Settings
from bascule.policy.limits import Buckets
from bascule.store.base import EventStore


class GrantBook(Protocol):
    """Who may come in. Secrets are stored hashed; `authenticate` is the only way back from one."""

    def authenticate(self, secret: str) -> Grant | None: ...

    async def create(
        self,
        name: str,
        role: str,
        session_id: str | None = None,
        expires_in: float | None = None,
        ephemeral: bool = False,
    ) -> tuple[Grant, str]: ...

    async def list(self) -> "list[Grant]": ...

    async def revoke(self, id: str) -> bool: ...

    def on_revoked(self, callback: Callable[[str], None]) -> object: ...


@dataclass(frozen=True, kw_only=True)
class Hub:
    store: EventStore
    grants: GrantBook
    switchboard: Switchboard
    settings: Settings
    clock: Callable[[], float]
    feed: Feed
    presence: Presence
    tickets: Tickets
    spawns: Buckets
    steady: Callable[[], float] = field(default=time.monotonic)
