"""Begins sessions: a new one, one brought back, one found running after a restart."""

import logging
from collections.abc import Callable

from bascule.daemon.device import Device
from bascule.daemon.directories import check_directory
from bascule.daemon.launching import TERMINAL, Launching
from bascule.daemon.roster import Roster, kept_name
from bascule.model.codec import decode_logged, encode
from bascule.model.commands import Actor, ResumeSession, StartSession
from bascule.model.errors import BasculeError, InvalidInput, LimitReached, NotSupported
from bascule.model.events import (
    AnyEvent,
    Note,
    PermissionModeChanged,
    PromptSent,
    SessionFailed,
    SessionStarted,
    TitleChanged,
)
from bascule.model.lifecycle import LIVE
from bascule.model.records import SessionRecord, Write
from bascule.model.settings import Settings
from bascule.session.agent import Exit, SpawnPlan
from bascule.session.ledger import Ledger
from bascule.session.live import LiveSession
from bascule.session.supervisor import new_id
from bascule.session.wishes import check_prompt
from bascule.store.base import AuditRecord, EventStore, ResumePoint, StoredReply
from bascule.transport.words import SessionState

log = logging.getLogger(__name__)

STRONG_MODES = frozenset({"auto", "auto_read"})
RESTART = "restart"
TITLE_LENGTH = 200


