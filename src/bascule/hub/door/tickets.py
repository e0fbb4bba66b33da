"""Single-use tickets, for connections that can't send a header (WebSocket, SSE)."""

import secrets
from collections.abc import Callable
from typing import NamedTuple, Protocol

from bascule.model.errors import StorageFailed
from bascule.store.grants import Grant, GrantBook

LIFETIME = 30.0
MAX_TICKETS = 1024


class SharedTickets(Protocol):
    """Where the nodes of one hub keep theirs: made at one, each is redeemed once, at any."""

    async def issue(self, secret: str, grant_id: str, path: str, seconds: float) -> None: ...

    async def redeem(self, secret: str, path: str) -> str | None:
        """The id of the grant."""
        ...


class _Ticket(NamedTuple):
    grant_id: str
    path: str
    ends: float


class Tickets:
    """Each opens one path once, for the grant that asked for it. Time is counted by a steady clock."""

    def __init__(
        self,
        grants: GrantBook,
        steady: Callable[[], float],
        lifetime: float = LIFETIME,
        shared: SharedTickets | None = None,
    ) -> None:
        self._grants = grants
        self._steady = steady
        self._lifetime = lifetime
        self._shared = shared
        self._tickets: dict[str, _Ticket] = {}

    @property
    def lifetime(self) -> float:
        return self._lifetime

    async def issue(self, grant: Grant, path: str) -> str:
        secret = secrets.token_urlsafe(32)
        # A grant that no other node knows is of no use there; nor is any while the database is away.
        if self._shared is not None and grant.kind != "ephemeral":
            try:
                await self._shared.issue(secret, grant.id, path, self._lifetime)
            except StorageFailed:
                pass
            else:
                return secret
        self._sweep()
        while len(self._tickets) >= MAX_TICKETS:
            del self._tickets[next(iter(self._tickets))]
        self._tickets[secret] = _Ticket(grant.id, path, self._steady() + self._lifetime)
        return secret

    async def redeem(self, secret: str, path: str) -> Grant | None:
        """The grant behind it, if it still holds; the ticket is gone whatever the outcome."""
        ticket = self._tickets.pop(secret, None)
        if ticket is None and self._shared is not None:
            grant_id = await self._shared.redeem(secret, path)
            return None if grant_id is None else self._grants.get(grant_id)
        if ticket is None or ticket.path != path or ticket.ends < self._steady():
            return None
        return self._grants.get(ticket.grant_id)

    def _sweep(self) -> None:
        now = self._steady()
        self._tickets = {s: t for s, t in self._tickets.items() if t.ends >= now}
