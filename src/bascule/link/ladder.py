"""Backoff: how long a daemon waits before it connects to its hub again."""

FIRST = 1.0  # seconds; doubled with each attempt
MAX_SECONDS = 30.0
HELD = 30.0  # seconds that a connection must have held before a loss of it begins from the lowest step
AT_ONCE_EVERY = 30.0  # seconds in which one loss of a shorter connection is followed by an attempt at once
SLOW = 300.0  # after 401 or 403: a person has to do something


class Ladder:
    """At once, then after up to 1, 2, 4, 8 … 30 seconds. Random, so that many daemons of a hub that was
    restarted do not come all at a time. Times are of one steady clock that goes on while the machine sleeps.
    """

    def __init__(self) -> None:
        self._step = 0
        self._at_once = False
        self._lost_at = float("-inf")  # a connection after which the attempt came at once
        self._not_before = 0.0  # said by the hub
        self._slow_until = 0.0  # the hub, or something on the way to it, does not know us

    def delay(self, now: float, random: float) -> float:
        """Seconds until the next attempt; `random` is in [0, 1). Each call is one step up the ladder."""
        at_once, self._at_once = self._at_once, False
        ceiling = 0.0 if self._step == 0 else min(MAX_SECONDS, FIRST * 2 ** (self._step - 1))
        self._step = min(self._step + 1, 32)
        wanted = 0.0 if at_once else random * ceiling
        until = max(self._not_before, self._slow_until)
        if until <= now + wanted:
            return wanted
        return until - now + random * min(until - now, MAX_SECONDS) / 2  # later, never sooner

    def lost(self, now: float, held: float) -> None:
        """A connection ended that the hub had welcomed, after `held` seconds.

        The node at its other end may have died, and the next one is there already: the first attempt is at
        once. A hub that welcomes and ends every connection is not tried so again and again.
        """
        if held >= HELD:
            self._step = 0
        elif now - self._lost_at >= AT_ONCE_EVERY:
            self._at_once, self._lost_at = True, now
        self._not_before = self._slow_until = 0.0

    def refused(self, now: float, retry: float) -> None:
        """The hub refused the connection and said when to try again."""
        self._not_before = now + max(retry, 0.0)

    def turned_away(self, now: float) -> None:
        """401 or 403: from a hub that does not know this daemon, or from a captive portal in between."""
        self._slow_until = now + SLOW

    def woken(self) -> None:
        """The machine woke up or its network changed: try at once, unless the hub said when."""
        self._at_once = True
        self._slow_until = 0.0
