"""The daemon's end of the link: runs each command's handler and sends the reply."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from msgspec import Raw, Struct

from bascule import __version__
from bascule.daemon.adopting import Adopter
from bascule.daemon.device import Device
from bascule.daemon.files.git_panel import GitPanel
from bascule.daemon.files.panel import Panel, git_environment
from bascule.daemon.files.prompt_files import PromptFolders
from bascule.daemon.found.places import Place
from bascule.daemon.found.setup import found_sessions
from bascule.daemon.handlers import Handler, Handlers
from bascule.daemon.idempotency import IdempotencyKeys
from bascule.daemon.keep_awake import KeepAwake, awake_command
from bascule.daemon.launching import Launching
from bascule.daemon.live_sessions import LiveSessions
from bascule.daemon.machine import Machine
from bascule.daemon.processes.agent_services import AgentServices
from bascule.daemon.processes.agent_states import AgentStates
from bascule.daemon.processes.labels import Labels
from bascule.daemon.processes.reconnecting import PAUSES
from bascule.daemon.rules import Rules
from bascule.daemon.session_commands import SessionCommands
from bascule.daemon.starting import Starter
from bascule.daemon.taking_up import TakingUp
from bascule.daemon.tape_archive import TapeArchive
from bascule.daemon.tapes import LocalTapes
from bascule.daemon.trusted import TrustedFolders
from bascule.daemon.unlogged import Unlogged
from bascule.daemon.worktrees.comparisons import Comparing
from bascule.link.frames import AgentsChanged, AnyFrame, Ask, DaemonConnected, Ping, Pong, Reply
from bascule.model.codec import encode
from bascule.model.commands import Actor, Envelope, ResumeSession
from bascule.model.errors import BasculeError, DeviceOffline, StorageFull
from bascule.model.faults import report
from bascule.model.settings import Settings
from bascule.store.base import EventStore
from bascule.store.comparisons import ComparisonBook
from bascule.store.limits import LimitsBook
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
        limits: LimitsBook | None = None,
    ) -> None:
        folder = Path(settings.data_dir)
        limits = limits or LimitsBook(folder, settings.limits)
        trusted = TrustedFolders(folder)
        own = (settings.data_dir, settings.config_dir)
        self._rules = Rules(rules, lambda: launcher.roots, own, clock)
        self.sessions = _live_sessions(settings, limits, trusted, self._rules, clock, steady)
        self.tapes = LocalTapes(self.sessions, self._check_storage)
        self._store = store
        self._launcher = launcher
        self._device = device
        self._clock = clock
        self._services = AgentServices(settings, self.sessions)
        self._starter = Starter(store, self.sessions, launcher, device, self._services, clock)
        self._adopter = Adopter(store, self.sessions, launcher, device, self._services, clock)
        taking_up = TakingUp(store, self.sessions, launcher, self._adopter, device, clock)
        self._unlogged = Unlogged(store, self.sessions, taking_up, folder, self._services.terminals.adopt)
        self._labels = Labels(self.sessions.keeper, self.sessions.live.get, self._adopter.started)
        self._awake = KeepAwake(awake_command() if settings.keep_awake else (), self.sessions.live.get)
        # Sessions that are not running have no supervisor to keep their commands in order; this does.
        self._one_at_a_time = lock = asyncio.Lock()
        self._states = AgentStates(
            store, self.sessions, self._starter, lock, device, settings, self._reply, clock, steady, pauses
        )
        comparing = Comparing(store, comparisons, self.sessions, self._starter, launcher, settings, clock)
        self._once = IdempotencyKeys(store)
        self._found = found_sessions(
            store, histories, settings, limits, device, lock, self._go_on, clock, steady
        )
        self._machine = Machine(
            store, self.sessions, launcher, self._states, self._unlogged, trusted, device, folder
        )
        panel = Panel(store, settings, lambda: launcher.roots)
        git_panel = GitPanel(store, panel.folder_of, panel.own, git_environment)
        commands = SessionCommands(
            store, self.sessions, launcher, self._starter, self._states, comparing, self._found, clock
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
        )
        for part in parts:
            part.register(self._handlers)
        self._send: Callable[[AnyFrame], None] | None = None
        self._stop_labels: Callable[[], None] = lambda: None
        self._stop_awake: Callable[[], None] = lambda: None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Take up every session that was running when we were last here."""
        kept = await self.sessions.open()
        self._stop_labels = self._store.listen(self._labels.committed)
        self._stop_awake = self._store.listen(self._awake.committed)
        self._unlogged.keep(await self._adopter.adopt_all(kept, self._services.terminals.adopt))
        self._awake.open([one.ledger.record for one in self.sessions.live.values()])
        await self.sessions.watch()
        await self._states.open()
        await self._found.open()

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._stop_awake()
        await self._awake.close()
        self._stop_labels()
        await self._labels.close()
        await self._states.close()
        await self._found.close()
        await self.sessions.close()

    def connect(self, send: Callable[[AnyFrame], None], epoch: int) -> None:
        """Say who we are on a new link; the agents' versions follow when they are known."""
        self._send = send
        agents = self._machine.agents_at_first_glance()
        send(DaemonConnected(self._device.id, self._device.name, __version__, epoch, agents))
        self._do_later(self._tell_versions(), "agent versions")

    async def _tell_versions(self) -> None:
        self._reply(AgentsChanged(await self._machine.agents()))

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
            result = await self._do(Envelope(frame.command, frame.by, frame.key))
        except BasculeError as error:
            self._reply(Reply(frame.ask, refusal=error.refusal()))
        except asyncio.CancelledError:  # we are closing: a caller that waits must not hold that up
            offline = DeviceOffline("The device went away before it answered.")
            self._reply(Reply(frame.ask, refusal=offline.refusal()))
            raise
        except Exception as error:  # noqa: BLE001 - answered with an id, and nothing of the inside
            self._reply(Reply(frame.ask, refusal=report(log, type(frame.command).__name__, error)))
        else:
            self._reply(Reply(frame.ask, Raw(result)))

    async def _do(self, envelope: Envelope[Any]) -> bytes:
        """The encoded answer of the command's handler, once its conditions are met."""
        handler = self._handlers.of(envelope.command)
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
        if handler.begins:
            self._machine.check_not_paused()
        return await handler.run(envelope)

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
