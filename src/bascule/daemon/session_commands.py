"""Handles commands for sessions: running, waiting for their agent, or ended."""

import dataclasses
import logging
from collections.abc import Callable
from typing import get_args

from msgspec.structs import replace

from bascule.daemon.found.sessions import NOT_HERE, FoundSessions
from bascule.daemon.handlers import Handlers
from bascule.daemon.launching.launching import Launching
from bascule.daemon.launching.modes import checked_mode
from bascule.daemon.reconnecting.agent_states import AgentStates
from bascule.daemon.registry.live_sessions import LiveSessions
from bascule.daemon.sessions.starting import Starter, tidy_title
from bascule.daemon.starts.start_gate import StartGate
from bascule.daemon.widening import SessionWidening
from bascule.daemon.worktrees.comparisons import Comparing
from bascule.model.commands import (
    Actor,
    AnswerPermission,
    AnswerQuestion,
    ArchiveSession,
    Done,
    EndSession,
    Envelope,
    KeepSession,
    LiveCommand,
    QueueChange,
    RenameSession,
    ResumeSession,
    SendPrompt,
    SessionBegun,
    SetMode,
    StartSession,
)
from bascule.model.errors import (
    AlreadyAnswered,
    NotSupported,
    RequestWithdrawn,
    SessionNotFound,
    SessionOver,
    StorageFailed,
    StoreDamaged,
)
from bascule.model.events import AnyEvent, ArchivedChanged, TitleChanged
from bascule.policy.answer_checks import check_open
from bascule.session.commands import carry_out, end
from bascule.session.ledger import Ledger
from bascule.session.repeated_answers import is_repeated
from bascule.session.supervisor import Supervisor
from bascule.session.terminal import TerminalSupervisor
from bascule.store.base import AuditRecord
from bascule.store.protocols import DaemonStore

log = logging.getLogger(__name__)


