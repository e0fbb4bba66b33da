"""This machine's end of the link: commands in, replies out."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path

from msgspec import Raw
from msgspec.structs import replace

from bascule import __version__
from bascule.daemon.adopting import Adopter
from bascule.daemon.device import Device
from bascule.daemon.files.directories import check_directory
from bascule.daemon.files.panel import Panel
from bascule.daemon.found.opening import found_sessions
from bascule.daemon.found.places import Place
from bascule.daemon.found.sessions import NOT_HERE
from bascule.daemon.idempotency import IdempotencyKeys
from bascule.daemon.launching import Launching
from bascule.daemon.live_sessions import LiveSessions
from bascule.daemon.modes import checked_mode
from bascule.daemon.processes.agent_services import AgentServices
from bascule.daemon.processes.agent_states import AgentStates
from bascule.daemon.processes.labels import Labels
from bascule.daemon.processes.reconnecting import PAUSES
from bascule.daemon.rules import Rules
from bascule.daemon.starting import Starter, tidy_title
from bascule.daemon.taking_up import TakingUp
from bascule.daemon.tape_archive import TapeArchive
from bascule.daemon.tapes import LocalTapes
from bascule.daemon.trusted import TrustedFolders
from bascule.daemon.unlogged import Unlogged
from bascule.daemon.worktrees.comparisons import Comparing
from bascule.link.comparisons import (
    KeepContestant,
    ListComparisons,
    ReadComparison,
    ReadContestant,
    RemoveTrees,
    StartComparison,
)
from bascule.link.files import ListFiles, ListFolders, ReadChanges, ReadFile
from bascule.link.found import AwaitFeedback, FollowFound, ListFound, TakeFeedback
from bascule.link.frames import (
    AgentInfo,
    AgentsChanged,
    AnyFrame,
    Ask,
    CheckDirectory,
    DaemonConnected,
    DeviceCommand,
    EndAll,
    ListAgents,
    ListConversations,
    ListTrusted,
    PauseDevice,
    Ping,
    Pong,
    ReconnectAgent,
    Reply,
    TrustFolder,
)
from bascule.link.rules import AddRule, ListRules, ProposeRules, RemoveRule, TryRequest, TryRule
from bascule.link.unlogged import EndProcess, ListUnlogged, TakeUpProcess
from bascule.model.codec import encode
from bascule.model.commands import (
    Actor,
    AnswerPermission,
    AnswerQuestion,
    AnyCommand,
    ArchiveSession,
    EndSession,
    RenameSession,
    ResumeSession,
    SendPrompt,
    SetMode,
    StartSession,
)
from bascule.model.errors import (
    BasculeError,
    DeviceOffline,
    LimitReached,
    NotSupported,
    RequestWithdrawn,
    SessionNotFound,
    SessionOver,
    StorageFull,
    StoreDamaged,
)
from bascule.model.events import ArchivedChanged, TitleChanged
from bascule.model.faults import report
from bascule.model.settings import Settings
from bascule.session.answers import check_open
from bascule.session.commands import carry_out
from bascule.session.ending import STORE_SECONDS
from bascule.session.ledger import Ledger
from bascule.session.supervisor import Supervisor
from bascule.store.base import AuditRecord, EventStore
from bascule.store.comparisons import ComparisonBook
from bascule.store.rules import RuleBook

log = logging.getLogger(__name__)


class Host:
    def __init__(
        self,
        store: EventStore,
        rules: RuleBook,
        comparisons: ComparisonBook,
        launcher: Launching,
        settings: Settings,
        device: Device,
        clock: Callable[[], float],
        steady: Callable[[], float],
        histories: tuple[Place, ...] = (),
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        folder = Path(settings.data_dir)
        self._trusted = TrustedFolders(folder)
        own = (settings.data_dir, settings.config_dir)
        self._rules = Rules(rules, lambda: launcher.roots, own, clock)
        self.sessions = LiveSessions(
            folder / "keeper",
            settings.limits,
            settings.terminal,
            settings.acp,
            TapeArchive(folder / "tapes", settings.terminal.shelf_bytes, log.info),
            self._trusted.trusts,
            clock,
            steady,
            self._rules.verdict,
        )
        self.tapes = LocalTapes(self.sessions, self._check_storage)
        self._store = store
        self._launcher = launcher
        self._device = device
        self._clock = clock
        self._services = AgentServices(settings, self.sessions)
        self._starter = Starter(store, self.sessions, launcher, settings, device, self._services, clock)
        self._adopter = Adopter(store, self.sessions, launcher, device, self._services, clock)
        taking_up = TakingUp(store, self.sessions, launcher, self._adopter, device, clock)
        self._unlogged = Unlogged(store, self.sessions, taking_up, folder, self._services.terminals.adopt)
        self._labels = Labels(self.sessions.keeper, self.sessions.live.get, self._adopter.started)
        # Sessions that are not running have no supervisor to keep their commands in order; this does.
        self._one_at_a_time = asyncio.Lock()
        self._states = AgentStates(
            store,
            self.sessions,
            self._starter,
            self._one_at_a_time,
            device,
            settings,
            self._reply,
            clock,
            steady,
            pauses,
        )
        self._comparing = Comparing(
            store, comparisons, self.sessions, self._starter, launcher, settings, clock
        )
        self._once = IdempotencyKeys(store)
        self._panel = Panel(store, settings, lambda: launcher.roots)
        self._found = found_sessions(
            store, histories, settings, device, self._one_at_a_time, self._go_on, clock, steady
        )
        self._pause_mark = Path(settings.data_dir) / "paused"
        self._send: Callable[[AnyFrame], None] | None = None
        self._stop_labels: Callable[[], None] = lambda: None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Take up every session that was running when we were last here."""
        kept = await self.sessions.open()
        self._stop_labels = self._store.listen(self._labels.committed)
        self._unlogged.keep(await self._adopter.adopt_all(kept, self._services.terminals.adopt))
        await self.sessions.watch()
        await self._states.open()
        await self._found.open()

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._stop_labels()
        await self._labels.close()
        await self._states.close()
        await self._found.close()
        await self.sessions.close()

    def connect(self, send: Callable[[AnyFrame], None], epoch: int) -> None:
        """Say who we are on a new link; the agents' versions follow when they are known."""
        self._send = send
        agents = self._with_states(self._launcher.at_first_glance())
        send(DaemonConnected(self._device.id, self._device.name, __version__, epoch, agents))
        self._do_later(self._tell_versions(), "agent versions")

    async def _tell_versions(self) -> None:
        self._reply(AgentsChanged(self._with_states(await self._launcher.agents())))

    def _with_states(self, agents: tuple[AgentInfo, ...]) -> tuple[AgentInfo, ...]:
        return tuple(replace(one, status=self._states.state_of(one.name)) for one in agents)

    def _do_later(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def receive(self, frame: AnyFrame) -> None:
        match frame:
            case Ask():
                self._do_later(self._answer(frame), f"ask {frame.ask}")
            case Ping():
                self._reply(Pong(frame.n))
            case _:  # what only a hub with its own copy of the logs would say
                log.debug("ignored %s", type(frame).__name__)

    def _reply(self, frame: AnyFrame) -> None:
        if self._send is not None:
            self._send(frame)

    async def _answer(self, frame: Ask) -> None:
        try:
            result = await self._do(frame.command)
        except BasculeError as error:
            self._reply(Reply(frame.ask, refusal=error.refusal()))
        except asyncio.CancelledError:  # we are closing: whoever waits must not hold that up
            offline = DeviceOffline("The device went away before it answered.")
            self._reply(Reply(frame.ask, refusal=offline.refusal()))
            raise
        except Exception as error:  # noqa: BLE001 - told with an id, and nothing of the inside
            self._reply(Reply(frame.ask, refusal=report(log, type(frame.command).__name__, error)))
        else:
            self._reply(Reply(frame.ask, Raw(result)))

    async def _do(self, command: DeviceCommand) -> bytes:
        match command:
            case CheckDirectory():
                return encode({"path": self._checked(command.path)})
            case ListAgents():
                agents = await self._launcher.agents(refresh=command.refresh)
                return encode({"agents": self._with_states(agents)})
            case ListConversations():
                return encode(await self._states.conversations(command.agent))
            case ReconnectAgent():
                self._check_not_paused()
                status = await self._states.reconnect(command.agent, command.by, command.session_id)
                return encode({"status": status})
            case PauseDevice():
                return await self._pause(command)
            case EndAll():
                return await self._end_all(command)
            case ListFolders() | ListFiles() | ReadFile() | ReadChanges():
                return await self._panel.answer(command)
            case ListRules() | AddRule() | RemoveRule() | TryRule() | TryRequest() | ProposeRules():
                return await self._rules.answer(command)
            case StartComparison():
                self._check_not_paused()
                self._check_storage(command)
                async with self._one_at_a_time:
                    return await self._comparing.answer(command)
            case ListComparisons() | ReadComparison() | ReadContestant() | KeepContestant() | RemoveTrees():
                return await self._comparing.answer(command)
            case ListFound() | FollowFound() | AwaitFeedback():
                return await self._found.answer(command)
            case TakeFeedback():
                self._check_storage(command)
                return await self._found.answer(command)
            case ListUnlogged() | EndProcess():
                return await self._unlogged.answer(command)
            case TakeUpProcess():
                async with self._one_at_a_time:
                    return await self._unlogged.answer(command)
            case TrustFolder():
                return await self._trust(command)
            case ListTrusted():
                return encode({"folders": self._trusted.all()})
            case _:
                self._check_storage(command)
                return await self._once.do(command, self._carry_out)

    async def _carry_out(self, command: AnyCommand, body_sha256: str) -> bytes:
        match command:
            case StartSession() | ResumeSession() | RenameSession() | ArchiveSession():
                async with self._one_at_a_time:
                    return await self._begin_or_relabel(command, body_sha256)
            case EndSession():
                return await self._end(command, body_sha256)
            case _:
                match self.sessions.live.get(command.session_id):
                    case None if self._found.has(command.session_id):
                        return await self._found.carry_out(command, body_sha256)
                    case None:
                        return await self._at_rest(command, body_sha256)
                    case Supervisor() as supervisor:
                        if isinstance(command, SetMode):
                            command = checked_mode(self._launcher, supervisor, command)
                        return await carry_out(supervisor, command, self._store, body_sha256)
                    case _:
                        raise NotSupported("This session is a terminal: type into it.")

    async def _at_rest(self, command: AnyCommand, body_sha256: str) -> bytes:
        """Of a session without a process: a message waits for one that is being started again."""
        queued = await self._states.queue(command, body_sha256) if isinstance(command, SendPrompt) else None
        if queued is None and command.session_id in self.sessions.live:  # it came back meanwhile
            return await self._carry_out(command, body_sha256)
        return queued if queued is not None else await self._refuse_for_ended(command)

    async def _end(self, command: EndSession, body_sha256: str) -> bytes:
        match self.sessions.live.get(command.session_id):
            case None:
                return b"{}" if await self._states.end(command) else await self._refuse_for_ended(command)
            case Supervisor() as supervisor:
                return await carry_out(supervisor, command, self._store, body_sha256)
            case terminal:
                ending = terminal.end(command.reason, command.by.name)
                if ending is not None:
                    await ending
                return b"{}"

    async def _begin_or_relabel(
        self, command: StartSession | ResumeSession | RenameSession | ArchiveSession, body_sha256: str
    ) -> bytes:
        match command:
            case StartSession():
                self._check_not_paused()
                if command.worktree:
                    return await self._comparing.start_one(command, body_sha256)
                return await self._starter.start(command, body_sha256)
            case ResumeSession():
                self._check_not_paused()
                await self._check_exists(command.session_id)
                await self._found.release(command.session_id)
                resumed = await self._starter.resume(command)
                self._states.resumed(command.session_id)
                return resumed
            case RenameSession() | ArchiveSession():
                return await self._relabel(command)

    async def _go_on(self, session_id: str, by: Actor) -> None:
        """Continue a found session here, because somebody left a message for it."""
        command = ResumeSession(session_id=session_id, by=by)
        self._check_storage(command)
        async with self._one_at_a_time:
            await self._begin_or_relabel(command, "")

    async def _refuse_for_ended(self, command: AnyCommand) -> bytes:
        await self._check_exists(command.session_id)
        if isinstance(command, AnswerPermission | AnswerQuestion):
            kind = "permission" if isinstance(command, AnswerPermission) else "question"
            request = await self._store.request(command.session_id, command.request_id)
            check_open(request, command.request_id, kind, command.input_sha256)
            raise RequestWithdrawn(command.request_id, reason="ended")
        if self._found.has(command.session_id):
            raise SessionOver(NOT_HERE)
        raise SessionOver("This session has ended. Resume it to go on.")

    async def _relabel(self, command: RenameSession | ArchiveSession) -> bytes:
        ledger = await self._ledger(command.session_id)
        if isinstance(command, RenameSession):
            await ledger.log([TitleChanged(tidy_title(command.title), command.by.name)])
        else:
            await ledger.log([ArchivedChanged(command.archived, command.by.name)])
        return b"{}"

    async def _ledger(self, session_id: str) -> Ledger:
        supervisor = self.sessions.live.get(session_id)
        if supervisor is not None:
            return supervisor.ledger
        point = await self._store.resume_point(session_id)
        if point is None:
            raise SessionNotFound(session_id)
        return Ledger(self._store, point, self._clock)

    def _checked(self, folder: str) -> str:
        return check_directory(folder, self._launcher.roots, self._launcher.own)[0]

    async def _check_exists(self, session_id: str) -> None:
        damage = self._store.damaged_sessions.get(session_id)
        if damage is not None:
            raise StoreDamaged(damage, session_id=session_id)
        if await self._store.session(session_id) is None:
            raise SessionNotFound(session_id)

    def _check_storage(self, command: AnyCommand | StartComparison | TakeFeedback | None = None) -> None:
        """Refuse at once what a full disk can't store. Ending a session is never refused."""
        problem = self._store.storage_problem
        if problem is not None and not isinstance(command, EndSession):
            raise StorageFull(f"{problem} Nothing was changed; free some space and try again.")

    def _check_not_paused(self) -> None:
        if self._pause_mark.exists():
            raise LimitReached(
                f"{self._device.name} is paused and takes no new sessions. `bascule daemon resume` ends that."
            )

    async def _pause(self, command: PauseDevice) -> bytes:
        if command.paused:
            self._pause_mark.touch(mode=0o600)
        else:
            self._pause_mark.unlink(missing_ok=True)
        detail = "paused" if command.paused else "resumed"
        await self._store.audit([AuditRecord("mode", command.by, detail=detail)])
        return b"{}"

    async def _trust(self, command: TrustFolder) -> bytes:
        # A folder that is gone can still be taken off the list.
        path = self._checked(command.path) if command.trusted else command.path
        self._trusted.change(path, trusted=command.trusted)
        by, detail = command.by, f"{'trusted' if command.trusted else 'no longer trusts'} {path}"
        record = AuditRecord("rule", by.name, None, by.grant_id, by.address, by.user_agent, detail=detail)
        await self._store.audit([record])
        return encode({"path": path})

    async def _end_all(self, command: EndAll) -> bytes:
        """The panic button: everything is told to stop before anything is waited for."""
        endings = [live.end("killed", command.by) for live in list(self.sessions.live.values())]
        told = [ending for ending in endings if ending is not None]
        if told:  # the agents stop even when a full disk does not take the news
            await asyncio.wait(told, timeout=STORE_SECONDS)
        waiting = await self._states.end_all("killed", command.by)
        return encode({"ended": len(told) + waiting + await self._unlogged.end_all()})
