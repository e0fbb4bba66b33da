"""Rebuilds a session's log from its process: from the label and the output that the keeper holds."""

from collections.abc import Callable

from msgspec.structs import replace

from bascule.daemon.device import Device
from bascule.daemon.launching.driver_table import SHARED, TERMINAL
from bascule.daemon.launching.launching import Launching
from bascule.daemon.registry.labels import Label, Labelled
from bascule.daemon.registry.live_sessions import LiveSessions
from bascule.daemon.sessions.adopting import STRONG_MODES, Adopter
from bascule.model.commands import Actor
from bascule.model.errors import NotSupported, StoreDamaged
from bascule.model.events import AgentSpawned, AnyEvent, Note, SessionReady, TitleChanged
from bascule.model.session_ids import new_session_id
from bascule.session.agent import Exit
from bascule.session.ledger import Ledger
from bascule.store.base import AuditRecord
from bascule.store.protocols import DaemonStore
from bascule.transport.keeper_messages import About, SessionState

NOTE = (
    "This log began again here: the one of before is gone or can't be read. What the agent wrote is read "
    "from what was kept of its output; what people sent and answered before is not in it. A request that "
    "shows up as withdrawn may have been answered."
)
NO_LABEL = (
    "It was started by an earlier version of Bascule, which left no note of what it is, so it can only be "
    "ended. What it wrote is put aside."
)
NOT_READY = "Its agent was not ready yet when its log was lost, so nobody can tell its conversation. End it."


class TakingUp:
    def __init__(
        self,
        store: DaemonStore,
        sessions: LiveSessions,
        launcher: Launching,
        adopter: Adopter,
        device: Device,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._launcher = launcher
        self._adopter = adopter
        self._device = device
        self._clock = clock

    def problem(self, label: Label) -> str:
        """Why it can't be taken up; empty when it can."""
        if not label.sessions:
            return NO_LABEL
        shared = [session for session in label.sessions.values() if session.started.driver in SHARED]
        return NOT_READY if any(one.state is None for one in shared) else ""

    async def take_up(self, state: SessionState, about: About, label: Label, by: Actor) -> list[str]:
        """A log for each session on it; they go on from there. Gives their ids."""
        problem = self.problem(label)
        if problem:
            raise NotSupported(problem)
        made = [
            await self._begin(session_id, one, state, about, by) for session_id, one in label.sessions.items()
        ]
        heard = self._sessions.by_kept_name.get(state.session)
        if heard is not None and state.exit is not None:
            exit = state.exit
            heard.exited(Exit(exit.code, exit.signal, state.out_end, state.err_end, exit.lost))
        elif heard is not None:
            heard.output(state.out_end, state.err_end)
        return made

    async def _begin(self, wanted: str, one: Labelled, state: SessionState, about: About, by: Actor) -> str:
        session_id = wanted if await self._is_free(wanted) else new_session_id(self._clock())
        mode = "relay" if one.started.permission_mode in STRONG_MODES else one.started.permission_mode
        started = replace(one.started, device=self._device.id, process=state.session, permission_mode=mode)
        driver_state = self._state(one)
        facts: list[AnyEvent] = [started, AgentSpawned(state.pid or 0, about.argv[0] if about.argv else "")]
        if one.agent_session_id is not None:
            facts.append(SessionReady(one.agent_session_id, one.model))
        if one.title:
            facts.append(TitleChanged(one.title))
        facts.append(Note("taken_up", NOTE, "warning"))
        detail = f"{started.agent} in {started.cwd}, taken up from {state.session}"
        audit = AuditRecord.of(by, "session_started", session_id, detail)
        ledger = Ledger.new(self._store, session_id, self._clock, once=True)
        await ledger.log(
            facts,
            out_offset=max(one.out, state.out_base),
            err_offset=state.err_base,
            driver_state=driver_state,
            audit=[audit],
            sync=True,
        )
        await self._adopter.adopt(ledger.record, {state.session: state})
        return session_id

    def _state(self, one: Labelled) -> bytes:
        """Of the driver that reads on. What a fresh one would say first, its agent has received long ago."""
        if one.state is not None:
            return one.state
        if one.started.driver == TERMINAL:
            return self._launcher.terminal(one.started).state()
        driver = self._launcher.driver(one.started)
        driver.start()
        return driver.state()

    async def _is_free(self, session_id: str) -> bool:
        """Whether no log has this id, not even a damaged one."""
        try:
            known = await self._store.session(session_id) is not None
        except StoreDamaged:
            return False
        return not known and not await self._store.read(session_id, 0, 1)