class SessionCommands:
    def __init__(
        self,
        store: DaemonStore,
        sessions: LiveSessions,
        launcher: Launching,
        starter: Starter,
        states: AgentStates,
        comparing: Comparing,
        found: FoundSessions,
        gate: StartGate,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._launcher = launcher
        self._starter = starter
        self._states = states
        self._comparing = comparing
        self._found = found
        self._gate = gate
        self._clock = clock

    def register(self, handlers: Handlers) -> None:
        widens = SessionWidening(self._sessions, self._launcher).of
        begins = {"stores": True, "once": True, "begins": True, "alone": True}
        handlers.add(StartSession, self._start, widens=widens, **begins)
        handlers.add(ResumeSession, self._resume, widens=widens, **begins)
        handlers.add(RenameSession, self._rename, stores=True, once=True, alone=True, widens=widens)
        handlers.add(ArchiveSession, self._archive, stores=True, once=True, alone=True, widens=widens)
        # Never refused, not even on a full disk.
        handlers.add(EndSession, self._end, once=True, widens=widens)
        for command in get_args(LiveCommand):
            handlers.add(command, self._reach, stores=True, once=True, widens=widens)

    async def _start(self, envelope: Envelope[StartSession]) -> SessionBegun:
        # Which folder's rules hold in a work tree is this machine's to say.
        envelope = dataclasses.replace(envelope, command=replace(envelope.command, worktree_of=None))
        if envelope.command.worktree:
            return await self._comparing.start_one(envelope)
        return await self._starter.start(envelope)

    async def _resume(self, envelope: Envelope[ResumeSession]) -> Done:
        session_id = envelope.command.session_id
        await self._check_exists(session_id)
        await self._found.release(session_id)
        await self._starter.resume(session_id, envelope.by)
        self._states.resumed(session_id)
        return Done()

    async def _rename(self, envelope: Envelope[RenameSession]) -> Done:
        renamed = TitleChanged(tidy_title(envelope.command.title), envelope.by.name)
        return await self._log(envelope.command.session_id, renamed)

    async def _archive(self, envelope: Envelope[ArchiveSession]) -> Done:
        changed = ArchivedChanged(envelope.command.archived, envelope.by.name)
        return await self._log(envelope.command.session_id, changed)

    async def _end(self, envelope: Envelope[EndSession]) -> Done:
        session_id, by = envelope.command.session_id, envelope.by.name
        match self._sessions.live.get(session_id):
            case None:
                if not await self._states.end(session_id, by):
                    raise await self._over(session_id)
            case Supervisor() as supervisor:
                await end(supervisor, by)
            case terminal:
                ending = terminal.end("closed", by)
                if ending is not None:
                    await ending
        await self._audit_end(envelope)
        return Done()

    async def _audit_end(self, envelope: Envelope[EndSession]) -> None:
        """Who asked for it. That its agent is gone is a record of its own."""
        try:
            await self._store.audit(
                [AuditRecord.of(envelope.by, "session_ended", envelope.command.session_id, "asked for")]
            )
        except StorageFailed as error:  # it ends all the same
            log.warning("who ended a session is not in the audit log: %s", error.message)

    async def _reach(self, envelope: Envelope[LiveCommand]) -> Done:
        """A session with a process; or what may be done in one without."""
        command = envelope.command
        live = self._sessions.live.get(command.session_id)
        if live is None and isinstance(command, SendPrompt | QueueChange):
            self._gate.check_at_rest(envelope.by)
        match live:
            case None if self._found.has(command.session_id):
                return await self._found.carry_out(envelope)
            case None:
                return await self._at_rest(envelope)
            case Supervisor() as supervisor:
                if isinstance(command, SetMode):
                    mode = checked_mode(self._launcher, supervisor, command.mode)
                    envelope = dataclasses.replace(envelope, command=replace(command, mode=mode))
                return await carry_out(supervisor, envelope, self._store)
            case TerminalSupervisor() as terminal if isinstance(command, KeepSession):
                await terminal.ledger.answer(terminal.keep(envelope.by.name))
                return Done()
            case _:
                raise NotSupported("This session is a terminal: type into it.")

    async def _at_rest(self, envelope: Envelope[LiveCommand]) -> Done:
        """Handles a command for a session without a process: queues a prompt, refuses others."""
        command = envelope.command
        queued = await self._states.queue(command, envelope) if isinstance(command, SendPrompt) else None
        if queued is not None:
            return queued
        if command.session_id in self._sessions.live:  # it came back meanwhile
            return await self._reach(envelope)
        if isinstance(command, AnswerPermission | AnswerQuestion):
            return await self._answer_at_rest(command, envelope.by)
        raise await self._over(command.session_id)

    async def _answer_at_rest(self, command: AnswerPermission | AnswerQuestion, by: Actor) -> Done:
        """Says what became of the request while its agent still ran. The same answer again is a success."""
        await self._check_exists(command.session_id)
        kind = "permission" if isinstance(command, AnswerPermission) else "question"
        request = await self._store.request(command.session_id, command.request_id)
        try:
            check_open(request, command.request_id, kind, command.input_sha256)
        except AlreadyAnswered:
            if await is_repeated(self._store, command, by, request):
                return Done()
            raise
        raise RequestWithdrawn(command.request_id, reason="ended")

    async def _over(self, session_id: str) -> SessionOver:
        """The refusal for a session that has ended. Raises `SessionNotFound` or `StoreDamaged`."""
        await self._check_exists(session_id)
        if self._found.has(session_id):
            return SessionOver(NOT_HERE)
        return SessionOver("This session has ended. Resume it to go on.")

    async def _check_exists(self, session_id: str) -> None:
        damage = self._store.damaged_sessions.get(session_id)
        if damage is not None:
            raise StoreDamaged(damage, session_id=session_id)
        if await self._store.session(session_id) is None:
            raise SessionNotFound(session_id)

    async def _log(self, session_id: str, event: AnyEvent) -> Done:
        live = self._sessions.live.get(session_id)
        if live is not None:
            await live.ledger.answer(live.ledger.log([event]))
            return Done()
        point = await self._store.resume_point(session_id)
        if point is None:
            raise SessionNotFound(session_id)
        await Ledger(self._store, point, self._clock, once=True).log([event])
        return Done()
