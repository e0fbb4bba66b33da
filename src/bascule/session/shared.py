"""A session on a shared agent process: handles its own output, and leaves without ending the others."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from bascule.drivers.acp.service_calls import HostCall
from bascule.model.errors import AgentUnavailable, Refusal
from bascule.model.events import AnyEvent, Note, SessionFailed, TurnEnded
from bascule.model.lifecycle import Phase
from bascule.model.records import Write
from bascule.model.settings import AcpSettings, Limits
from bascule.policy.decide import Ruling
from bascule.session.agent import Exit, SpawnPlan
from bascule.session.ending import OVER, STORE_SECONDS, ended, how_it_went, spawn, stop
from bascule.session.guarding import SpendingOf, of_session_alone
from bascule.session.ledger import Ledger
from bascule.session.reviving import COULD_NOT_CONNECT, REFUSALS, Revival
from bascule.session.serving import Services, Serving
from bascule.session.shared_process import Slot
from bascule.session.silence import Silence
from bascule.session.supervisor import Supervisor, new_id
from bascule.store.base import ResumePoint

if TYPE_CHECKING:
    from bascule.drivers.acp.driver import AcpDriver

LEAVE_SECONDS = 5.0  # that the agent has to let go of one session
# What the agent answered with an error: pushed at once besides being in the log.
COULD_NOT = "Could not connect to {title}: {how}. Check that it runs by itself, then try again."
PROTOCOL_ERROR = "Agent returned a protocol error."
COMPLAINTS = REFUSALS | {"mode_refused", "model_refused"}


class SharedSupervisor(Supervisor):
    def __init__(
        self,
        ledger: Ledger,
        slot: Slot,
        driver: "AcpDriver",
        point: ResumePoint,
        limits: Limits,
        clock: Callable[[], float],
        steady: Callable[[], float],
        ruling: Ruling,
        *,
        spending: SpendingOf = of_session_alone,
        acp: AcpSettings,
        services: Services,
    ) -> None:
        title = slot.connection.title
        super().__init__(ledger, slot, driver, point, limits, clock, steady, ruling, Revival(title), spending)
        self.slot = slot
        slot.occupant = self
        self._acp = driver
        # What a process says aside while it serves several is nobody's in particular: it stays a tail.
        alone = self._reader.shows_stderr
        self._reader.shows_stderr = lambda: len(slot.connection.slots) <= 1 and alone()
        if driver.greeting is not None:
            slot.connection.greeted(driver.greeting)
        self._has_left = asyncio.Event()
        self._silence = Silence(
            acp.prompt_timeout_ms / 1000, self._works_alone, self._ask_whether_it_lives, self._hangs
        )
        session_id = ledger.record.session_id
        self._serving = Serving(services, session_id, lambda: ledger.record.cwd, self._served)
        self._seconds = acp.prompt_timeout_ms / 1000

    # At the process

    async def _spawn(self, plan: SpawnPlan) -> bool:
        failed = await spawn(self.ledger, self.slot, plan)
        if failed is None:
            return True
        title = self.slot.connection.title
        words = f"Could not start {title}. Check that it's installed. ({failed.message})"
        self._complain(AgentUnavailable.code, words)
        last = self._not_started(SessionFailed(COULD_NOT_CONNECT, words))
        await self._end_with(last, "failed to start")
        return False

    @property
    def place(self) -> tuple[int, bool]:
        return self._base + self._acp.consumed, self._acp.skipping

    @property
    def conversation(self) -> str | None:
        return self._acp.session_id

    def output(self, end: int | None = None, err_end: int | None = None) -> None:
        super().output(end, err_end)
        self._silence.heard()

    def exited(self, exit: Exit) -> None:
        self._silence.stop()
        self._has_left.set()
        super().exited(exit)

    async def close(self) -> None:
        self._silence.stop()
        over = self.ledger.record.phase in (Phase.ENDED, Phase.FAILED)
        await self._serving.close(over=over)
        if over:
            await self.slot.forget()

    def _begin_waiting(self) -> None:
        super()._begin_waiting()
        self._logged(self.ledger.log([]))  # a restart may have left calls that are due

    # What is said

    def admit(self, events: list[AnyEvent], reached: int) -> "asyncio.Future[None]":
        for event in events:
            if isinstance(event, Note) and event.code in COMPLAINTS:
                self._complain("AGENT_PROTOCOL_ERROR", event.text)
            elif isinstance(event, TurnEnded) and event.stop_reason == "error":
                self._complain("AGENT_PROTOCOL_ERROR", event.message or PROTOCOL_ERROR)
        # What others caused this process to say does not count against this session.
        return super().admit(events, self._acp.heard)

    async def give_up(self) -> None:
        """Only this session did not come back: the process may serve others."""
        if self.slot.alone:
            await stop(self.ledger, self.slot)
        else:
            self.exited(Exit(None, None, 0, 0))

    def _complain(self, code: str, words: str) -> None:
        self.slot.connection.on_problem(self.ledger.record.session_id, Refusal(code, words))

    def _logged(self, committed: "asyncio.Future[None]") -> None:
        """Applies the driver's new state: to the shared process, the timers and the service calls."""
        connection = self.slot.connection
        if self._acp.greeting is not None:
            connection.greeted(self._acp.greeting)
        elif self._acp.refused:
            connection.give_up(self._acp.refused)
        if self._acp.has_left:
            self._has_left.set()
        if self.ledger.live:
            self._serving.begin(self._acp.calls_due(), committed)
        self._silence.look()

    def _served(self, call: HostCall, result: object, error: str) -> None:
        writes = self._acp.answer_call(call.call_id, result, error)
        if writes and self.ledger.live:
            self.log([], writes=writes)

    # Silence

    def _works_alone(self) -> bool:
        running = self.ledger.record.phase in (Phase.RUNNING, Phase.INTERRUPTED)
        return running and self._acp.works_alone and not self.ledger.open_requests()

    def _ask_whether_it_lives(self) -> None:
        self.log([], writes=[self._acp.probe(f"probe:{new_id()}")])

    def _hangs(self) -> None:
        self.slot.connection.give_up(f"it said nothing for {self._seconds:g} s and did not answer")

    # The end

    def _farewell(self) -> list[Write]:
        """To an agent that goes on for others. The last one out closes its stdin instead."""
        self.slot.leaving = True
        return [] if self.slot.alone else self._acp.leave(f"leave:{new_id()}")

    async def _end_process(self, committed: "asyncio.Future[None]") -> None:
        await asyncio.wait([committed], timeout=STORE_SECONDS)
        if not self.slot.alone:
            try:
                async with asyncio.timeout(LEAVE_SECONDS):
                    await self._has_left.wait()
            except TimeoutError:
                pass  # it had its time; the session is over here all the same
        if self.slot.alone:  # the others may have gone meanwhile
            await stop(self.ledger, self.slot)
        elif self.slot.connection.exit is None:
            self.exited(Exit(None, None, 0, 0))

    def _last_words(self, exit: Exit) -> list[AnyEvent]:
        record, connection = self.ledger.record, self.slot.connection
        if record.phase in OVER:
            return [ended(record, exit, None)]
        how, greeting = connection.failure or how_it_went(exit), connection.greeting
        if (greeting is None or record.agent_session_id is None) and not exit.lost:
            words = COULD_NOT.format(title=connection.title, how=how)
            self._complain(AgentUnavailable.code, words)
            if not self.reviving.trying:
                return [SessionFailed(COULD_NOT_CONNECT, words, self.stderr_tail, exit.code, exit.signal)]
        able = greeting is not None and (greeting.loads or greeting.resumes)
        self.reviving.revival = Revival(connection.title, able)
        last = self.reviving.last_words(exit, how, self.stderr_tail, unheard=self._outbox.holds_answer)
        if self.reviving.lost is not None:
            connection.orphans.append(record.session_id)
        return last
