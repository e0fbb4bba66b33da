"""Rate limits at the door: one for each name (a grant, an address), and one for malformed messages."""

from collections import OrderedDict
from collections.abc import Callable

from bascule.policy.token_bucket import TokenBucket

BAD_PER_MINUTE, BAD_BURST = 60, 30


def bad_messages(clock: Callable[[], float]) -> TokenBucket:
    """How many malformed messages one connection may send before it is closed."""
    return TokenBucket(BAD_PER_MINUTE, BAD_BURST, clock)


class Buckets:
    """Only the names used last are kept, so strangers can't fill the memory."""

    def __init__(self, per_minute: float, burst: float, clock: Callable[[], float], keep: int = 4096) -> None:
        self._per_minute, self._burst, self._clock, self._keep = per_minute, burst, clock, keep
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def set_rate(self, per_minute: float) -> None:
        """From now on this many, at once or in the long run; what was used so far is forgiven."""
        self._per_minute = self._burst = per_minute
        self._buckets.clear()

    def of(self, name: str) -> TokenBucket:
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = TokenBucket(self._per_minute, self._burst, self._clock)
            if len(self._buckets) > self._keep:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(name)
        return bucket
