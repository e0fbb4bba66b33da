"""How often something may happen: a bucket that refills, counted by a clock that is handed in."""

from collections import OrderedDict
from collections.abc import Callable

Clock = Callable[[], float]


class TokenBucket:
    """Lets `burst` through at once, then `rate_per_minute`."""

    def __init__(self, rate_per_minute: float, burst: int, clock: Clock) -> None:
        self._per_second = rate_per_minute / 60
        self._burst = burst
        self._clock = clock
        self._tokens = float(burst)
        self._at = clock()

    def take(self) -> bool:
        """Take one token; False when there is none."""
        self._refill()
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def give_back(self) -> None:
        """Undo a `take` whose action did not happen."""
        self._tokens = min(float(self._burst), self._tokens + 1)

    def wait(self) -> float:
        """Seconds until the next token."""
        self._refill()
        if self._tokens >= 1:
            return 0.0
        return (1 - self._tokens) / self._per_second if self._per_second else 60.0

    def _refill(self) -> None:
        now = self._clock()
        passed, self._at = max(0.0, now - self._at), now
        self._tokens = min(float(self._burst), self._tokens + passed * self._per_second)


class Buckets:
    """One bucket a name. Only the names used last are kept, so strangers can't fill the memory."""

    def __init__(self, rate_per_minute: float, burst: int, clock: Clock, keep: int = 4096) -> None:
        self._rate, self._burst, self._clock, self._keep = rate_per_minute, burst, clock, keep
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def of(self, name: str) -> TokenBucket:
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = TokenBucket(self._rate, self._burst, self._clock)
            if len(self._buckets) > self._keep:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(name)
        return bucket
