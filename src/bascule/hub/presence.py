"""Who is connected right now: every live stream can be ended at once, by grant or all together."""

from collections.abc import Callable
from enum import Enum

from bascule.hub.roles import Grant


class Ending(Enum):
    """Why the hub ends a stream."""

    REVOKED = "revoked"
    SHUTDOWN = "shutdown"


End = Callable[[Ending], None]


class Presence:
    """The live streams. `end` callbacks never wait."""

    def __init__(self) -> None:
        self._streams: dict[object, tuple[str, End]] = {}
        self.closing = False

    def enter(self, grant: Grant, end: End) -> Callable[[], None]:
        """Register a stream; the returned call takes it out again."""
        mark = object()
        self._streams[mark] = (grant.id, end)
        if self.closing:
            end(Ending.SHUTDOWN)
        return lambda: self._streams.pop(mark, None) and None

    def __len__(self) -> int:
        return len(self._streams)

    def revoked(self, grant_id: str) -> None:
        for owner, end in list(self._streams.values()):
            if owner == grant_id:
                end(Ending.REVOKED)

    def shut_down(self) -> None:
        self.closing = True
        for _, end in list(self._streams.values()):
            end(Ending.SHUTDOWN)
