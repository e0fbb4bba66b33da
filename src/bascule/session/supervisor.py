"""Supervises one live session: its lifecycle, policy decisions, queued prompts and end."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from bascule.drivers.base import Driver
from bascule.model.errors import HostError
from bascule.model.events import (
    AnyEvent,
    EndCancelled,
    EndReason,
    Interrupted,
    Note,
    PermissionRequested,
    PromptSent,
    QuestionAsked,
    SessionEnding,
    SessionFailed,
    SessionReady,
    ToolChanged,
    TurnEnded,
    Unrecognised,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import Write
from bascule.model.session_fold import CHANGES_REQUESTS
from bascule.model.settings import Limits
from bascule.policy.decide import Ruling, by_mode
from bascule.policy.session_rules import SessionRule, decode_rule
from bascule.policy.token_bucket import TokenBucket
from bascule.session.agent import AgentProcess, Exit, SpawnPlan
from bascule.session.answer_deadlines import AnswerDeadlines
from bascule.session.conversation_list import ConversationList
from bascule.session.deadlines import Deadlines
from bascule.session.ending import (
    OVER,
    ended,
    exit_words,
    how_it_went,
    left_by_itself,
    never_spoke,
    spawn,
    stop_after,
)
from bascule.session.guarding import Guarding, SpendingOf, of_session_alone
from bascule.session.ledger import Ledger
from bascule.session.noise_limit import NoiseLimit
from bascule.session.open_requests import OpenRequests
from bascule.session.outbox import Outbox
from bascule.session.patience import Patience
from bascule.session.policy_answers import PolicyAnswers
from bascule.session.queueing import next_to_send
from bascule.session.reading import Reader, bring_up
from bascule.session.reviving import Revival, Reviving
from bascule.session.running_tools import CHANGES_TOOLS, RunningTools
from bascule.session.time_limits import TimeLimits
from bascule.store.base import AuditRecord, ResumePoint, StoredReply

NEVER = Revival()
# Events from which more may follow than that they are logged: an answer, a withdrawal, a prompt, a note.
FOLLOWED: frozenset[type[AnyEvent]] = CHANGES_REQUESTS | {SessionReady, TurnEnded, Note, Unrecognised}
LIMIT, A_LIMIT = "limit", "A limit"  # who acts when nobody does: for programs, and in the transcript
SENDABLE = frozenset({Phase.STARTING, Phase.WAITING})


class Supervisor:
    def __init__(
        self,
        ledger: Ledger,
        process: AgentProcess,
        driver: Driver,
        point: ResumePoint,
        limits: Limits,
        clock: Callable[[], float],
        steady: Callable[[], float],
        ruling: Ruling = by_mode,
        revival: Revival = NEVER,
        spending: SpendingOf = of_session_alone,
    ) -> None:
        bring_up(driver, process, point)
        self.ledger = ledger
        self.reviving = Reviving(ledger, revival)
        self.driver = driver
        self.limits = limits
        self.inputs = TokenBucket(limits.inputs_per_minute, limits.inputs_per_minute, steady)
        kept = [decode_rule(rule.rule) for rule in ledger.pending.rules]
        self.rules: list[SessionRule] = [rule for rule in kept if rule is not None]
        self._process = process
        self._steady = steady
        self._policy = PolicyAnswers(ledger, driver, ruling, self.rules)
        self._deadlines = Deadlines()
        self._answers = AnswerDeadlines(ledger, driver, self._deadlines, clock, self.log)
        self._time = TimeLimits(ledger, self._deadlines, clock, self.log, self.reach)
        self._tools = RunningTools()
        waits = (self._deadlines, self._tools)
        self._patience = Patience(ledger, driver, limits, *waits, self._never_spoke, self.log)
        self.guarding = Guarding(ledger, limits, self._tools, spending, self.log, self._stop_for)
        self._noise = NoiseLimit(steady)
        self._given_up = ""  # why it was stopped though nobody asked for it, in words
        self._base = point.out_offset - driver.consumed
        self._outbox = Outbox(ledger, process, point.outbox)
        self._reader = Reader(
            ledger, process, driver, self.admit, lambda sync: self.log([], sync=sync), point
        )
        # A try that fails leaves no trace of its own in the transcript: its words are part of the outcome.
        self._reader.shows_stderr = lambda: not self.reviving.trying
        self.conversations = ConversationList(driver, lambda write: self.log([], writes=[write]))
        self._spoke = point.out_offset > 0
        self._exit: Exit | None = None
        self._ending: asyncio.Task[None] | None = None

    # Life

    async def run(self, plan: SpawnPlan | None) -> None:
        """From the spawn (or, without a plan, from wherever it was) to the end."""
        carrying: list[asyncio.Task[None]] = []
        try:
            if plan is not None and not await self._spawn(plan):
                return
            if self.ledger.record.phase is Phase.ENDING and self._exit is None:  # it may still run
                committed = self.ledger.log([])
                self._ending = asyncio.create_task(self._end_process(committed), name=f"end {self._id}")
            self._begin_waiting()
            carrying.append(asyncio.create_task(self._outbox.run(), name=f"outbox {self._id}"))
            carrying.append(asyncio.create_task(self._outbox.deafness.run(), name=f"deafness {self._id}"))
            await asyncio.gather(self._reader.read_out(), self._reader.read_err())
            await self._finish()
        finally:
            for task in carrying:
                task.cancel()
            self.reviving.settle()
            self._deadlines.cancel_all()
            await self.close()
            self._process.close()

    async def close(self) -> None:
        """Let go of whatever else was begun for this session."""

    def output(self, end: int | None = None, err_end: int | None = None) -> None:
        """The keeper says there is more to read, or answers again."""
        self._reader.wake(err_end)
        self._outbox.wake()

    def exited(self, exit: Exit) -> None:
        self._exit = exit
        self._reader.exited(exit)

    def check_room(self) -> None:
        """Raises while the agent has too much to read already."""
        self._outbox.check_room()

    def deliver_after(self, committed: "asyncio.Future[None]", writes: Sequence[Write]) -> None:
        """Bytes that were logged before this session was live."""
        self._outbox.put_after(committed, writes)

    def place_and_state(self) -> tuple[int, bytes]:
        """The output offset that has become events, and the driver's state there."""
        return self._base + self.driver.consumed, self.driver.state()

    async def _spawn(self, plan: SpawnPlan) -> bool:
        failed = await spawn(self.ledger, self._process, plan)
        if failed is not None:
            await self._end_with(self._not_started(failed), "failed to start")
        return failed is None

    def _not_started(self, failed: SessionFailed) -> list[AnyEvent]:
        if not self.reviving.trying:
            return [failed]
        return self.reviving.last_words(Exit(None, None, 0, 0), failed.message, "")

    async def _finish(self) -> None:
        """Every byte is read and the exit is known: close what is open, say how it ended."""
        exit = self._exit or Exit(None, None, 0, 0, lost=True)
        record = self.ledger.record
        requests = OpenRequests(self.ledger)
        said = self._bounded(self.driver.finish())
        events = [one for one in [*said, *self._noise.count_left_out()] if requests.follow(one)]
        last = self._last_words(exit)
        gone = exit.lost or self.reviving.lost is not None
        events += requests.withdraw_all("lost" if gone else "ended")
        events += [*self._reader.dropped_stderr(), *last]
        by_itself = "disconnected" if self.reviving.lost is not None else "exited"
        await self._end_with(events, record.end_reason or by_itself)
        await self._process.forget()

    def _last_words(self, exit: Exit) -> list[AnyEvent]:
        record, tail = self.ledger.record, self.stderr_tail
        if self._given_up and record.phase not in OVER:
            if self.reviving.trying:
                return self.reviving.last_words(exit, self._given_up, tail)
            return [never_spoke(record, self._given_up, tail, exit)]
        early = not self._spoke and exit.code is not None
        if record.phase in OVER or (not self.reviving.trying and (early or left_by_itself(exit))):
            return [ended(record, exit, None if self._spoke else self._failure(exit))]
        unheard = self._outbox.holds_answer
        return self.reviving.last_words(exit, how_it_went(exit), tail, unheard=unheard)

    @property
    def stderr_tail(self) -> str:
        return self._reader.stderr_tail.strip()

    def _never_spoke(self, why: str) -> None:
        self._given_up = why
        self._ending = asyncio.create_task(self.give_up(), name=f"give up {self._id}")

    async def give_up(self) -> None:
        """It does not come up: stop it; its exit is then reported."""
        try:
            await self._process.kill()
        except HostError:
            return  # it is gone, or the keeper is: either way its exit is reported

    def _failure(self, exit: Exit) -> SessionFailed:
        message = f"The agent stopped before it said anything ({exit_words(exit) or 'exit code 0'})."
        return SessionFailed("exited_early", message, self.stderr_tail, exit.code, exit.signal)

    async def _end_with(self, events: list[AnyEvent], detail: str) -> None:
        audit = AuditRecord("session_ended", "agent", self._id, detail=detail)
        await self.log(events, audit=[audit], delivered=self._outbox.abandon())

    # What the agent says

    def admit(self, events: list[AnyEvent], reached: int) -> "asyncio.Future[None]":
        """Facts from the driver, with the answers policy has for them, as one step."""
        self._spoke = True
        writes: list[Write] = []
        audit: list[AuditRecord] = []
        only_speaks = self._only_speaks(set(map(type, events)))
        only_read = only_speaks and not self.driver.owes
        facts = events if only_speaks else self._policy.follow(self._bounded(events), writes, audit)
        writes += self.driver.data_to_send()
        committed = self.log(facts, writes=writes, audit=audit, sync=bool(audit), only_read=only_read)
        if facts is not events:
            self._react(facts)
        self._heard(facts)
        self.guarding.output(reached)
        if self.reviving.refused and self._ending is None:
            self._ending = asyncio.create_task(self.give_up(), name=f"give up {self._id}")
        if 0 < self.limits.output_bytes < reached:
            self.reach("size_limit")
        return committed

    def _only_speaks(self, kinds: AbstractSet[type[AnyEvent]]) -> bool:
        """Whether nothing follows from such events but that they are logged: so it is with nearly all."""
        return FOLLOWED.isdisjoint(kinds) and not (ToolChanged in kinds and self.ledger.open_requests())

    def _heard(self, facts: list[AnyEvent]) -> None:
        kinds = set(map(type, facts))
        ended = () if CHANGES_TOOLS.isdisjoint(kinds) else self._tools.heard(facts)
        self._patience.heard(kinds)
        self.touch()
        self.guarding.heard(kinds, ended)

    def _bounded(self, events: list[AnyEvent]) -> list[AnyEvent]:
        """Without what a try to bring the agent back keeps to itself, and with at most so much noise."""
        return self._noise.bounded(self.reviving.heard(events))

    def log(
        self,
        events: Sequence[AnyEvent],
        *,
        writes: Sequence[Write] = (),
        audit: Sequence[AuditRecord] = (),
        delivered: Sequence[str] = (),
        reply: StoredReply | None = None,
        sync: bool = True,
        only_read: bool = False,
    ) -> "asyncio.Future[None]":
        """Log facts together with the driver's position and the bytes they cause.

        `only_read`: the driver did nothing but read since its state was stored. Then the state is left out,
        where reading the same again leads to it.
        """
        leave_out = only_read and bool(events) and self.driver.repeatable
        committed = self.ledger.log(
            events,
            out_offset=self._base + self.driver.consumed,
            driver_state=None if leave_out else self.driver.state(),
            writes=writes,
            delivered=delivered,
            audit=audit,
            reply=reply,
            sync=sync,
        )
        self._outbox.put_after(committed, writes)
        self.conversations.look()
        self._logged(committed)
        return committed

    def _logged(self, committed: "asyncio.Future[None]") -> None:
        """Called after every log, with its commit; there for sessions that share a process."""

    def _react(self, facts: list[AnyEvent]) -> None:
        for event in facts:
            if type(event) not in FOLLOWED:
                continue
            match event:
                case PermissionRequested() | QuestionAsked():
                    self._answers.set(event.request_id, self.limits)
                case TurnEnded() | SessionReady():
                    self.send_next()
                case _:
                    pass

    @property
    def free(self) -> bool:
        """Whether the agent accepts a prompt now. While it restarts, prompts wait."""
        record = self.ledger.record
        return record.phase in SENDABLE and not self.reviving.trying and record.guard is None

    def send_next(self) -> None:
        """If the agent is free and something waits, send it."""
        one = next_to_send(self.ledger.pending)
        if not self.free or one is None:
            return
        sent = PromptSent(one.prompt_id, one.text, one.by, one.client_message_id, one.images)
        write = self.driver.prompt(sent)
        self.log([sent, *self.driver.settled()], writes=[write])
        self.guarding.heard({PromptSent})

    def _stop_for(self, events: list[AnyEvent]) -> None:
        """A guard rail holds the agent: its turn is interrupted, and prompts wait until somebody decides."""
        record = self.ledger.record
        if record.phase is not Phase.RUNNING:
            self.log(events)
            return
        write = self.driver.interrupt(f"interrupt:{new_id()}")
        self.log([Interrupted(A_LIMIT), *events, *self.driver.settled()], writes=[write])

    # Waiting, and no longer

    def _begin_waiting(self) -> None:
        """Set every deadline this session has, counting from when it began to run."""
        self._answers.set_all(self.limits)
        self._time.age(self.limits.session_seconds)
        self.touch()
        self._patience.begin()
        self.send_next()

    def touch(self) -> None:
        """Something happened; the idle clock starts again. A person who is being waited for stops it."""
        idle = self.ledger.record.phase is Phase.WAITING and not self.ledger.open_requests()
        if idle:
            self._time.idle(self.limits.idle_seconds)
        else:
            self._time.used()
        self._patience.look()

    def keep(self, by: str) -> "asyncio.Future[None]":
        """A person wants it to go on: both clocks start again."""
        committed = self.log([EndCancelled(by)])
        self._time.age(self.limits.session_seconds)
        self.touch()
        return committed

    def set_limits(self, limits: Limits) -> None:
        """The owner changed them: they hold from now on."""
        self.limits = limits
        self.inputs = TokenBucket(limits.inputs_per_minute, limits.inputs_per_minute, self._steady)
        self._patience.limits = self.guarding.limits = limits
        if self.ledger.record.phase in OVER:
            return
        self._time.age(limits.session_seconds)
        self.touch()
        self._answers.set_all(limits)
        self.guarding.look()

    # The end

    def reach(self, limit: EndReason) -> None:
        self.end(limit, LIMIT)

    def end(self, reason: EndReason, by: str) -> "asyncio.Future[None] | None":
        """Begin to end. What waits for an answer is withdrawn: nothing runs after this."""
        if self.ledger.record.phase in OVER:
            return None
        events = [*OpenRequests(self.ledger).withdraw_all("ended"), SessionEnding(reason, by)]
        committed = self.log(events, writes=self._farewell())
        self._deadlines.cancel_all()
        self._ending = asyncio.create_task(self._end_process(committed), name=f"end {self._id}")
        return committed

    def _farewell(self) -> list[Write]:
        """The write that precedes the end: none, because closing stdin is enough."""
        return []

    async def _end_process(self, committed: "asyncio.Future[None]") -> None:
        await stop_after(committed, self.ledger, self._process)

    @property
    def _id(self) -> str:
        return self.ledger.record.session_id


def new_id() -> str:
    return secrets.token_hex(8)
