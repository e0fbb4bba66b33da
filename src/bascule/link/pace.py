"""Pace: how much that is not urgent may be under way, so that what is urgent never waits long behind it.

What a socket, a proxy or a router has taken can't be overtaken. So after every few messages there is a ping,
and its pong says that all before it has arrived. The window is what the line takes in its shortest round trip
and a little more: enough to keep it busy, hardly more than that.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from bascule.link.priorities import Priority

SHARE = 1.5  # of the shortest round trip: how long one may take beside what is not urgent
SLACK = 0.02  # seconds, beyond that share
FIRST_WINDOW = 64 * 1024
LEAST_WINDOW = 512
MAX_WINDOW = 4 * 1024 * 1024
LEAST_PART = 512
PINGS = 8  # in a window
RATES = 16  # of which the highest counts
MEASURE_SECONDS = 10.0  # after which a busy line is left empty once, to see how short its round trip is now
SLOW_RATE = 2 * 1024 * 1024  # bytes a second; on a slower line a window can be felt
QUIET_SECONDS = 0.5  # after a key on a slow line that is busy
MAX_QUIET_SECONDS = 2.0  # of every two and a half, while a user types
BUSY_SECONDS = 1.0  # that a line counts as busy after its window was full
NEVER = float("-inf")
NUMBERS = 2**40  # pings beyond it are ours; those below ask whether anybody is there
_TAPE = Priority.TAPE


class _Ping(NamedTuple):
    number: int
    at: float
    ahead: int  # bytes that were under way before it
    tapes: int  # bytes of terminals, sent until then
    rest: int
    came: int  # bytes that had arrived by then


class Pace:
    """Terminals have one window, and everything else that is not urgent has another of the same size."""

    def __init__(self, steady: Callable[[], float], window: int = FIRST_WINDOW) -> None:
        self._steady = steady
        self._resize(window)
        self._is_new = True  # the window doubles until it is too large for the first time
        self._shortest = float("inf")  # round trip, in seconds
        self._rates: deque[float] = deque(maxlen=RATES)  # bytes a second, while the window was in use
        self._measured = steady()
        self._tapes = self._rest = 0  # bytes that were sent
        self._came_tapes = self._came_rest = 0  # of them: have arrived
        self._before_ping = 0  # bytes that were sent before the last ping
        self._pings: deque[_Ping] = deque()  # not answered yet
        self._number = NUMBERS
        self._quiet_until = self._quiet_since = self._busy_at = NEVER
        self.wants_ping = True  # perhaps
        self._emptying = True  # until nothing is under way, and a ping measures the line alone

    def _resize(self, window: int) -> None:
        self.window = min(max(window, LEAST_WINDOW), MAX_WINDOW)
        self.part = max(LEAST_PART, self.window // 4)  # bytes of a message that is sent whole
        self._most_before = max(self.window - self.part, LEAST_WINDOW // 2)  # bytes, and one more part may go
        self._between_pings = self.window // PINGS

    def has_room(self, priority: Priority) -> bool:
        """For one part of what is not urgent."""
        is_tape = priority == _TAPE
        under_way = self._tapes - self._came_tapes if is_tape else self._rest - self._came_rest
        if under_way <= self._most_before:
            if self._emptying:
                return False
            return is_tape or self._quiet_since == NEVER or self.quiet_for is None
        self._busy_at = self._steady()
        if self._busy_at - self._measured > MEASURE_SECONDS:
            self._emptying = self.wants_ping = True
        return False

    def typed(self) -> None:
        """A user types in a terminal, and waits for the echo."""
        now = self._steady()
        if now >= self._quiet_since + MAX_QUIET_SECONDS + QUIET_SECONDS:
            self._quiet_since = now
        self._quiet_until = now + QUIET_SECONDS

    @property
    def quiet_for(self) -> float | None:
        """Seconds until other things than terminals' are sent again; None when they are."""
        if self._quiet_since == NEVER:
            return None
        left = min(self._quiet_until, self._quiet_since + MAX_QUIET_SECONDS) - self._steady()
        is_busy = self._busy_at >= self._quiet_since - BUSY_SECONDS
        is_slow = max(self._rates, default=SLOW_RATE) < SLOW_RATE
        return left if left > 0 and is_busy and is_slow else None

    def sent(self, priority: Priority, size: int) -> None:
        """What is not urgent was handed over."""
        if priority == _TAPE:
            self._tapes += size
        else:
            self._rest += size
        if self._tapes + self._rest - self._before_ping >= self._between_pings:
            self.wants_ping = True

    def ping(self, *, full: bool = False) -> int | None:
        """The number of a ping that has to be sent now, before anything else. `full`: nothing else may be."""
        sent = self._tapes + self._rest
        came = self._came_tapes + self._came_rest
        ahead = sent - came
        self.wants_ping = self._emptying
        if self._emptying and ahead == 0:
            self._emptying = self.wants_ping = False
            self._shortest, self._measured = float("inf"), self._steady()
        elif sent - self._before_ping < (1 if self._emptying or full else self._between_pings):
            return None
        self._before_ping = sent
        self._number += 1
        self._pings.append(_Ping(self._number, self._steady(), ahead, self._tapes, self._rest, came))
        return self._number

    def answered(self, number: int) -> bool:
        """A pong came. False when it answers another ping than one of these."""
        if number <= NUMBERS:
            return False
        while self._pings and self._pings[0].number <= number:
            ping = self._pings.popleft()
            self._came_tapes, self._came_rest = ping.tapes, ping.rest
            if ping.number == number:
                self._measure(ping, max(self._steady() - ping.at, 1e-6))
        return True

    def _measure(self, ping: _Ping, took: float) -> None:
        self._shortest = min(self._shortest, took)
        enough = self._shortest * SHARE + SLACK
        if 2 * ping.ahead < self.window:
            return  # it was not this that took so long, if it did
        self._rates.append((self._came_tapes + self._came_rest - ping.came) / took)
        if took <= enough and self._is_new:
            self._resize(max(self.window, 2 * ping.ahead))
            return
        self._is_new = False
        more = LEAST_PART if took <= enough else 0
        self._resize(int(max(self._rates) * enough) + more)
