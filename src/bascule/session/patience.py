"""Timeouts for a silent agent: fails one that never speaks its protocol, notes a long quiet turn."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet

from bascule.drivers.base import Driver
from bascule.model.events import AnyEvent, Note, TurnEnded
from bascule.model.lifecycle import Phase
from bascule.model.settings import Limits
from bascule.session.deadlines import Deadlines
from bascule.session.ledger import Ledger
from bascule.session.running_tools import RunningTools

START, QUIET = "start", "quiet"


class Patience:
    """Calls `give_up` if the agent never spoke its protocol, and `tell` once per long quiet turn."""

    def __init__(
        self,
        ledger: Ledger,
        driver: Driver,
        limits: Limits,
        deadlines: Deadlines,
        tools: RunningTools,
        give_up: Callable[[str], None],
        tell: Callable[[list[AnyEvent]], object],
    ) -> None:
        self._ledger = ledger
        self._driver = driver
        self.limits = limits
        self._deadlines = deadlines
        self._tools = tools
        self._give_up = give_up
        self._tell = tell
        self._notified = False  # in this turn

    def begin(self) -> None:
        if not self._driver.spoken:
            self._deadlines.set(START, self.limits.start_seconds, self._start_is_over)
        self.look()

    def _start_is_over(self) -> None:
        if not self._driver.spoken:
            self._give_up(f"it did not speak its protocol within {self.limits.start_seconds} s")
        self.look()

    def heard(self, kinds: AbstractSet[type[AnyEvent]]) -> None:
        """It said something of these kinds: that it lives, at least."""
        if self._driver.spoken:
            self._deadlines.cancel(START)
        if TurnEnded in kinds:
            self._notified = False
        self._deadlines.cancel(QUIET)
        self.look()

    def look(self) -> None:
        """Count the silence while nobody but the agent has anything to do."""
        if not self._alone():
            self._deadlines.cancel(QUIET)
        elif not self._notified and not self._deadlines.is_set(QUIET):
            self._deadlines.set(QUIET, self.limits.quiet_seconds, self._due)

    def _alone(self) -> bool:
        # Until it was time to speak its protocol, silence has a clock of its own.
        running = self._ledger.record.phase is Phase.RUNNING and not self._deadlines.is_set(START)
        return running and not self._tools.calls and not self._ledger.open_requests()

    def _due(self) -> None:
        if self._alone():
            self._notified = True
            seconds = self.limits.quiet_seconds
            message = f"No answer from the agent for {seconds} s. It may be waiting for its model."
            self._tell([Note("no_answer", message, "warning")])
