"""Rate limit of the sessions that hubs on other machines begin here, for all their users together.

A hub counts for each of its people. It could name as many people as it likes, so this machine counts, too:
all that comes over its lines from elsewhere, against its own limit.
"""

from collections.abc import Callable
from typing import Any

from bascule.link.comparisons import StartComparison
from bascule.model.commands import Command
from bascule.model.errors import LimitReached
from bascule.policy.token_bucket import TokenBucket
from bascule.store.limits import LimitsBook


class FarSpawns:
    def __init__(self, limits: LimitsBook, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._bucket = self._made(limits.now.spawns_per_minute)
        limits.watch(lambda changed: self._set(changed.spawns_per_minute))

    def take(self, command: Command[Any]) -> None:
        """Raises `LimitReached`, with the seconds to wait."""
        agents = len(command.entrants) if isinstance(command, StartComparison) else 1
        for _ in range(agents):
            if not self._bucket.take():
                seconds = int(self._bucket.seconds_until_next()) + 1
                raise LimitReached(
                    "Too many sessions were started on this machine in the last minute; "
                    f"try again in {seconds} s.",
                    retry_after=seconds,
                )

    def _made(self, per_minute: int) -> TokenBucket:
        return TokenBucket(per_minute, per_minute, self._steady)

    def _set(self, per_minute: int) -> None:
        self._bucket = self._made(per_minute)
