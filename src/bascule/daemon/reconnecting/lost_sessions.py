"""Sessions that lost their agent: restarts them on the same log, notes each try, gives up or ends them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from bascule.daemon.reconnecting.reconnecting import STDERR
from bascule.daemon.registry.live_sessions import LiveSessions
from bascule.daemon.sessions.adopting import weaken
from bascule.daemon.sessions.starting import Starter, is_lost
from bascule.model.commands import Actor, Command, Envelope, PromptPlaced, SendPrompt
from bascule.model.errors import AgentFailed, AgentUnavailable
from bascule.model.events import (
    AnyEvent,
    EndReason,
    ReconnectScheduled,
    SessionEnded,
    SessionFailed,
)
from bascule.session.ending import how_it_went
from bascule.session.ledger import Ledger
from bascule.session.queueing import check_prompt, check_room, queued
from bascule.session.reviving import COULD_NOT_CONNECT
from bascule.session.shared import SharedSupervisor
from bascule.session.shared_process import SharedProcess
from bascule.session.supervisor import Supervisor, new_id
from bascule.store.base import AuditRecord, StoredReply
from bascule.store.protocols import DaemonStore

BY_ITSELF = Actor("reconnect")
PATIENCE = 2  # times the limit of a first answer: an earlier conversation has to be read, too
GAVE_UP = (
    "{why} Bascule tried to start it again and stopped trying. Everything is kept; Reconnect tries once more."
)


class LostSessions:
    def __init__(
        self,
        store: DaemonStore,
        sessions: LiveSessions,
        starter: Starter,
        lock: asyncio.Lock,
        clock: Callable[[], float],
        start_seconds: float,
        changed: Callable[[str], None],
    ) -> None:
        self._changed = changed
        self.asked: dict[str, Actor] = {}  # who wants it back now
        self.keeps_modes: set[str] = set()  # lost while we looked on: what people chose still holds
        self._store = store
        self._sessions = sessions
        self._starter = starter
        self._lock = lock
        self._clock = clock
        self._start_seconds = start_seconds

    def changed(self, group: str) -> None:
        self._changed(group)

    async def bring(self, session: str) -> None:
        by = self.asked.get(session, BY_ITSELF)
        async with self._lock:
            supervisor = await self._starter.bring_back(session, by, keep_modes=session in self.keeps_modes)
        if supervisor is None:
            return
        if isinstance(supervisor, SharedSupervisor):
            await _connected(supervisor.slot.connection)
        if not await self._came_up(supervisor):
            # Of several on one process this one alone did not come back; else it is the agent that did not.
            kind = AgentFailed if isinstance(supervisor, SharedSupervisor) else AgentUnavailable
            message = supervisor.ledger.record.end_message or "The agent did not come back."
            raise kind(message, **{STDERR: supervisor.stderr_tail})

    async def scheduled(self, session: str, step: ReconnectScheduled) -> None:
        await self._say(session, [step])

    async def gave_up(self, session: str, message: str, stderr_tail: str) -> None:
        self.keeps_modes.discard(session)
        words = GAVE_UP.format(why=message) if message else GAVE_UP.format(why="The agent went away.")
        await self._say(session, [SessionFailed(COULD_NOT_CONNECT, words, stderr_tail)])

    async def end(self, session: str, reason: EndReason, by: str) -> bool:
        """A person wants it no more. False when it was not waiting for its agent."""
        audit = AuditRecord("session_ended", by, session, detail=reason)
        return await self._say(session, [SessionEnded(reason)], audit=[audit])

    async def queue(self, command: SendPrompt, envelope: Envelope[Command[Any]]) -> PromptPlaced | None:
        """A message for a session that waits for its agent: sent once it is back. None: it does not wait."""
        check_prompt(command.text, command.images, self._sessions.limits.prompt_chars)
        placed = PromptPlaced(prompt_id=new_id(), state="queued")
        by, said = envelope.by, f"{len(command.text)} characters"
        waits = await self._say(
            command.session_id,
            [queued(placed.prompt_id, command, by.name)],
            audit=[AuditRecord.of(by, "input", command.session_id, said)],
            reply=StoredReply.to(envelope, placed),
            before=lambda ledger: check_room(ledger.pending, command),
            once=True,
        )
        return placed if waits else None

    async def weaken(self, session: str) -> None:
        """It was lost before this server started, and nobody may be there to have chosen its mode."""
        await self._say(session, [], before=weaken)

    async def _came_up(self, supervisor: Supervisor) -> bool:
        """Whether the agent resumed the conversation. On a shared process that may take long."""
        reviving = supervisor.reviving
        try:
            async with asyncio.timeout(PATIENCE * self._start_seconds or None):
                await reviving.outcome.wait()
        except TimeoutError:
            if isinstance(supervisor, SharedSupervisor):
                return True
            reviving.refusal = f"it did not answer within {PATIENCE * self._start_seconds:g} s"
            await supervisor.give_up()
            await reviving.outcome.wait()
        return reviving.lost is None

    async def _say(
        self,
        session: str,
        events: Sequence[AnyEvent],
        *,
        audit: Sequence[AuditRecord] = (),
        reply: StoredReply | None = None,
        before: Callable[[Ledger], None] = lambda _: None,
        once: bool = False,
    ) -> bool:
        """Facts of a session that has no process: only while it waits for one.

        `once`: refused when the disk is full, instead of stored when there is room.
        """
        async with self._lock:
            await self._sessions.wait_released(session)
            point = await self._store.resume_point(session)
            if point is None or session in self._sessions.live or not is_lost(point.record):
                return False
            ledger = Ledger(self._store, point, self._clock, once=once)
            before(ledger)
            await ledger.log(events, audit=audit, reply=reply, sync=True)
        return True


async def _connected(connection: SharedProcess) -> None:
    await connection.outcome.wait()
    if connection.greeting is None:
        words = f"Could not connect to {connection.title}: {how(connection)}."
        raise AgentUnavailable(words, agent=connection.agent)


def how(connection: SharedProcess) -> str:
    if connection.failure:
        return connection.failure
    return how_it_went(connection.exit) if connection.exit is not None else "it did not start"
