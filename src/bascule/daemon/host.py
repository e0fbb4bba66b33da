"""The daemon's end of the link: runs each command's handler, and tells all hubs what changes here."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from msgspec import Raw, Struct

from bascule import __version__
from bascule.daemon.asks.asks import WENT_AWAY, Asks
from bascule.daemon.asks.far_spawns import FarSpawns
from bascule.daemon.asks.host_line import HostLine
from bascule.daemon.asks.idempotency import IdempotencyKeys
from bascule.daemon.asks.owner_check import OwnerCheck
from bascule.daemon.device import Device
from bascule.daemon.found.places import Place
from bascule.daemon.handlers import Handler
from bascule.daemon.inputs import Inputs
from bascule.daemon.launching.launching import Launching
from bascule.daemon.own_logs import OwnLogs
from bascule.daemon.parts import Calls, build_parts
from bascule.daemon.reconnecting.reconnecting import PAUSES
from bascule.daemon.starts.start_gate import HERE, Does
from bascule.daemon.starts.start_notices import StartNotices, silent_notices
from bascule.link.frames import (
    REMEMBERS_ANSWERS,
    AgentsChanged,
    AnyFrame,
    Ask,
    DaemonConnected,
    DeviceState,
    DeviceStateChanged,
    Reply,
)
from bascule.model.codec import encode
from bascule.model.commands import Actor, Envelope, ResumeSession, SessionCommand, StartSession
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
        hub_may_widen: Callable[[], bool] | None = None,
    ) -> None:
        inputs = Inputs(
            OwnLogs(store, device.id),
            rules,
            comparisons,
            launcher,
            settings,
            device,
            limits or LimitsBook(Path(settings.data_dir), settings.limits),
            notices or silent_notices(settings.starts, device.name),
            histories,
            pauses,
            clock,
            steady,
        )
        self._link_name = store.link_name
        self._store = inputs.store
        self._launcher = launcher
        self._device = device
        self._clock = clock
        # Sessions that are not running have no supervisor to keep their commands in order; this does.
        self._one_at_a_time = asyncio.Lock()
        self._parts = parts = build_parts(inputs, self._calls(), self._one_at_a_time)
        self.sessions, self.tapes = parts.sessions.live, parts.tapes
        self._machine, self._gate, self._handlers = parts.machine, parts.gate, parts.handlers
        may_widen = hub_may_widen or (lambda: settings.starts.hub_may_widen is True)
        self._owner = OwnerCheck(parts.repeated, may_widen, device, parts.handlers)
        self._once = IdempotencyKeys(inputs.store, steady)
        self._far_spawns = FarSpawns(inputs.limits, steady)
        self._asks = Asks(self._answer, self._handlers.of, steady)
        self._boot = secrets.token_hex(8)
        self._attempts = 0
        self._lines: list[HostLine] = []
        self._sent_states: dict[HostLine, DeviceState] = {}
        self._look_at_service = starts_by_itself
        self._starts_by_itself: bool | None = None
        self._looks = False  # whether the state is about to be looked at
        self._stop_listening: list[Callable[[], None]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def _calls(self) -> Calls:
        starts = Does(
            self._run_admitted,
            self._run_approved,
            self._check_start,
            self._end_at_machine,
            self.look_at_state,
            lambda envelope: self._owner.why_not(envelope),
        )
        return Calls(self._check_storage, self._tell, self._go_on, starts)

    async def open(self) -> None:
        """Take up every session that was running when we were last here."""
        await self._parts.sessions.open(self._listen)
        await self._parts.found.open()

    def _listen(self) -> None:
        listeners = (*self._parts.sessions.listeners(), self._committed)
        self._stop_listening = [self._store.listen(listener) for listener in listeners]
        self._stop_listening.append(self._store.watch_storage(self.look_at_state))
        self.sessions.unwritten.on_change = self.look_at_state

    async def close(self) -> None:
        await self._asks.close()
        await self._gate.close()
        await self._parts.repeated.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for stop in self._stop_listening:
            stop()
        await self._parts.sessions.close()
        await self._parts.found.close()
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
            features=(REMEMBERS_ANSWERS,),
            boot=self._boot,
            attempt=self._attempts,
            store=self._link_name,
            state=self._state(line),
            clock=self._clock(),
        )
        self._sent_states[line] = hello.state
        line.send(hello)
        return line

    def _welcomed(self, line: HostLine) -> None:
        line.send(DeviceStateChanged(self._state(line)))
        self._do_later(self._tell_versions(line), "agent versions")
        if self._look_at_service is not None:
            self._do_later(self._tell_service(self._look_at_service), "service")

    def _left(self, line: HostLine) -> None:
        self._lines.remove(line)
        self._sent_states.pop(line, None)

    async def _tell_versions(self, line: HostLine) -> None:
        line.send(AgentsChanged(await self._machine.agents()))

    async def _tell_service(self, look: Callable[[], bool]) -> None:
        self._starts_by_itself = await asyncio.to_thread(look)
        self.look_at_state()

    def _tell(self, frame: AnyFrame) -> None:
        """News go to every hub."""
        for line in list(self._lines):
            line.send(frame)

    def _do_later(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # This machine's state

    def _state(self, line: HostLine) -> DeviceState:
        """The state of this device for one hub; a hub on another machine may do less than our own."""
        owner_only = self._owner.refuses(far=line.far)
        return DeviceState(
            paused=self._machine.paused,
            paused_by_owner=owner_only and self._machine.paused_here,
            storage_problem=self._store.storage_problem or self.sessions.unwritten.problem,
            roots=tuple(self._launcher.roots),
            levels=self._launcher.levels,
            running=sum(session.ledger.live for session in self.sessions.live.values()),
            starts=self._gate.state,
            starts_by_itself=self._starts_by_itself,
            owner_only=owner_only,
        )

    def _committed(self, committed: Committed) -> None:
        if committed.changed:
            self.look_at_state()

    def look_at_state(self) -> None:
        """Soon, and once for all that happens until then."""
        if not self._looks and self._lines:
            self._looks = True
            asyncio.get_running_loop().call_soon(self._tell_state)

    def _tell_state(self) -> None:
        self._looks = False
        for line in list(self._lines):
            state = self._state(line)
            if state != self._sent_states.get(line):
                self._sent_states[line] = state
                line.send(DeviceStateChanged(state))

    # Commands

    async def _answer(self, ask: Ask) -> Reply:
        try:
            result = await self._do(Envelope(ask.command, ask.by, ask.key))
            seq = await self._reached(ask)
        except BasculeError as error:
            return Reply(ask.ask, refusal=error.refusal())
        except asyncio.CancelledError:
            # We are closing, and a caller that waits must not hold that up; or it is the caller who left.
            return Reply(ask.ask, refusal=DeviceOffline(WENT_AWAY).refusal())
        except Exception as error:  # noqa: BLE001 - answered with an id, and nothing of the inside
            return Reply(ask.ask, refusal=report(log, type(ask.command).__name__, error))
        finally:
            self.look_at_state()
        return Reply(ask.ask, Raw(result), seq=seq)

    async def _reached(self, ask: Ask) -> int:
        """How far the log reaches after a command of a hub elsewhere, which shows its copy of the log."""
        command = ask.command
        if not ask.by.via or not isinstance(command, SessionCommand) or self._handlers.of(command).reads:
            return 0
        record = await self._store.session(command.session_id)
        return 0 if record is None else record.seq

    async def _do(self, envelope: Envelope[Any]) -> bytes:
        """The encoded answer of the command's handler, once its conditions are met."""
        handler = self._handlers.of(envelope.command)
        if handler.stores:
            self._check_storage()
        if handler.reads:
            return encode(await self._run(envelope))
        return await self._once.do(envelope, self._run, stored=handler.once, kept=not handler.begins)

    async def _run(self, envelope: Envelope[Any]) -> Struct:
        handler = self._handlers.of(envelope.command)
        if not handler.alone:
            return await self._begin(handler, envelope)
        async with self._one_at_a_time:
            return await self._begin(handler, envelope)

    async def _begin(self, handler: Handler, envelope: Envelope[Any]) -> Struct:
        if not handler.begins:
            # Here and not before: what a command widens may change while its key is looked up.
            await self._owner.check(envelope)
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
        """The owner is not asked to approve what the daemon would refuse."""
        starter = self._parts.sessions.starter
        match envelope.command:
            case StartSession():
                await starter.check_all((envelope,))
            case ResumeSession(session_id=session_id):
                await starter.check_resume(session_id)
            case _:
                pass  # its handler says what is wrong with it

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
