"""Starts new sessions and resumes ended ones."""

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec.structs import asdict, replace

from bascule.daemon.device import Device
from bascule.daemon.files.directories import check_directory
from bascule.daemon.launching.driver_table import SHARED, TERMINAL, shared
from bascule.daemon.launching.launching import Launching
from bascule.daemon.registry.labels import with_label
from bascule.daemon.registry.live_sessions import LiveSession, LiveSessions, process_name
from bascule.daemon.sessions.pending_start import PendingStart, fresh_point
from bascule.model.codec import decode_logged
from bascule.model.commands import Actor, Envelope, SessionBegun, StartSession
from bascule.model.errors import Field, InvalidInput, LimitReached, NotSupported, SessionNotFound
from bascule.model.events import (
    AnyEvent,
    PromptSent,
    SessionReady,
    SessionStarted,
    TitleChanged,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import SessionRecord
from bascule.session.agent import AgentProcess, SpawnPlan
from bascule.session.ledger import Ledger
from bascule.session.queueing import check_prompt, images_of
from bascule.session.reviving import COULD_NOT_CONNECT
from bascule.session.serving import Services
from bascule.session.supervisor import Supervisor, new_id
from bascule.store.base import StoredReply
from bascule.store.protocols import DaemonStore

log = logging.getLogger(__name__)

TITLE_LENGTH = 200
RUNNING = "This session is running already."
BEGINNING = 200  # of a log: its agent was ready within so many entries


class Starter:
    def __init__(
        self,
        store: DaemonStore,
        sessions: LiveSessions,
        launcher: Launching,
        device: Device,
        services: Services,
        clock: Callable[[], float],
    ) -> None:
        self._services = services
        self._store = store
        self._sessions = sessions
        self._launcher = launcher
        self._device = device
        self._clock = clock

    async def start(self, envelope: Envelope[StartSession]) -> SessionBegun:
        """A new session. Refused with nothing made, or made and durable when this returns."""
        command, by = envelope.command, envelope.by
        if await self._store.session(command.session_id) is not None:
            raise InvalidInput("A session with this id exists already.")
        for record in await self._of_conversation(command):
            await self._rested(record)
        started = await self._prepared(envelope)
        facts: list[AnyEvent] = []
        if command.title:
            facts.append(TitleChanged(tidy_title(command.title), by.name))
        if command.prompt is not None:
            images = images_of(command.images)
            facts.append(PromptSent(new_id(), command.prompt, by.name, command.client_message_id, images))
        begun = SessionBegun(session_id=command.session_id, seq=1 + len(facts))
        ledger = Ledger.new(self._store, command.session_id, self._clock, once=True)
        await self._launch(PendingStart(ledger, started, facts, by, StoredReply.to(envelope, begun)))
        return begun

    async def _prepared(self, envelope: Envelope[StartSession]) -> SessionStarted:
        """The first fact of a session. Raises for everything that can be refused before there is one."""
        command = envelope.command
        if command.prompt is not None:
            check_prompt(command.prompt, command.images, self._sessions.limits.prompt_chars)
        started = await self._checked(_wanted(command, envelope.by.name, self._device.id))
        if started.driver == TERMINAL and command.prompt is not None:
            raise NotSupported("A terminal takes keys, not messages: start it, then type.")
        return started

    async def check_all(self, commands: Sequence[Envelope[StartSession]]) -> None:
        """Could all of these be started now? Raises for the first that could not; begins none."""
        limit, working = self._sessions.limits.sessions, self._sessions.working()
        if 0 < limit < len(working) + len(commands):
            room = (
                f"has room for {max(0, limit - len(working))} more" if working else f"takes {limit} at most"
            )
            raise LimitReached(
                f"{len(commands)} agents at once are too many: {self._device.name} {room}. "
                "Choose fewer agents, end a session, or raise the limit in Settings.",
                **room_offer(working, self._clock()),
            )
        for envelope in commands:
            await self._prepared(envelope)

    async def check_resume(self, session_id: str) -> None:
        """Is there such a session at rest? Resumes nothing."""
        live = self._sessions.live.get(session_id)
        if live is not None and live.ledger.live:
            raise InvalidInput(RUNNING)
        if await self._store.session(session_id) is None:
            raise SessionNotFound(session_id)

    async def resume(
        self, session_id: str, by: Actor, *, keep_modes: bool = False, once: bool = True
    ) -> None:
        """An ended session's agent, brought back on the same log, asking again before it acts.

        `keep_modes`: its process was lost a moment ago, and what a person had chosen still holds.
        `once`: refused when the disk is full, instead of done when there is room.
        """
        await self._sessions.wait_released(session_id)
        point = await self._store.resume_point(session_id)
        if point is None or session_id in self._sessions.live:
            raise InvalidInput(RUNNING)
        record = point.record
        if record.agent_session_id is None and record.driver != TERMINAL and record.turns > 0:
            raise NotSupported(
                "The agent never named its conversation, so it can't be resumed. Start a new one."
            )
        if record.driver != TERMINAL:
            await self._rested(record)
        model, mode = self._launcher.settings_of(record)
        started = await self._checked(
            SessionStarted(
                agent=record.agent,
                driver=record.driver,
                cwd=record.cwd,
                by=by.name,
                device=self._device.id,
                model=model,
                permission_mode=record.permission_mode if keep_modes else "relay",
                capability=self._launcher.capped(record.capability),
                mode=mode if keep_modes else None,
                resumed_from=record.agent_session_id,
                cols=record.cols,
                rows=record.rows,
                worktree_of=record.worktree_of,
            )
        )
        ledger = Ledger(self._store, point, self._clock, once=once)
        await self._launch(PendingStart(ledger, started, [], by, None))

    async def _of_conversation(self, command: StartSession) -> list[SessionRecord]:
        """The sessions of the conversation that this command resumes."""
        if command.resume is None or self._launcher.rest_seconds(command.agent) == 0:
            return []
        return await self._store.sessions_of((command.agent, command.resume))

    async def _rested(self, record: SessionRecord) -> None:
        """Raises while the conversation is too young: its agent would overwrite its file."""
        rest = self._launcher.rest_seconds(record.agent)
        if rest == 0:
            return
        rows = [decode_logged(row.body) for row in await self._store.read(record.session_id, 0, BEGINNING)]
        ready = (row.at for row in rows if isinstance(row.event, SessionReady))
        began = datetime.fromisoformat(next(ready, record.created_at)).timestamp()
        wait = math.ceil(began + rest - self._clock())
        if 0 < wait <= rest:  # a time that is yet to come is a wrong clock's, and no reason to wait
            title = self._launcher.title(record.agent)
            raise LimitReached(
                f"{title} can't take up a conversation in its first {rest} s. Try again in {wait} s.",
                retry_after=wait,
            )

    async def _checked(self, wanted: SessionStarted) -> SessionStarted:
        """Raises for everything that can be refused before a session exists."""
        cwd, _ = check_directory(wanted.cwd, self._launcher.roots, self._launcher.own)
        complete = await self._launcher.complete(wanted, cwd)
        limit, working = self._sessions.limits.sessions, self._sessions.working()
        if 0 < limit <= len(working) and complete.driver != TERMINAL:
            already = "1 agent already works" if limit == 1 else f"{limit} agents already work"
            raise LimitReached(
                f"{already} on {self._device.name}, which is the limit. "
                "End a session, or raise the limit in Settings.",
                **room_offer(working, self._clock()),
            )
        return complete

    async def _launch(self, start: PendingStart) -> None:
        if start.started.driver == TERMINAL:
            await self._launch_terminal(start)
        elif start.started.driver in SHARED:
            await self._launch_shared(start)
        else:
            await self._launch_alone(start)

    async def _launch_alone(self, start: PendingStart) -> None:
        """On a process of its own."""
        ledger, started = start.ledger, start.started
        record = ledger.record
        driver = self._launcher.driver(started, history=record.seq == 0 and started.copied_from is None)
        fresh = fresh_point(record, ledger.pending)
        writes = start.first_writes(driver)
        # The bytes are committed with the facts: whatever stops us now, the next start spawns and delivers.
        committed = start.log(driver, writes)
        supervisor, process = self._sessions.add(ledger, driver, fresh, self._launcher.revival(started))
        supervisor.deliver_after(committed, writes)
        await self._begin(committed, supervisor, process, self._plan(record, started))

    async def _launch_terminal(self, start: PendingStart) -> None:
        record = start.ledger.record
        fresh = fresh_point(record, start.ledger.pending)
        driver = self._launcher.terminal(start.started)
        committed = start.log(driver)
        terminal, process = self._sessions.add_terminal(start.ledger, driver, fresh, 0)
        await self._begin(committed, terminal, process, self._plan(record, start.started))

    async def _launch_shared(self, start: PendingStart) -> None:
        """On the process that sessions started in the same way share. Nothing is awaited between choosing it
        and joining it, so that it can't go away in between."""
        ledger, title = start.ledger, self._launcher.title(start.started.agent)
        record = ledger.record
        at = self._sessions.connections.choose(start.started, title, self._launcher.plan(start.started, ""))
        start = start._replace(started=replace(start.started, process=at.name))
        plan = with_label(self._launcher.plan(start.started, at.name), record.session_id, start.started)
        joining, out, err = at.joining()
        driver = shared(self._launcher.driver(start.started, history=record.seq == 0, joining=joining))
        writes = start.first_writes(driver)
        committed = start.log(driver, writes, driver.settled(), out, err)
        fresh = fresh_point(record, ledger.pending, out, err)
        supervisor = self._sessions.add_shared(ledger, driver, fresh, at, self._services)
        supervisor.deliver_after(committed, writes)
        try:
            await self._begin(committed, supervisor, supervisor.slot, plan)
        except BaseException:
            await supervisor.slot.forget()
            raise

    async def _begin(
        self, committed: "asyncio.Future[None]", session: LiveSession, process: AgentProcess, plan: SpawnPlan
    ) -> None:
        """Run the session once its start is committed. One whose start could not be stored is not live."""
        try:
            await committed
        except BaseException:
            self._sessions.drop(session)
            raise
        self._sessions.run(session, process, plan)

    def _plan(self, record: SessionRecord, started: SessionStarted) -> SpawnPlan:
        plan = self._launcher.plan(started, process_name(record))
        return with_label(plan, record.session_id, started)

    async def bring_back(self, session_id: str, by: Actor, *, keep_modes: bool = False) -> Supervisor | None:
        """Resumes a session that lost its process; None if it no longer needs to be."""
        live = self._sessions.live.get(session_id)
        if live is not None and live.ledger.live:
            return live if isinstance(live, Supervisor) else None
        record = await self._store.session(session_id)
        if record is None or record.archived or not is_orphan(record):
            return None
        await self.resume(session_id, by, keep_modes=keep_modes, once=False)
        live = self._sessions.live.get(session_id)
        return live if isinstance(live, Supervisor) else None


def room_offer(working: Sequence[SessionRecord], now: float) -> dict[str, Field]:
    """For a refusal: the limit's name, and the session that has been quiet longest, to be ended instead."""
    if not working:
        return {"limit": "sessions"}
    # One that waits for a person's answer gets nothing done until then.
    quiet = min(working, key=lambda one: (one.open_requests == 0, one.updated_at))
    idle = max(0, round(now - datetime.fromisoformat(quiet.updated_at).timestamp()))
    offer: Field = {"sessionId": quiet.session_id, "title": quiet.title, "idleSeconds": idle}
    return {"limit": "sessions", "offer": offer}


def is_orphan(record: SessionRecord) -> bool:
    """Whether the session lost its process, or failed to reconnect, and can be resumed."""
    not_back = record.phase is Phase.FAILED and record.end_reason == COULD_NOT_CONNECT
    return is_lost(record) or (not_back and record.agent_session_id is not None)


def is_lost(record: SessionRecord) -> bool:
    """Whether it is being reconnected, or should be."""
    return record.phase is Phase.ENDED and record.end_reason == "disconnected"


def _wanted(command: StartSession, by: str, device: str) -> SessionStarted:
    return SessionStarted(
        agent=command.agent,
        driver=command.driver or "",
        cwd=command.cwd,
        by=by,
        device=device,
        resumed_from=command.resume,
        forked=command.fork,
        forked_at=command.fork_at,
        copied_from=command.copied_from,
        worktree_of=command.worktree_of,
        **asdict(command.options),
    )


def tidy_title(title: str) -> str:
    """A title is one line: it stands in lists, tabs and notifications."""
    tidy = " ".join(title.split())
    if not tidy or len(tidy) > TITLE_LENGTH:
        raise InvalidInput(f"A title has 1 to {TITLE_LENGTH} characters.")
    return tidy
