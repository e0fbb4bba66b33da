"""Publishes each agent's state, and has its sessions reconnected when its process is lost."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from bascule.daemon.launching.driver_table import SHARED
from bascule.daemon.reconnecting.lost_sessions import LostSessions, how
from bascule.daemon.reconnecting.reconnecting import PAUSES, Reconnecting
from bascule.daemon.registry.live_sessions import LiveSessions
from bascule.daemon.sessions.starting import Starter, is_lost, is_orphan
from bascule.link.frames import AgentProblem, AgentStatus
from bascule.link.machine import AgentState, Conversations
from bascule.model.commands import Actor
from bascule.model.errors import AgentFailed, NotSupported
from bascule.model.events import EndReason
from bascule.model.lifecycle import Phase
from bascule.model.records import SessionRecord
from bascule.model.settings import Settings
from bascule.session.shared import SharedSupervisor
from bascule.session.shared_process import SharedProcess
from bascule.session.supervisor import Supervisor, new_id
from bascule.store.protocols import DaemonStore

AFTER_RESTART_SECONDS = 600.0  # an agent that went away longer ago than this waits for a person
DOWN = frozenset({"disconnected", "reconnecting"})
BEFORE = "The agent went away before Bascule was restarted."
LONG_BEFORE = "The agent went away while Bascule was not running."


class AgentStates:
    def __init__(
        self,
        store: DaemonStore,
        sessions: LiveSessions,
        starter: Starter,
        lock: asyncio.Lock,
        settings: Settings,
        tell: Callable[[AgentStatus | AgentProblem], None],
        clock: Callable[[], float],
        steady: Callable[[], float],
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._tell = tell
        self._clock = clock
        self._sent: dict[str, AgentStatus] = {}
        self._agents: dict[str, str] = {}  # group -> its agent
        seconds = settings.acp.start_timeout_ms / 1000
        self._lost = LostSessions(store, sessions, starter, lock, clock, seconds, self._group_changed)
        self.queue = self._lost.queue
        self._ladder = Reconnecting(self._lost, steady, pauses)
        sessions.on_run = self._run
        sessions.connections.on_change = self._changed
        sessions.connections.on_left = self._left
        sessions.connections.on_problem = lambda session, refusal: tell(AgentProblem(session, refusal))

    async def open(self) -> None:
        """Go on with what was being taken up when we were last here."""
        for record in await self._orphans():
            if not is_lost(record) or record.session_id in self._sessions.live:
                continue
            await self._lost.weaken(record.session_id)
            age = self._clock() - datetime.fromisoformat(record.updated_at).timestamp()
            if age < AFTER_RESTART_SECONDS:
                done = max(0, record.attempt - 1)  # the one that was announced was not begun
                self._ladder.lost(self._group(record), [record.session_id], BEFORE, done)
            else:
                await self._lost.gave_up(record.session_id, LONG_BEFORE, "")

    async def close(self) -> None:
        await self._ladder.close()

    def state_of(self, agent: str) -> AgentState:
        """Of the process its sessions share; else of those that each have their own."""
        shared = self._ladder.state_of(agent, self._sessions.connections.state_of(agent))
        if shared != "idle":
            return shared
        phases = [supervisor.ledger.record.phase for supervisor in self._supervisors(agent)]
        if any(phase is not Phase.STARTING for phase in phases):
            return "connected"
        lost = {self._ladder.state_of(group, "idle") for group, of in self._agents.items() if of == agent}
        for state in ("reconnecting", "disconnected"):
            if state in lost:
                return state
        return "starting" if phases else "idle"

    async def reconnect(self, agent: str, by: Actor, session_id: str = "") -> AgentState:
        """A person wants it back now. Raises `AgentUnavailable` when it does not come."""
        orphans = [orphan for orphan in await self._orphans() if orphan.agent == agent]
        groups: dict[str, list[str]] = {agent: []}
        for record in orphans:
            # A person who asks for an agent means those that were lost just now, not each one that ever was.
            if (
                record.driver in SHARED
                or record.session_id == session_id
                or (is_lost(record) and not session_id)
            ):
                groups.setdefault(self._group(record), []).append(record.session_id)
        if session_id:
            groups = {group: ids for group, ids in groups.items() if session_id in ids}
        asked = [session for sessions in groups.values() for session in sessions]
        self._lost.asked.update(dict.fromkeys(asked, by))
        try:
            tries = (self._ladder.now(group, sessions) for group, sessions in groups.items())
            outcomes = await asyncio.gather(*tries, return_exceptions=True)
        finally:
            for session in asked:
                self._lost.asked.pop(session, None)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        return self.state_of(agent)

    def resumed(self, session_id: str) -> None:
        """A person brought a session back: those that were lost with it follow at once."""
        self._ladder.resumed(session_id)

    async def end(self, session_id: str, by: str) -> bool:
        """End a session that waits for its agent; False when it does not."""
        self._ladder.forget(session_id)
        return await self._lost.end(session_id, "closed", by)

    async def end_all(self, reason: EndReason, by: str) -> int:
        """Nothing that was stopped may come back by itself."""
        lost = [orphan.session_id for orphan in await self._orphans() if is_lost(orphan)]
        for session in lost:
            self._ladder.forget(session)
        return sum([await self._lost.end(session, reason, by) for session in lost])

    async def conversations(self, agent: str) -> Conversations:
        """The conversations that the agent lists, and which of them have a session here."""
        mine = [
            one for one in self._sessions.live.values() if isinstance(one, Supervisor) and one.ledger.live
        ]
        able = [one for one in mine if one.ledger.record.agent == agent and one.conversations.can_be_listed]
        if not able:
            message = "This agent does not run just now, or it lists no conversations. Start a session first."
            raise NotSupported(message, agent=agent)
        listing = await able[0].conversations.list(f"list:{new_id()}")
        if listing.problem:
            raise AgentFailed(f"The agent listed nothing: {listing.problem}", agent=agent)
        known = await self._store.conversations(agent)
        found = [
            replace(conversation, session=known.get((agent, conversation.id)))
            for conversation in listing.conversations
        ]
        return Conversations(conversations=tuple(found), more=listing.more)

    async def _orphans(self) -> list[SessionRecord]:
        records = await self._store.orphans()
        readable = [record for record in records if record.session_id not in self._store.damaged_sessions]
        found = [one for one in readable if is_orphan(one)]
        return sorted(found, key=lambda one: one.created_at)

    def _group(self, record: SessionRecord) -> str:
        group = record.agent if record.driver in SHARED else f"session {record.session_id}"
        self._agents[group] = record.agent
        return group

    def _supervisors(self, agent: str) -> list[Supervisor]:
        """The sessions of this agent that have a process of their own."""
        live = [one for one in self._sessions.live.values() if isinstance(one, Supervisor)]
        own = [one for one in live if not isinstance(one, SharedSupervisor) and one.ledger.live]
        return [one for one in own if one.ledger.record.agent == agent]

    def _left(self, connection: SharedProcess) -> None:
        """A shared process is over, and the last of its sessions has said so."""
        self._sessions.by_kept_name.pop(connection.name, None)
        if connection.orphans:
            if connection.exit is not None and not connection.exit.lost:
                self._lost.keeps_modes.update(connection.orphans)
            self._ladder.lost(connection.agent, list(connection.orphans), _stopped(connection))

    def _run(self, supervisor: Supervisor) -> None:
        """A session with a process of its own began to run, or is over."""
        record, lost = supervisor.ledger.record, supervisor.reviving.lost
        supervisor.reviving.on_outcome = lambda: self._changed(record.agent)
        if lost is not None and is_lost(record):
            if not lost.lost:
                self._lost.keeps_modes.add(record.session_id)
            group, why = self._group(record), record.end_message or ""
            self._ladder.lost(group, [record.session_id], why, record.attempt)
        self._changed(record.agent)

    def _why(self, agent: str) -> str:
        groups = [agent, *(group for group, of in self._agents.items() if of == agent)]
        known = next((self._ladder.messages[one] for one in groups if one in self._ladder.messages), "")
        dead = [one for one in self._sessions.connections.of(agent) if one.exit is not None or one.failure]
        return known or (_stopped(dead[-1]) if dead else "")

    def _group_changed(self, group: str) -> None:
        self._changed(self._agents.get(group, group))

    def _changed(self, agent: str) -> None:
        state = self.state_of(agent)
        status = AgentStatus(agent, state, self._why(agent) if state in DOWN else "")
        if self._sent.get(agent) != status:
            self._sent[agent] = status
            self._tell(status)


def _stopped(connection: SharedProcess) -> str:
    return f"{connection.title} stopped ({how(connection)})."
