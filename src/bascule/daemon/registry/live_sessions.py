"""Registry of this machine's live sessions, and of the keeper that holds their processes."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bascule.daemon.processes.keeper_process import KeeperLink, KeeperProcess
from bascule.daemon.processes.shared_processes import SharedProcesses
from bascule.daemon.processes.unwritten_output import UnwrittenOutput
from bascule.daemon.registry.spending import SpendingBook
from bascule.daemon.registry.tape_archive import TapeArchive
from bascule.drivers.base import Driver
from bascule.drivers.terminal import TerminalDriver
from bascule.model.errors import HostError
from bascule.model.events import SessionFailed
from bascule.model.faults import report
from bascule.model.lifecycle import LIVE, Phase
from bascule.model.records import SessionRecord
from bascule.model.settings import AcpSettings, Limits, TerminalSettings
from bascule.policy.decide import Ruling, by_mode
from bascule.policy.spending_caps import Spending
from bascule.session.agent import AgentProcess, Exit, SpawnPlan
from bascule.session.guarding import of_session_alone
from bascule.session.ledger import Ledger
from bascule.session.live import Hears, LiveSession
from bascule.session.reviving import Revival
from bascule.session.serving import Services
from bascule.session.shared import SharedSupervisor
from bascule.session.shared_process import SharedProcess
from bascule.session.supervisor import Supervisor
from bascule.session.terminal import TerminalSupervisor
from bascule.store.base import ResumePoint
from bascule.store.limits import LimitsBook
from bascule.transport.errors import KeeperError, KeeperGone, KeeperNotStarted
from bascule.transport.keeper import KeeperConnection, ensure_keeper
from bascule.transport.keeper_messages import ExitNotice, Notice, OutputNotice, SessionState
from bascule.transport.spool import SpoolReader
from bascule.transport.times import times_file

if TYPE_CHECKING:
    from bascule.drivers.acp.driver import AcpDriver

log = logging.getLogger(__name__)

RELEASE_SECONDS = 5.0
RECONNECT_SECONDS = (0.0, 0.5, 1.0, 2.0, 5.0)


def kept_name(session_id: str, started_seq: int) -> str:
    """The keeper's name of one run of a session's agent. A resumed session is a new run."""
    return f"{session_id}-{started_seq}"


def process_name(record: SessionRecord) -> str:
    """The keeper's name of this run's process."""
    return record.process or kept_name(record.session_id, record.started_seq)


class LiveSessions:
    def __init__(
        self,
        keeper_folder: Path,
        limits: LimitsBook,
        terminal: TerminalSettings,
        acp: AcpSettings,
        archive: TapeArchive,
        trusts: Callable[[str], bool],
        clock: Callable[[], float],
        steady: Callable[[], float],
        ruling: Ruling = by_mode,
    ) -> None:
        self.live: dict[str, LiveSession] = {}
        self.archive = archive
        self._limits = limits
        limits.watch(self._set_limits)
        self._terminal = terminal
        self._acp = acp
        self._trusts = trusts
        self._clock = clock
        self._steady = steady
        self._ruling = ruling
        self.keeper = KeeperLink(keeper_folder)
        self.connections = SharedProcesses(self.keeper, acp)
        self.by_kept_name: dict[str, Hears] = {}
        self.unwritten = UnwrittenOutput()
        self.on_run: Callable[[Supervisor], None] = lambda _: (
            None
        )  # one with its own process began or is over
        self.spending: SpendingBook | None = None  # what all of them spent
        self._found: set[str] = set()  # processes that ran when the keeper was reached
        self._runs: dict[LiveSession, asyncio.Task[None]] = {}
        self._watching: asyncio.Task[None] | None = None

    async def open(self) -> dict[str, SessionState]:
        """Reach the keeper, started if need be, and learn what it holds."""
        await ensure_keeper(self.keeper.folder)
        self.keeper.connection = await KeeperConnection.connect(self.keeper.folder)
        kept = {one.session: one for one in await self.keeper.connection.list()}
        self._found = {name for name, state in kept.items() if state.exit is None}
        return kept

    async def watch(self) -> None:
        """From now on output and exits reach their sessions, the present state first."""
        await self.keeper.get().watch(self._notice)
        self._watching = asyncio.create_task(self._keep_watching(), name="keeper watch")

    async def close(self) -> None:
        """Let go of everything. The agents go on."""
        tasks = [*self._runs.values(), *([self._watching] if self._watching else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.keeper.connection is not None:
            await self.keeper.connection.aclose()

    def add(
        self, ledger: Ledger, driver: Driver, point: ResumePoint, revival: Revival
    ) -> tuple[Supervisor, KeeperProcess]:
        """Make a session live: from here on it answers commands and gets its notices."""
        record = ledger.record
        process = KeeperProcess(self.keeper, process_name(record))
        supervisor = Supervisor(
            ledger,
            process,
            driver,
            point,
            self.limits,
            self._clock,
            self._steady,
            self._ruling,
            revival,
            self._spent,
        )
        self._enter(supervisor, process)
        return supervisor, process

    def add_shared(
        self, ledger: Ledger, driver: "AcpDriver", point: ResumePoint, at: SharedProcess, services: Services
    ) -> SharedSupervisor:
        """As `add`, on a process that others may use as well."""
        record = ledger.record
        leaving = record.phase is Phase.ENDING
        # Not further than its driver's state: until that is stored again, nobody may trim what follows it.
        slot = at.add(record.session_id, point.state_offset, point.err_offset, leaving=leaving)
        supervisor = SharedSupervisor(
            ledger,
            slot,
            driver,
            point,
            self.limits,
            self._clock,
            self._steady,
            self._ruling,
            spending=self._spent,
            acp=self._acp,
            services=services,
        )
        self.live[record.session_id] = supervisor
        self.by_kept_name[at.name] = at
        return supervisor

    def add_terminal(
        self, ledger: Ledger, driver: TerminalDriver, point: ResumePoint, base: int
    ) -> tuple[TerminalSupervisor, KeeperProcess]:
        """As `add`, of a terminal whose tape begins at `base`."""
        record = ledger.record
        name, kept_as = process_name(record), kept_name(record.session_id, record.started_seq)
        # Its input has no end a program waits for, so nothing is gained by waiting before the signals.
        process = KeeperProcess(self.keeper, name, grace_stdin=0.0)
        supervisor = TerminalSupervisor(
            ledger,
            process,
            driver,
            point,
            self._terminal,
            self._clock,
            self._steady,
            archive=lambda start, end: self._archive(name, kept_as, start, end),
            trusts=self._trusts,
            base=base,
        )
        self._enter(supervisor, process)
        return supervisor, process

    def terminal(self, session_id: str) -> TerminalSupervisor | None:
        found = self.live.get(session_id)
        return found if isinstance(found, TerminalSupervisor) else None

    def spool(self, name: str) -> SpoolReader:
        """Reads a live terminal's output. Each viewer has a reader of its own."""
        return SpoolReader(self.keeper.folder, name, "out")

    def times(self, name: str) -> Path:
        """The keeper's note of when a live terminal wrote what."""
        return times_file(self.keeper.folder, name)

    def _enter(self, supervisor: LiveSession, process: KeeperProcess) -> None:
        self.live[supervisor.ledger.record.session_id] = supervisor
        self.by_kept_name[process.name] = supervisor

    async def _archive(self, name: str, kept_as: str, start: int, end: int) -> None:
        await asyncio.to_thread(self.archive.put, kept_as, start, end, self.spool(name), self.times(name))

    def run(self, supervisor: LiveSession, process: AgentProcess, plan: SpawnPlan | None) -> None:
        task = asyncio.create_task(
            self._run(supervisor, process, plan), name=f"session {supervisor.ledger.record.session_id}"
        )
        self._runs[supervisor] = task
        task.add_done_callback(lambda _: self._runs.pop(supervisor, None))
        self._tell_run(supervisor)

    def _spent(self, record: SessionRecord) -> Spending:
        return self.spending.of(record) if self.spending is not None else of_session_alone(record)

    @property
    def limits(self) -> Limits:
        """As they are now."""
        return self._limits.now

    def _set_limits(self, limits: Limits) -> None:
        for one in list(self.live.values()):
            if isinstance(one, Supervisor):
                one.set_limits(limits)

    def taken_up(self) -> list[str]:
        """Titles of the sessions whose processes ran when we came; where there is none, the agent."""
        records = [one.ledger.record for one in self.live.values()]
        still = [
            record
            for record in records
            if process_name(record) in self._found and record.phase is not Phase.ENDING
        ]
        return [one.title or one.agent for one in still]

    def working(self) -> list[SessionRecord]:
        """The sessions whose agents have something to do. Idle ones and terminals do not count."""
        agents = [one.ledger.record for one in self.live.values() if isinstance(one, Supervisor)]
        return [
            agent
            for agent in agents
            if agent.phase in LIVE and (agent.phase is not Phase.WAITING or agent.queued)
        ]

    async def wait_released(self, session_id: str) -> None:
        """Wait until an ended run has released its name. A live one is not waited for."""
        supervisor = self.live.get(session_id)
        if supervisor is None or supervisor.ledger.record.phase in LIVE or supervisor not in self._runs:
            return
        await asyncio.wait([self._runs[supervisor]], timeout=RELEASE_SECONDS)

    async def wait_ended(self, session_id: str, seconds: float) -> None:
        """Wait up to `seconds` for an ending session to finish."""
        run = self._runs.get(supervisor) if (supervisor := self.live.get(session_id)) is not None else None
        if run is not None:
            await asyncio.wait([run], timeout=seconds)

    async def discard(self, state: SessionState) -> None:
        """End and forget what the keeper holds of a session that is over."""
        connection = self.keeper.get()
        try:
            if state.exit is None:
                await connection.end(state.session)
            else:
                await connection.forget(state.session)
        except (KeeperError, KeeperGone) as error:
            log.warning("could not discard %s: %s", state.session, error)

    async def _run(self, supervisor: LiveSession, process: AgentProcess, plan: SpawnPlan | None) -> None:
        """One session's failure is an event of that session, never its siblings' trouble."""
        record = supervisor.ledger.record
        try:
            await supervisor.run(plan)
        except Exception as error:  # noqa: BLE001 - answered with an id, and nothing of the inside
            refusal = report(log, f"session {record.session_id}", error)
            supervisor.ledger.log([SessionFailed("internal", refusal.message)], sync=True)
            await self._stop(process)
        finally:
            self.drop(supervisor)
            self._tell_run(supervisor)

    def drop(self, supervisor: LiveSession) -> None:
        """Its run is over, or never began: commands and notices do not reach it any more."""
        self.live.pop(supervisor.ledger.record.session_id, None)
        for name in [one for one, who in self.by_kept_name.items() if who is supervisor]:
            del self.by_kept_name[name]
            self.unwritten.forget(name)

    def _tell_run(self, supervisor: LiveSession) -> None:
        if isinstance(supervisor, Supervisor) and not isinstance(supervisor, SharedSupervisor):
            self.on_run(supervisor)

    async def _stop(self, process: AgentProcess) -> None:
        try:
            await process.end()
            await process.forget()
        except HostError as error:
            log.warning("%s", error.message)

    def _notice(self, notice: Notice) -> None:
        supervisor = self.by_kept_name.get(notice.session)
        match notice:
            case OutputNotice():
                if supervisor is not None:
                    supervisor.output(notice.out, notice.err)
            case ExitNotice():
                if supervisor is not None:
                    supervisor.exited(Exit(notice.code, notice.signal, notice.out, notice.err, notice.lost))
            case _:
                log.warning("the spool of %s: %s", notice.session, notice.error or "written again")
                if supervisor is not None:
                    self.unwritten.hear(notice)

    async def _keep_watching(self) -> None:
        """When the keeper dies its agents die with it: find that out, say so, and have a keeper again."""
        while True:
            await self.keeper.get().wait_closed()
            self.keeper.connection = None
            log.error("the keeper went away")
            await self._reach_again()

    async def _reach_again(self) -> None:
        for pause in RECONNECT_SECONDS:
            await asyncio.sleep(pause)
            try:
                kept = await self.open()
                for name, supervisor in list(self.by_kept_name.items()):
                    self._after_keeper_loss(name, supervisor, kept)
                self.unwritten.clear()
                await self.keeper.get().watch(self._notice)
            except (KeeperGone, KeeperError, KeeperNotStarted) as error:
                log.error("the keeper can't be reached: %s", error)
            else:
                return
        raise KeeperNotStarted("The keeper can't be started again; restart Bascule.")

    def _after_keeper_loss(self, name: str, supervisor: Hears, kept: dict[str, SessionState]) -> None:
        state = kept.get(name)
        if state is None:
            supervisor.exited(Exit(None, None, 0, 0, lost=True))
        elif state.exit is not None:
            exit = state.exit
            supervisor.exited(Exit(exit.code, exit.signal, state.out_end, state.err_end, exit.lost))
        else:
            supervisor.output()
