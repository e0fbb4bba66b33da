"""Token buckets: rate limits on a clock that is passed in."""

from collections.abc import Callable


class TokenBucket:
    """A token bucket: `burst` at once, `per_minute` in the long run. 0 per minute is no limit."""

    def __init__(self, per_minute: float, burst: float, clock: Callable[[], float]) -> None:
        self._rate = per_minute / 60
        self._burst = burst
        self._clock = clock
        self._tokens = burst
        self._at = clock()

    def take(self) -> bool:
        """Take one; False when there is none left."""
        self._refill()
        if self._rate <= 0:
            return True
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def seconds_until_next(self) -> float:
        """How long until `take` would succeed."""
        self._refill()
        return 0.0 if self._tokens >= 1 or self._rate <= 0 else (1 - self._tokens) / self._rate

    @property
    def full(self) -> bool:
        """Whether the bucket is full again, so that it can be forgotten."""
        self._refill()
        return self._tokens >= self._burst

    def _refill(self) -> None:
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + max(0.0, now - self._at) * self._rate)
        self._at = now
