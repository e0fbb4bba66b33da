"""The daemon's end of the link: runs each command's handler, and tells all hubs what changes here."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from msgspec import Raw, Struct

from bascule import __version__
from bascule.daemon.adopting import Adopter
from bascule.daemon.asks import WENT_AWAY, Asks
from bascule.daemon.device import Device
from bascule.daemon.far_spawns import FarSpawns
from bascule.daemon.files.git_panel import GitPanel
from bascule.daemon.files.panel import Panel, git_environment
from bascule.daemon.files.prompt_files import PromptFolders
from bascule.daemon.found.places import Place
from bascule.daemon.found.setup import found_sessions
from bascule.daemon.handlers import Handler, Handlers
from bascule.daemon.host_line import HostLine
from bascule.daemon.idempotency import IdempotencyKeys
from bascule.daemon.keep_awake import KeepAwake, awake_command
from bascule.daemon.launching import Launching
from bascule.daemon.live_sessions import LiveSessions
from bascule.daemon.machine import Machine
from bascule.daemon.own_logs import OwnLogs, own_devices
from bascule.daemon.owner_check import OwnerCheck
from bascule.daemon.processes.agent_services import AgentServices
from bascule.daemon.processes.agent_states import AgentStates
from bascule.daemon.processes.labels import Labels
from bascule.daemon.processes.reconnecting import PAUSES
from bascule.daemon.rules import Rules
from bascule.daemon.session_commands import SessionCommands
from bascule.daemon.spending import SpendingBook
from bascule.daemon.start_gate import HERE, Does, StartGate
from bascule.daemon.start_memory import StartMemory
from bascule.daemon.start_notices import StartNotices, silent_notices
from bascule.daemon.starting import Starter
from bascule.daemon.taking_up import TakingUp
from bascule.daemon.tape_archive import TapeArchive
from bascule.daemon.tapes import LocalTapes
from bascule.daemon.trusted import TrustedFolders
from bascule.daemon.trusted_browsers import SignatureCheck
from bascule.daemon.unlogged import Unlogged
from bascule.daemon.worktrees.comparisons import Comparing
from bascule.link.frames import (
    AgentsChanged,
    AnyFrame,
    Ask,
    DaemonConnected,
    DeviceState,
    DeviceStateChanged,
    Reply,
)
from bascule.model.codec import encode
from bascule.model.commands import Actor, Envelope, ResumeSession, StartSession
from bascule.model.errors import BasculeError, DeviceOffline, StorageFull
from bascule.model.faults import report
from bascule.model.settings import Settings
from bascule.store.base import AuditRecord, Committed
from bascule.store.comparisons import ComparisonBook
from bascule.store.limits import LimitsBook
from bascule.store.protocols import DaemonStore
from bascule.store.rules import RuleBook

log = logging.getLogger(__name__)


class Host:
    """Serves any number of lines. Whatever their hubs ask for, this is the one place where it is decided."""

    def __init__(
        self,
        store: DaemonStore,
        rules: RuleBook,
        comparisons: ComparisonBook,
        launcher: Launching,
        settings: Settings,
        device: Device,
        clock: Callable[[], float],
        steady: Callable[[], float],
        histories: tuple[Place, ...] = (),
        pauses: tuple[float, ...] = PAUSES,
        limits: LimitsBook | None = None,
        notices: StartNotices | None = None,
        starts_by_itself: Callable[[], bool] | None = None,
    ) -> None:
        self._link_name = store.link_name
        store = OwnLogs(store, device.id)
        folder = Path(settings.data_dir)
        limits = limits or LimitsBook(folder, settings.limits)
        trusted = TrustedFolders(folder)
        own = (settings.data_dir, settings.config_dir)
        self._rules = Rules(rules, lambda: launcher.roots, own, clock, own_devices(device.id))
        self.sessions = _live_sessions(settings, limits, trusted, self._rules, clock, steady)
        self.tapes = LocalTapes(self.sessions, self._check_storage, settings.terminal, clock, steady)
        self._store = store
        self._launcher = launcher
        self._device = device
        self._clock = clock
        self._services = AgentServices(settings, self.sessions)
        self.sessions.spending = spending = SpendingBook(store, device.id, clock)
        self._spending = spending
        self._starter = Starter(store, self.sessions, launcher, device, self._services, clock)
        self._adopter = Adopter(store, self.sessions, launcher, self._services, clock)
        taking_up = TakingUp(store, self.sessions, launcher, self._adopter, device, clock)
        self._unlogged = Unlogged(store, self.sessions, taking_up, folder, self._services.terminals.adopt)
        self._labels = Labels(self.sessions.keeper, self.sessions.live.get, self._adopter.started)
        self._awake = KeepAwake(awake_command() if settings.keep_awake else (), self.sessions.live.get)
        # Sessions that are not running have no supervisor to keep their commands in order; this does.
        self._one_at_a_time = lock = asyncio.Lock()
        self._states = AgentStates(
            store, self.sessions, self._starter, lock, settings, self._tell, clock, steady, pauses
        )
        comparing = Comparing(store, comparisons, self.sessions, self._starter, launcher, settings, clock)
        self._once = IdempotencyKeys(store)
        self._found = found_sessions(
            store, histories, settings, limits, device, lock, self._go_on, clock, steady
        )
        self._machine = Machine(
            store, self.sessions, launcher, self._states, self._unlogged, trusted, device, settings, limits
        )
        panel = Panel(store, settings, lambda: launcher.roots)
        git_panel = GitPanel(store, panel.folder_of, panel.own, git_environment)
        self._gate = gate = self._start_gate(settings, device, notices, folder)
        commands = SessionCommands(
            store, self.sessions, launcher, self._starter, self._states, comparing, self._found, gate, clock
        )
        self._handlers = Handlers()
        parts = (
            self._machine,
            panel,
            git_panel,
            PromptFolders(settings, lambda: launcher.roots),
            self._rules,
            comparing,
            self._found,
            self._unlogged,
            self.tapes,
            commands,
            gate,
        )
        for part in parts:
            part.register(self._handlers)
        self._owner = OwnerCheck(store, settings.starts, device, self._handlers)
        self._far_spawns = FarSpawns(limits, steady)
        self._asks = Asks(self._answer, self._handlers.of, steady)
        self._boot = secrets.token_hex(8)
        self._attempts = 0
        self._lines: list[HostLine] = []
        self._told = DeviceState()
        self._look_at_service = starts_by_itself
        self._starts_by_itself: bool | None = None
        self._looks = False  # whether the state is about to be looked at
        self._stop_listening: list[Callable[[], None]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def _start_gate(
        self, settings: Settings, device: Device, notices: StartNotices | None, folder: Path
    ) -> StartGate:
        does = Does(
            self._run_admitted,
            self._run_approved,
            self._check_start,
            self._end_at_machine,
            self._look_at_state,
            lambda envelope: self._owner.why_not(envelope),
        )
        signatures = SignatureCheck(folder, device.id, device.name, self._clock)
        notices = notices or silent_notices(settings.starts, device.name)
        memory = StartMemory(folder)
        return StartGate(self._store, settings.starts, device, memory, signatures, notices, does, self._clock)

    async def open(self) -> None:
        """Take up every session that was running when we were last here."""
        kept = await self.sessions.open()
        await asyncio.to_thread(
            self._launcher.sweep, {name for name, one in kept.items() if one.exit is None}
        )
        self._stop_listening = [
            self._store.listen(self._labels.committed),
            self._store.listen(self._committed),
            self._store.listen(self._awake.committed),
            self._store.listen(self._spending.committed),
            self._store.watch_storage(self._look_at_state),
        ]
        await self._spending.open()
        self._unlogged.keep(await self._adopter.adopt_all(kept, self._services.terminals.adopt))
        self._awake.open([one.ledger.record for one in self.sessions.live.values()])
        await self.sessions.watch()
        await self._states.open()
        await self._found.open()

    async def close(self) -> None:
        await self._asks.close()
        await self._gate.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for stop in self._stop_listening:
            stop()
        await self._awake.close()
        await self._labels.close()
        await self._states.close()
        await self._found.close()
        await self.sessions.close()

    # Lines

    def attach(self, send: Callable[[AnyFrame], None], *, far: bool = False) -> HostLine:
        """Say who we are on a new line; the agents' versions follow once the hub has welcomed us.

        `far`: to a hub that is not part of this process, and may be somebody else's.
        """
        line = HostLine(send, self._asks, self._welcomed, self._left, self._clock, far=far)
        self._lines.append(line)
        self._attempts += 1
        hello = DaemonConnected(
            self._device.id,
            self._device.name,
            __version__,
            self._machine.agents_at_first_glance(),
            boot=self._boot,
            attempt=self._attempts,
            store=self._link_name,
            state=self._state(),
            clock=self._clock(),
        )
        self._told = hello.state
        line.send(hello)
        return line

    def _welcomed(self, line: HostLine) -> None:
        line.send(DeviceStateChanged(self._state()))
        self._do_later(self._tell_versions(line), "agent versions")
        if self._look_at_service is not None:
            self._do_later(self._tell_service(self._look_at_service), "service")

    def _left(self, line: HostLine) -> None:
        self._lines.remove(line)

    async def _tell_versions(self, line: HostLine) -> None:
        line.send(AgentsChanged(await self._machine.agents()))

    async def _tell_service(self, look: Callable[[], bool]) -> None:
        self._starts_by_itself = await asyncio.to_thread(look)
        self._look_at_state()

    def _tell(self, frame: AnyFrame) -> None:
        """News go to every hub."""
        for line in list(self._lines):
            line.send(frame)

    def _do_later(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # This machine's state

    def _state(self) -> DeviceState:
        return DeviceState(
            paused=self._machine.paused,
            storage_problem=self._store.storage_problem,
            roots=tuple(self._launcher.roots),
            levels=self._launcher.levels,
            running=sum(one.ledger.live for one in self.sessions.live.values()),
            starts=self._gate.state,
            starts_by_itself=self._starts_by_itself,
        )

    def _committed(self, committed: Committed) -> None:
        if committed.changed:
            self._look_at_state()

    def _look_at_state(self) -> None:
        """Soon, and once for all that happens until then."""
        if not self._looks and self._lines:
            self._looks = True
            asyncio.get_running_loop().call_soon(self._tell_state)

    def _tell_state(self) -> None:
        self._looks = False
        state = self._state()
        if state != self._told:
            self._told = state
            self._tell(DeviceStateChanged(state))

    # Commands

    async def _answer(self, ask: Ask) -> Reply:
        try:
            result = await self._do(Envelope(ask.command, ask.by, ask.key))
        except BasculeError as error:
            return Reply(ask.ask, refusal=error.refusal())
        except asyncio.CancelledError:
            # We are closing, and a caller that waits must not hold that up; or it is the caller who left.
            return Reply(ask.ask, refusal=DeviceOffline(WENT_AWAY).refusal())
        except Exception as error:  # noqa: BLE001 - answered with an id, and nothing of the inside
            return Reply(ask.ask, refusal=report(log, type(ask.command).__name__, error))
        finally:
            self._look_at_state()
        return Reply(ask.ask, Raw(result))

    async def _do(self, envelope: Envelope[Any]) -> bytes:
        """The encoded answer of the command's handler, once its conditions are met."""
        handler = self._handlers.of(envelope.command)
        if not handler.begins:  # the gate looks at those that begin an agent
            await self._owner.check(envelope)
        if handler.stores:
            self._check_storage()
        if handler.once:
            return await self._once.do(envelope, self._run)
        return encode(await self._run(envelope))

    async def _run(self, envelope: Envelope[Any]) -> Struct:
        handler = self._handlers.of(envelope.command)
        if not handler.alone:
            return await self._begin(handler, envelope)
        async with self._one_at_a_time:
            return await self._begin(handler, envelope)

    async def _begin(self, handler: Handler, envelope: Envelope[Any]) -> Struct:
        if not handler.begins:
            return await handler.run(envelope)
        self._machine.check_not_paused()
        return await self._gate.admit(envelope)

    async def _run_admitted(self, envelope: Envelope[Any]) -> Struct:
        if envelope.by.via:  # a hub elsewhere asks: what it says of its own limit does not count
            self._far_spawns.take(envelope.command)
        return await self._handlers.of(envelope.command).run(envelope)

    async def _run_approved(self, envelope: Envelope[Any]) -> Struct:
        """Long after it was asked for, so its conditions are looked at once more."""
        self._check_storage()
        self._machine.check_not_paused()
        if not self._handlers.of(envelope.command).alone:
            return await self._run_admitted(envelope)
        async with self._one_at_a_time:
            return await self._run_admitted(envelope)

    async def _check_start(self, envelope: Envelope[Any]) -> None:
        """Nobody is asked to approve what would be refused."""
        if isinstance(envelope.command, StartSession):
            await self._starter.check_all((envelope,))

    async def _end_at_machine(self, session_id: str) -> None:
        live = self.sessions.live.get(session_id)
        ending = live.end("user_terminated", HERE.name) if live is not None else None
        if ending is not None:
            await ending
            await self._store.audit(
                [AuditRecord.of(HERE, "session_ended", session_id, "by its notification")]
            )

    async def _go_on(self, session_id: str, by: Actor) -> None:
        """Continue a found session here, because a message is queued for it."""
        await self._do(Envelope(ResumeSession(session_id=session_id), by))

    def _check_storage(self) -> None:
        """Refuse at once what a full disk can't store."""
        problem = self._store.storage_problem
        if problem is not None:
            raise StorageFull(f"{problem} Nothing was changed; free some space and try again.")


def _live_sessions(
    settings: Settings,
    limits: LimitsBook,
    trusted: TrustedFolders,
    rules: Rules,
    clock: Callable[[], float],
    steady: Callable[[], float],
) -> LiveSessions:
    folder = Path(settings.data_dir)
    return LiveSessions(
        folder / "keeper",
        limits,
        settings.terminal,
        settings.acp,
        TapeArchive(folder / "tapes", settings.terminal.shelf_bytes, log.info),
        trusted.trusts,
        clock,
        steady,
        rules.verdict,
    )
