"""Registry of open streams: ends them by grant, or all together."""

import asyncio
from collections.abc import Callable
from enum import Enum

from bascule.api.pushes import Ended, Expired, Revoked, Shutdown
from bascule.store.grants import Grant, GrantBook


class Ending(Enum):
    """Why the hub ends a stream."""

    REVOKED = "revoked"
    EXPIRED = "expired"
    SHUTDOWN = "shutdown"

    @property
    def message(self) -> Ended:
        """What the peer is sent before its socket closes."""
        match self:
            case Ending.REVOKED:
                return Revoked()
            case Ending.EXPIRED:
                return Expired()
            case Ending.SHUTDOWN:
                return Shutdown()


End = Callable[[Ending], None]


class OpenStreams:
    """The live streams. `end` callbacks never wait."""

    def __init__(self, grants: GrantBook, clock: Callable[[], float]) -> None:
        self._grants, self._clock = grants, clock
        self._streams: dict[object, tuple[str, End]] = {}
        self._timers: dict[object, asyncio.TimerHandle] = {}
        self.closing = False

    def enter(self, grant: Grant, end: End) -> Callable[[], None]:
        """Register a stream; the returned call takes it out again."""
        mark = object()
        self._streams[mark] = (grant.id, end)
        if self.closing:
            end(Ending.SHUTDOWN)
        elif self._grants.get(grant.id) is None:
            end(Ending.REVOKED)
        self._watch_expiry(mark, grant)
        return lambda: self._leave(mark)

    def __len__(self) -> int:
        return len(self._streams)

    def count(self, grant_id: str) -> int:
        """How many are open for one grant."""
        return sum(owner == grant_id for owner, _ in self._streams.values())

    def revoked(self, grant: Grant) -> None:
        for owner, end in list(self._streams.values()):
            if owner == grant.id:
                end(Ending.REVOKED)

    def shut_down(self) -> None:
        self.closing = True
        for _, end in list(self._streams.values()):
            end(Ending.SHUTDOWN)

    def _watch_expiry(self, mark: object, grant: Grant) -> None:
        """Look again when it should be over, at least hourly: the time of day may have been set."""
        if grant.expires_at is None or mark not in self._streams:
            return
        left = grant.expires_at - self._clock()
        if left <= 0:
            self._streams[mark][1](Ending.EXPIRED)
        else:
            wait = min(left + 0.05, 3600)
            loop = asyncio.get_running_loop()
            self._timers[mark] = loop.call_later(wait, self._watch_expiry, mark, grant)

    def _leave(self, mark: object) -> None:
        self._streams.pop(mark, None)
        timer = self._timers.pop(mark, None)
        if timer is not None:
            timer.cancel()