class Starter:
    def __init__(
        self,
        store: EventStore,
        roster: Roster,
        launcher: Launching,
        settings: Settings,
        device: Device,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._roster = roster
        self._launcher = launcher
        self._settings = settings
        self._device = device
        self._clock = clock

    async def start(self, wish: StartSession, body_sha256: str) -> bytes:
        """A new session. Refused with nothing made, or made and durable when this returns."""
        if wish.prompt is not None:
            check_prompt(wish.prompt, wish.images, self._settings.limits.prompt_chars)
        if await self._store.session(wish.session_id) is not None:
            raise InvalidInput("A session with this id exists already.")
        started = await self._checked(
            SessionStarted(
                agent=wish.agent,
                driver=wish.driver or "",
                cwd=wish.cwd,
                by=wish.by.name,
                device=self._device.id,
                model=wish.model,
                permission_mode=wish.permission_mode,
                mode=wish.mode,
                resumed_from=wish.resume,
                forked=wish.fork,
                cols=wish.cols,
                rows=wish.rows,
                skip_permissions=wish.skip_permissions,
            )
        )
        if started.driver == TERMINAL and wish.prompt is not None:
            raise NotSupported("A terminal takes keys, not messages: start it, then type.")
        ledger = Ledger.new(self._store, wish.session_id, self._clock)
        facts: list[AnyEvent] = [TitleChanged(tidy_title(wish.title), wish.by.name)] if wish.title else []
        if wish.prompt is not None:
            facts.append(PromptSent(new_id(), wish.prompt, wish.by.name, wish.client_message_id, wish.images))
        result = encode({"session_id": wish.session_id, "seq": 1 + len(facts)})
        reply = StoredReply(wish.key, body_sha256, result) if wish.key else None
        await self._launch(ledger, started, facts, wish.by, reply)
        return result

    async def resume(self, wish: ResumeSession) -> bytes:
        """An ended session's agent, brought back on the same log, asking again before it acts."""
        await self._roster.put_away(wish.session_id)
        point = await self._store.resume_point(wish.session_id)
        if point is None or wish.session_id in self._roster.live:
            raise InvalidInput("This session is running already.")
        record = point.record
        if record.agent_session_id is None and record.driver != TERMINAL:
            raise NotSupported(
                "The agent never named its conversation, so it can't be resumed. Start a new one."
            )
        started = await self._checked(
            SessionStarted(
                agent=record.agent,
                driver=record.driver,
                cwd=record.cwd,
                by=wish.by.name,
                device=self._device.id,
                model=record.model,
                permission_mode="relay",
                mode=None,
                resumed_from=record.agent_session_id,
                cols=record.cols,
                rows=record.rows,
            )
        )
        ledger = Ledger(self._store, point, self._clock)
        await self._launch(ledger, started, [], wish.by, None)
        return encode({"session_id": wish.session_id, "seq": ledger.record.seq})

    async def adopt_all(self, kept: dict[str, SessionState]) -> None:
        """After a restart: take up what runs, finish what is gone, sweep what nobody owns."""
        owned: set[str] = set()
        for record in await self._live_records():
            try:
                owned.add(await self._adopt(record, kept))
            except BasculeError as error:
                log.error("session %s could not be taken up: %s", record.session_id, error.message)
                owned.add(kept_name(record.session_id, record.started_seq))
        for name, state in kept.items():
            if name not in owned:
                log.warning("the keeper holds %s, which no session owns: discarding it", name)
                await self._roster.discard(state)

    async def _checked(self, wanted: SessionStarted) -> SessionStarted:
        """Everything that can be refused before a session exists."""
        limit = self._settings.limits.sessions
        if 0 < limit <= self._roster.running():
            raise LimitReached(
                f"{self._device.name} already runs {limit} sessions. End one, or raise the limit in Settings."
            )
        cwd, _ = check_directory(wanted.cwd, self._launcher.roots)
        return await self._launcher.complete(wanted, cwd)

    async def _launch(
        self,
        ledger: Ledger,
        started: SessionStarted,
        facts: list[AnyEvent],
        by: Actor,
        reply: StoredReply | None,
    ) -> None:
        record = ledger.record
        fresh = ResumePoint(record, ledger.parked, 0, 0, None, [], [])
        if started.driver == TERMINAL:
            await self._launch_terminal(ledger, started, fresh, facts, by, reply)
            return
        driver = self._launcher.driver(started, history=record.seq == 0)
        writes: list[Write] = driver.start()
        writes += [driver.prompt(fact) for fact in facts if isinstance(fact, PromptSent)]
        # The bytes are committed with the facts: whatever stops us now, the next start spawns and delivers.
        committed = ledger.log(
            [started, *facts],
            out_offset=0,
            err_offset=0,
            driver_state=driver.state(),
            writes=writes,
            audit=[_audit(record.session_id, started, by)],
            reply=reply,
            sync=True,
        )
        supervisor, process = self._roster.take(ledger, driver, fresh)
        supervisor.deliver_after(committed, writes)
        try:
            await committed
        except BaseException:
            self._roster.live.pop(record.session_id, None)
            raise
        self._roster.run(supervisor, process, self._plan(record, started))

    async def _launch_terminal(
        self,
        ledger: Ledger,
        started: SessionStarted,
        fresh: ResumePoint,
        facts: list[AnyEvent],
        by: Actor,
        reply: StoredReply | None,
    ) -> None:
        record = ledger.record
        driver = self._launcher.terminal(started)
        committed = ledger.log(
            [started, *facts],
            out_offset=0,
            err_offset=0,
            driver_state=driver.state(),
            audit=[_audit(record.session_id, started, by)],
            reply=reply,
            sync=True,
        )
        terminal, process = self._roster.take_terminal(ledger, driver, fresh, 0)
        try:
            await committed
        except BaseException:
            self._roster.live.pop(record.session_id, None)
            raise
        self._roster.run(terminal, process, self._plan(record, started))

    def _plan(self, record: SessionRecord, started: SessionStarted) -> SpawnPlan:
        return self._launcher.plan(started, kept_name(record.session_id, record.started_seq))

    async def _live_records(self) -> list[SessionRecord]:
        found = {one.session_id: one for one in await self._store.sessions(archived=False)}
        found |= {one.session_id: one for one in await self._store.sessions(archived=True)}
        return [one for one in found.values() if one.phase in LIVE and one.device == self._device.id]

    async def _adopt(self, record: SessionRecord, kept: dict[str, SessionState]) -> str:
        point = await self._store.resume_point(record.session_id)
        assert point is not None, "a listed session can be resumed"
        name = kept_name(record.session_id, record.started_seq)
        started = await self._started(record)
        ledger = Ledger(self._store, point, self._clock)
        supervisor: LiveSession
        if started.driver == TERMINAL:
            base = kept[name].out_base if name in kept else 0
            screen = self._launcher.terminal(started, point.driver_state)
            supervisor, process = self._roster.take_terminal(ledger, screen, point, base)
        else:
            driver = self._launcher.driver(started, point.driver_state)
            supervisor, process = self._roster.take(ledger, driver, point)
        self._weaken(ledger)
        plan: SpawnPlan | None = None
        if name not in kept and record.spawned:
            supervisor.exited(Exit(None, None, 0, 0, lost=True))
        elif name not in kept:
            try:
                plan = self._plan(record, started)
            except BasculeError as error:
                ledger.log([SessionFailed("spawn_failed", error.message)], sync=True)
                self._roster.live.pop(record.session_id, None)
                return name
        self._roster.run(supervisor, process, plan)
        return name

    def _weaken(self, ledger: Ledger) -> None:
        """Nobody may be present after a restart, so nothing is allowed without asking."""
        mode = ledger.record.permission_mode
        if mode in STRONG_MODES:
            text = "Bascule was restarted, so this session asks again before anything runs."
            ledger.log([PermissionModeChanged("relay", RESTART), Note("mode_lowered", text)])

    async def _started(self, record: SessionRecord) -> SessionStarted:
        rows = await self._store.read(record.session_id, record.started_seq - 1, 1)
        event = decode_logged(rows[0].body).event
        assert isinstance(event, SessionStarted), "started_seq names a session_started"
        return event


def tidy_title(title: str) -> str:
    """A title is one line: it stands in lists, tabs and notifications."""
    tidy = " ".join(title.split())
    if not tidy or len(tidy) > TITLE_LENGTH:
        raise InvalidInput(f"A title has 1 to {TITLE_LENGTH} characters.")
    return tidy


def _audit(session_id: str, started: SessionStarted, by: Actor) -> AuditRecord:
    detail = f"{started.agent} in {started.cwd}, {started.permission_mode}"
    if started.driver == TERMINAL:
        detail = f"{started.agent} in {started.cwd}, in a terminal"
    if started.skip_permissions:
        detail += ", skipping its permissions"
    return AuditRecord(
        "session_started", by.name, session_id, by.grant_id, by.address, by.user_agent, detail=detail
    )
