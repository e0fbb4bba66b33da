"""Liveness of a connection's far side, and the offset of its clock."""

from collections import deque
from typing import Literal

from msgspec import Struct

PING_AFTER = 10.0  # seconds of silence
STALE_AFTER = 15.0
DEAD_AFTER = 30.0
DOUBT_SECONDS = 5.0  # to answer a ping when the line may well lead nowhere
LATE_AFTER = STALE_AFTER - PING_AFTER  # the shortest time between two of these
SAMPLES = 8  # of the clock's offset

State = Literal["alive", "stale", "dead"]


class Look(Struct, frozen=True):
    """What a look at a line found. `ping` is the number of a ping to send now; look `again` then."""

    state: State
    ping: int | None
    again: float


class Liveness:
    """Any byte is a sign of life. All times are of one steady clock; the owner looks when asked to.

    A look that comes too late by more than the time it was to wait shows that this machine slept or stood
    still: what the far side sent meanwhile is not read yet. Then, once in each silence, a ping goes out first
    and has a whole round to be answered. After a look that came a moment too early, as timers of whole
    milliseconds do, the time to wait is next to nothing: a few seconds are never too late.
    """

    def __init__(self, now: float) -> None:
        self._heard = now
        self._since = now  # silence is judged from here on
        self._looked = now
        self._due = now + PING_AFTER
        self._pinged = 0  # times in this silence
        self._granted = False
        self._doubted = False
        self._count = 0

    def heard(self, now: float) -> None:
        self._heard = self._since = now
        self._pinged = 0
        self._granted = self._doubted = False

    def silence(self, now: float) -> float:
        """Seconds, in words for a person."""
        return now - self._heard

    def look(self, now: float) -> Look:
        is_late = now - self._due > max(self._due - self._looked, LATE_AFTER)
        if is_late and not self._granted and self._is_past(now, PING_AFTER):
            self._granted = True
            self._since = now - PING_AFTER
            self._pinged = 0
        state = self._state(now)
        ping = None
        if state != "dead" and (self._is_past(now, PING_AFTER * (self._pinged + 1)) or self._must_ask()):
            self._pinged += 1
            self._count += 1
            ping = self._count
        self._looked, self._due = now, self._next_look(now)
        return Look(state, ping, self._due)

    def doubt(self, now: float) -> int:
        """This machine woke up or its network changed. Gives the number of a ping to send now, which must be
        answered soon; only the first one in a silence puts off its end."""
        if not self._doubted:
            self._since = now - (DEAD_AFTER - DOUBT_SECONDS)
        self._doubted = self._granted = True  # it is asked: a late look is no reason to ask once more
        self._pinged = int(DEAD_AFTER / PING_AFTER)
        self._count += 1
        return self._count

    def _must_ask(self) -> bool:
        return self._granted and self._pinged == 0

    def _state(self, now: float) -> State:
        if self._is_past(now, DEAD_AFTER):
            return "dead"
        return "stale" if self._is_past(now, STALE_AFTER) else "alive"

    def _is_past(self, now: float, after: float) -> bool:
        # Added, not subtracted, as in `_next_look`: a look at the very moment must find that it has come.
        return now >= self._since + after

    def _next_look(self, now: float) -> float:
        moments = (PING_AFTER, STALE_AFTER, 2 * PING_AFTER, DEAD_AFTER)
        return next((self._since + after for after in moments if self._since + after > now), now + PING_AFTER)


class ClockOffset:
    """How far the far side's clock is ahead of ours, from pings and pongs by NTP's formula.

    Of the last samples the one with the shortest way counts: the longer it took, the less it says.
    """

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float]] = deque(maxlen=SAMPLES)  # delay and offset

    def add(self, pinged: float, their_clock: float, now: float) -> None:
        """A pong came `now`, by our clock; `pinged` is our clock when its ping was sent."""
        delay = now - pinged
        if delay >= 0:  # else our own clock was set back in between
            # One stamp stands for both of theirs, as a ping is answered at once.
            self._samples.append((delay, ((their_clock - pinged) + (their_clock - now)) / 2))

    @property
    def seconds(self) -> float | None:
        return min(self._samples)[1] if self._samples else None

    @property
    def delay(self) -> float | None:
        """The shortest time from a ping to its pong."""
        return min(self._samples)[0] if self._samples else None
