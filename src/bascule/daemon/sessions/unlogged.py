"""Unlogged processes: they run, but the database that held their log was replaced or damaged.

They are kept and offered. A person takes one up (its log begins again from the spool) or ends it (what is
kept of its output is put aside, not deleted).
"""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

from bascule.daemon.handlers import Handlers, widens_nothing
from bascule.daemon.registry.labels import Label, decode_label
from bascule.daemon.registry.live_sessions import LiveSessions
from bascule.daemon.sessions.taking_up import TakingUp
from bascule.link.unlogged import (
    EndProcess,
    ListUnlogged,
    PutAside,
    TakenUp,
    TakeUpProcess,
    UnloggedList,
    UnloggedProcess,
)
from bascule.model.codec import timestamp
from bascule.model.commands import Actor, Envelope
from bascule.model.errors import AgentFailed, CallerError
from bascule.session.agent import Exit
from bascule.store.base import AuditRecord
from bascule.store.protocols import DaemonStore
from bascule.transport.errors import KeeperError, KeeperGone
from bascule.transport.keeper_messages import About, SessionState
from bascule.transport.position import Position
from bascule.transport.spool import put_aside

log = logging.getLogger(__name__)

END_SECONDS = 30.0
ASIDE = "unlogged"
NO_LOG = "It runs, but the log holds no session for it."
NO_LOG_ENDED = "It has ended, but the log holds no session for it."
DAMAGED = "The log of its session is damaged: {what}"


class ProcessNotFound(CallerError):
    code = "PROCESS_NOT_FOUND"


class _Ending:
    """Receives the keeper's notices of one process that is being ended."""

    def __init__(self, sessions: LiveSessions, name: str) -> None:
        self._sessions = sessions
        self._name = name
        self.over = asyncio.Event()

    def output(self, end: int | None = None, err_end: int | None = None) -> None:
        """Nothing may hold it up on its way out; nothing of it is let go either."""
        connection = self._sessions.keeper.connection
        if connection is not None:
            connection.post_position(self._name, Position(end or 0, err_end or 0, 0, 0))

    def exited(self, exit: Exit) -> None:
        self.over.set()


class Unlogged:
    """`belongs` returns programs that an agent started to their session, once it is live."""

    def __init__(
        self,
        store: DaemonStore,
        sessions: LiveSessions,
        taking_up: TakingUp,
        data: Path,
        belongs: Callable[[str, set[str]], bool],
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._taking_up = taking_up
        self._aside = data / ASIDE
        self._belongs = belongs
        self._names: set[str] = set()
        self._turn = asyncio.Lock()

    def keep(self, names: set[str]) -> None:
        """From a start: what the keeper holds and no session owns."""
        self._names = set(names)
        for name in sorted(names):
            log.warning("the keeper holds %s, which is not in the log: it is kept and offered", name)

    def register(self, handlers: Handlers) -> None:
        handlers.add(ListUnlogged, self._list, reads=True)
        handlers.add(TakeUpProcess, self._take_up_named, alone=True, widens=widens_nothing)
        handlers.add(EndProcess, self._end_named, widens=widens_nothing)

    async def _list(self, envelope: Envelope[ListUnlogged]) -> UnloggedList:
        return UnloggedList(tuple([await self._described(state) for state in (await self._held()).values()]))

    async def _take_up_named(self, envelope: Envelope[TakeUpProcess]) -> TakenUp:
        async with self._turn:
            return TakenUp(tuple(await self._take_up(envelope.command.name, envelope.by)))

    async def _end_named(self, envelope: Envelope[EndProcess]) -> PutAside:
        async with self._turn:
            return PutAside(str(await self._end(envelope.command.name, envelope.by)))

    async def end_all(self) -> int:
        """The panic button for unlogged processes. The next listing moves their output aside."""
        held = await self._held()
        for name in held:
            await self._tell_to_end(name)
        return len(held)

    async def _held(self) -> dict[str, SessionState]:
        """Those of ours that are still there, as the keeper tells now."""
        if not self._names:
            return {}
        try:
            states = {one.session: one for one in await self._sessions.keeper.get().list()}
        except (KeeperError, KeeperGone) as error:
            raise AgentFailed(f"The keeper does not answer: {error}") from error
        self._names &= set(states)
        return {name: states[name] for name in sorted(self._names)}

    async def _about(self, name: str) -> tuple[About, Label]:
        about = await self._sessions.keeper.get().about(name)
        return about, decode_label(about.label)

    async def _described(self, state: SessionState) -> UnloggedProcess:
        about, label = await self._about(state.session)
        first = next(iter(label.sessions.values()), None)
        sessions = tuple(label.sessions) or (state.session.rpartition("-")[0],)
        damage = next((self._store.damaged_sessions.get(session) for session in sessions), None)
        what = DAMAGED.format(what=damage) if damage else NO_LOG if state.exit is None else NO_LOG_ENDED
        problem = self._taking_up.problem(label)
        return UnloggedProcess(
            name=state.session,
            running=state.exit is None,
            pid=state.pid,
            argv=about.argv,
            cwd=about.cwd,
            started_at=timestamp(about.at) if about.at else "",
            kept_bytes=state.out_end - state.out_base + state.err_end - state.err_base,
            session_ids=tuple(label.sessions),
            agent=first.started.agent if first else "",
            title=first.title if first else "",
            can_take_up=not problem,
            problem=f"{what} {problem}".strip(),
        )

    async def _find(self, name: str) -> SessionState:
        state = (await self._held()).get(name)
        if state is None:
            raise ProcessNotFound(f"No process {name[:80]!r} runs without a log here. List them again.")
        return state

    async def _take_up(self, name: str, by: Actor) -> list[str]:
        state = await self._find(name)
        about, label = await self._about(name)
        made = await self._taking_up.take_up(state, about, label, by)
        self._names.discard(name)
        for beside in [one for one in self._names if one.partition(".")[0] in made]:
            if self._belongs(beside, set(self._sessions.live)):
                self._names.discard(beside)
        return made

    async def _end(self, name: str, by: Actor) -> Path:
        state = await self._find(name)
        detail = f"ended {name}, which was not in the log"
        await self._store.audit([AuditRecord.of(by, "session_ended", detail=detail)])
        if state.exit is None:
            await self._await_end(state)
        folder = await asyncio.to_thread(
            put_aside, self._sessions.keeper.folder, name, self._aside / f"{name}.{int(time.time())}"
        )
        try:
            await self._sessions.keeper.get().forget(name)
        except (KeeperError, KeeperGone) as error:
            raise AgentFailed(f"It has ended; the keeper does not let go of it: {error}") from error
        self._names.discard(name)
        return folder

    async def _await_end(self, state: SessionState) -> None:
        ending = _Ending(self._sessions, state.session)
        self._sessions.by_kept_name[state.session] = ending
        try:
            ending.output(state.out_end, state.err_end)
            await self._tell_to_end(state.session)
            async with asyncio.timeout(END_SECONDS):
                await ending.over.wait()
        except TimeoutError:
            raise AgentFailed(f"It did not end within {END_SECONDS:.0f} s; try again.") from None
        finally:
            del self._sessions.by_kept_name[state.session]

    async def _tell_to_end(self, name: str) -> None:
        try:
            await self._sessions.keeper.get().end(name)
        except (KeeperError, KeeperGone) as error:
            raise AgentFailed(f"It could not be ended: {error}") from error
