"""Ends a session that is idle or old, and announces it before, so that a person can keep it."""

from collections.abc import Callable
from typing import Literal

from bascule.model.codec import timestamp
from bascule.model.events import AnyEvent, EndCancelled, EndScheduled
from bascule.session.deadlines import Deadlines
from bascule.session.ending import seconds
from bascule.session.ledger import Ledger

WARNING_SECONDS = 300.0

Limit = Literal["idle_limit", "time_limit"]
IDLE: Limit = "idle_limit"
AGE: Limit = "time_limit"


class TimeLimits:
    """Two clocks of one session. `reach` ends it; no clock does so without an `EndScheduled` before."""

    def __init__(
        self,
        ledger: Ledger,
        deadlines: Deadlines,
        clock: Callable[[], float],
        log: Callable[[list[AnyEvent]], object],
        reach: Callable[[Limit], None],
    ) -> None:
        self._ledger = ledger
        self._deadlines = deadlines
        self._clock = clock
        self._log = log
        self._reach = reach

    def age(self, limit: float) -> None:
        """Count from when this run began, or when somebody last kept it. 0: it may grow as old as it likes.

        One that is too old already, after a restart or a change of the limit, is warned all the same.
        """
        self._deadlines.cancel(AGE)
        if limit <= 0:
            self._cancel(AGE)
            return
        record = self._ledger.record
        passed = self._clock() - max(seconds(record.started_at), seconds(record.kept_at))
        lead = _lead(limit)
        if limit - passed > lead:
            self._cancel(AGE)
            self._deadlines.set(AGE, limit - passed - lead, lambda: self._warn(AGE, lead))
        else:
            self._warn(AGE, lead)

    def idle(self, limit: float, spent: float = 0.0) -> None:
        """Nobody uses it from now on, or has not for a while. 0: that may go on for ever."""
        self.used()
        if limit > 0:
            lead = _lead(limit)
            self._deadlines.set(IDLE, max(0.001, limit - spent - lead), lambda: self._warn(IDLE, lead))

    def used(self) -> None:
        """Something happens in it: it is not idle."""
        self._deadlines.cancel(IDLE)
        self._cancel(IDLE)

    def _warn(self, limit: Limit, lead: float) -> None:
        self._log([EndScheduled(timestamp(self._clock() + lead), limit)])
        self._deadlines.set(limit, lead, lambda: self._reach(limit))

    def _cancel(self, limit: Limit) -> None:
        if self._ledger.record.ends_for == limit:
            self._log([EndCancelled()])


def _lead(limit: float) -> float:
    """How long before the end it is announced: 5 minutes, and half of a limit that is shorter than ten."""
    return min(WARNING_SECONDS, limit / 2)
