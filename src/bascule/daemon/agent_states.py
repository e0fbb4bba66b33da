"""What state each agent's processes are in, told to people; and its sessions taken up when one went away."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from msgspec.structs import replace

from bascule.daemon.device import Device
from bascule.daemon.reconnecting import PAUSES, Reconnecting
from bascule.daemon.roster import Roster
from bascule.daemon.starting import is_orphan
from bascule.link.frames import AgentProblem, AgentState, AgentStatus
from bascule.model.commands import Actor
from bascule.model.errors import AgentFailed, AgentUnavailable, NotSupported
from bascule.model.records import SessionRecord
from bascule.session.connection import Connection
from bascule.session.ending import exit_words
from bascule.session.shared import SharedSupervisor
from bascule.session.supervisor import Supervisor, new_id
from bascule.store.base import EventStore

AFTER_RESTART_SECONDS = 600.0  # an agent that went away longer ago than this waits for a person
DOWN = frozenset({"disconnected", "reconnecting"})
BY_ITSELF = Actor("reconnect")

BringBack = Callable[[str, Actor], Awaitable[SharedSupervisor | None]]


class AgentStates:
    def __init__(
        self,
        store: EventStore,
        roster: Roster,
        bring_back: BringBack,
        device: Device,
        tell: Callable[[AgentStatus | AgentProblem], None],
        clock: Callable[[], float],
        steady: Callable[[], float],
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        self._store = store
        self._roster = roster
        self._bring_back = bring_back
        self._device = device
        self._tell = tell
        self._clock = clock
        self._told: dict[str, AgentStatus] = {}
        self._by = BY_ITSELF
        self._ladder = Reconnecting(self._bring, self._changed, steady, pauses)
        roster.connections.on_change = self._changed
        roster.connections.on_left = self._left
        roster.connections.on_problem = lambda session, refusal: tell(AgentProblem(session, refusal))

    async def open(self) -> None:
        """Go on with what was being taken up when we were last here."""
        lost: dict[str, list[str]] = {}
        for record in await self._orphans():
            if self._clock() - datetime.fromisoformat(record.updated_at).timestamp() < AFTER_RESTART_SECONDS:
                lost.setdefault(record.agent, []).append(record.session_id)
        for agent, sessions in lost.items():
            self._ladder.lost(agent, sessions, "It went away before Bascule was restarted.")

    async def close(self) -> None:
        await self._ladder.close()

    def state_of(self, agent: str) -> AgentState:
        return self._ladder.state_of(agent, self._roster.connections.state_of(agent))

    async def reconnect(self, agent: str, by: Actor) -> AgentState:
        """A person wants it back now. Raises `AgentUnavailable` when it does not come."""
        sessions = [one.session_id for one in await self._orphans() if one.agent == agent]
        self._by = by
        try:
            await self._ladder.now(agent, sessions)
        finally:
            self._by = BY_ITSELF
        return self.state_of(agent)

    async def conversations(self, agent: str) -> dict[str, object]:
        """What the agent lists, and which of them have a session here."""
        mine = [one for one in self._roster.live.values() if isinstance(one, Supervisor) and one.ledger.live]
        able = [one for one in mine if one.ledger.record.agent == agent and one.conversations.can_be_listed]
        if not able:
            told = "This agent does not run just now, or it lists no conversations. Start a session first."
            raise NotSupported(told, agent=agent)
        listing = await able[0].conversations.list(f"list:{new_id()}")
        if listing.problem:
            raise AgentFailed(f"The agent listed nothing: {listing.problem}", agent=agent)
        records = await self._store.sessions(archived=False) + await self._store.sessions(archived=True)
        known = {one.agent_session_id: one.session_id for one in records if one.agent == agent}
        found = [replace(one, session=known.get(one.id)) for one in listing.conversations]
        return {"conversations": found, "more": listing.more}

    async def _orphans(self) -> list[SessionRecord]:
        records = await self._store.sessions(archived=False)
        found = [one for one in records if one.device == self._device.id and is_orphan(one)]
        return sorted(found, key=lambda one: one.created_at)

    async def _bring(self, session_id: str) -> None:
        supervisor = await self._bring_back(session_id, self._by)
        if supervisor is None:
            return
        connection = supervisor.seat.connection
        await connection.outcome.wait()
        if connection.greeting is None:
            raise AgentUnavailable(
                f"Could not connect to {connection.title}: {_how(connection)}.", agent=connection.agent
            )

    def _left(self, connection: Connection) -> None:
        self._roster.by_kept_name.pop(connection.name, None)
        if connection.orphans:
            self._ladder.lost(connection.agent, list(connection.orphans), _stopped(connection))

    def _why(self, agent: str) -> str:
        known = self._ladder.messages.get(agent)
        dead = [one for one in self._roster.connections.of(agent) if one.exit is not None or one.failure]
        return known or (_stopped(dead[-1]) if dead else "")

    def _changed(self, agent: str) -> None:
        state = self.state_of(agent)
        status = AgentStatus(agent, state, self._why(agent) if state in DOWN else "")
        if self._told.get(agent) != status:
            self._told[agent] = status
            self._tell(status)


def _stopped(connection: Connection) -> str:
    return f"{connection.title} stopped ({_how(connection)})."


def _how(connection: Connection) -> str:
    if connection.failure:
        return connection.failure
    if connection.exit is None:
        return "it did not start"
    return exit_words(connection.exit) or "exit code 0"
