"""Launches once for each idempotency key: a double click gets the first click's answer."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from bascule.launch.errors import LaunchError
from bascule.launch.launches import Launches
from bascule.launch.record import LaunchRecord
from bascule.launch.request import LaunchRequest
from bascule.model.codec import encode
from bascule.policy.token_bucket import TokenBucket

KEPT = 1000
KEPT_SECONDS = 600.0


@dataclass(frozen=True)
class _Click:
    at: float
    digest: bytes
    outcome: "asyncio.Task[LaunchRecord]"


class IdempotentLaunches:
    """Takes launch requests: throttled, and each key once. `steady` never jumps."""

    def __init__(self, launches: Launches, per_minute: int, steady: Callable[[], float]) -> None:
        self.launches = launches
        self._steady = steady
        self._bucket = TokenBucket(per_minute, per_minute, steady)
        self._clicks: OrderedDict[tuple[str, str], _Click] = OrderedDict()

    async def launch(self, request: LaunchRequest, *, who: str, key: str | None) -> LaunchRecord:
        """`who` asks: keys of different pages are different keys."""
        if key is None:
            self._throttle()
            return await self.launches.launch(request, who)
        click = self._click((who, key), request)
        # A caller who hangs up must not take the other click's launch with it.
        return await asyncio.shield(click.outcome)

    async def close(self) -> None:
        running = [click.outcome for click in self._clicks.values() if not click.outcome.done()]
        await asyncio.gather(*running, return_exceptions=True)
        await self.launches.close()

    def _click(self, name: tuple[str, str], request: LaunchRequest) -> _Click:
        now, digest = self._steady(), sha256(encode(request)).digest()
        known = self._clicks.get(name)
        if known is not None and now - known.at < KEPT_SECONDS:
            if known.digest != digest:
                message = "This Idempotency-Key was used for a different launch; use a new one."
                raise LaunchError("key_reused", message)
            return known
        self._throttle()
        outcome = asyncio.create_task(self.launches.launch(request, name[0]), name="launch")
        outcome.add_done_callback(_seen)
        click = self._clicks[name] = _Click(now, digest, outcome)
        self._clicks.move_to_end(name)
        while len(self._clicks) > KEPT:
            self._clicks.popitem(last=False)
        return click

    def _throttle(self) -> None:
        if not self._bucket.take():
            wait = max(1, round(self._bucket.seconds_until_next()))
            raise LaunchError("too_many_launches", f"Too many launches; wait {wait} s.", retry_after=wait)


def _seen(outcome: "asyncio.Task[LaunchRecord]") -> None:
    """Those who wait for it got its error; if nobody waits any more, it is not logged."""
    if not outcome.cancelled():
        outcome.exception()
