"""Single-use tickets, for connections that can't send a header (WebSocket, SSE)."""

import secrets
from collections.abc import Callable
from typing import NamedTuple

from bascule.store.grants import Grant, GrantBook

LIFETIME = 30.0
MOST = 1024


class _Ticket(NamedTuple):
    grant_id: str
    path: str
    ends: float


class Tickets:
    """Each opens one path once, for the grant that asked for it. Time is counted by a steady clock."""

    def __init__(self, grants: GrantBook, steady: Callable[[], float], lifetime: float = LIFETIME) -> None:
        self._grants = grants
        self._steady = steady
        self._lifetime = lifetime
        self._tickets: dict[str, _Ticket] = {}

    @property
    def lifetime(self) -> float:
        return self._lifetime

    def issue(self, grant: Grant, path: str) -> str:
        self._sweep()
        while len(self._tickets) >= MOST:
            del self._tickets[next(iter(self._tickets))]
        secret = secrets.token_urlsafe(32)
        self._tickets[secret] = _Ticket(grant.id, path, self._steady() + self._lifetime)
        return secret

    def redeem(self, secret: str, path: str) -> Grant | None:
        """The grant behind it, if it still holds; the ticket is gone whatever the outcome."""
        ticket = self._tickets.pop(secret, None)
        if ticket is None or ticket.path != path or ticket.ends < self._steady():
            return None
        return self._grants.get(ticket.grant_id)

    def _sweep(self) -> None:
        now = self._steady()
        self._tickets = {s: t for s, t in self._tickets.items() if t.ends >= now}
