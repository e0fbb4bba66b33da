"""Guard rails of one live session: warns of a cap, stops the turn at it or in a loop, and asks a person."""

import secrets
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from bascule.model.events import AnyEvent, GuardAsked, Note, PromptSent, UsageChanged
from bascule.model.guards import CapName, GuardKind
from bascule.model.lifecycle import LIVE, Phase
from bascule.model.records import SessionRecord
from bascule.model.settings import Limits
from bascule.policy.loop_watch import LoopWatch
from bascule.policy.spending_caps import Meter, Reached, Spending, is_capped, look
from bascule.session.ledger import Ledger
from bascule.session.running_tools import CHANGES_TOOLS, EndedCall, RunningTools

WATCHED: frozenset[type[AnyEvent]] = CHANGES_TOOLS | {UsageChanged, PromptSent}
NEAR, REACHED = "limit_near", "limit_reached"
OUTPUT_WARNED_AT = 0.8

SpendingOf = Callable[[SessionRecord], Spending]


def of_session_alone(record: SessionRecord) -> Spending:
    """For where the spending of other sessions is not counted."""
    return Spending(session=session_meter(record))


def session_meter(record: SessionRecord) -> Meter:
    return Meter(record.cents, record.tokens + record.turn_tokens)


class Guarding:
    """`tell` logs a warning; `stop` interrupts the turn, if one runs, and logs these events with that."""

    def __init__(
        self,
        ledger: Ledger,
        limits: Limits,
        tools: RunningTools,
        spending: SpendingOf,
        tell: Callable[[list[AnyEvent]], object],
        stop: Callable[[list[AnyEvent]], object],
    ) -> None:
        self.limits = limits
        self._ledger = ledger
        self._tools = tools
        self._spending = spending
        self._tell = tell
        self._stop = stop
        self._loop = LoopWatch()
        self._warned: set[tuple[CapName, int]] = set()
        self._warned_of_output = False
        self._due: GuardAsked | None = None  # waits for the current tool

    def heard(self, kinds: AbstractSet[type[AnyEvent]], ended: Iterable[EndedCall] = ()) -> None:
        """Events of these kinds were logged, and with them these calls ended."""
        if WATCHED.isdisjoint(kinds):
            return
        if PromptSent in kinds:
            self._loop.clear()
        if self.limits.loop_repeats > 0:
            self._count(ended)
        self.look()

    def look(self) -> None:
        """Compare what was spent with the caps; carry out what is due once no tool runs."""
        record = self._ledger.record
        if record.guard is not None or record.phase not in LIVE or record.phase is Phase.ENDING:
            self._due = None
            return
        for found in self._near_or_reached(record):
            if found.state == "near":
                self._warned.add((found.cap, found.allowed))
                self._tell([Note(NEAR, found.words(), "warning")])
            elif self._due is None:
                self._due = _asked(found.cap, found.words(), int(found.spent), found.allowed)
        if self._due is not None and not self._at_work():
            due = replace(self._due, cut_short=record.phase is Phase.RUNNING)
            self._due = None
            self._stop([Note(REACHED, due.text, "warning"), due])

    def _near_or_reached(self, record: SessionRecord) -> list[Reached]:
        if not is_capped(self.limits):
            return []
        return look(self._spending(record), self.limits, record.raised, self._warned)

    def output(self, written: int) -> None:
        """How many bytes it has written: said before the limit ends it."""
        most = self.limits.output_bytes
        if most > 0 and written >= most * OUTPUT_WARNED_AT and not self._warned_of_output:
            self._warned_of_output = True
            words = f"The agent has written {written:,} of {most:,} bytes. At that limit the session ends."
            self._tell([Note(NEAR, words, "warning")])

    def answered(self) -> None:
        """A person lets it go on: what was counted as a loop starts again."""
        self._loop.clear()
        self._due = None

    def _count(self, ended: Iterable[EndedCall]) -> None:
        most = self.limits.loop_repeats
        for call, outcome in ended:
            times = self._loop.count(call.name, bytes(call.input), outcome.status, outcome.output)
            if times >= most and self._due is None:
                again = f"{call.name} was called {times} times with the same input"
                words = f"{again}, and the same came of it each time."
                self._due = _asked("loop", words, times, most)

    def _at_work(self) -> bool:
        """Whether a tool runs. One that waits for a person's answer does not."""
        waiting = {request.tool_id for request in self._ledger.open_requests()}
        return not waiting.issuperset(self._tools.calls) and self._ledger.record.phase is Phase.RUNNING


def _asked(kind: GuardKind, words: str, spent: int, allowed: int) -> GuardAsked:
    return GuardAsked(secrets.token_hex(8), kind, words, spent, allowed)
