"""Adopts sessions after a restart: finds running agents, ended ones, and processes without a log."""

import logging
from collections.abc import Callable

from bascule.daemon.launching.driver_table import SHARED, TERMINAL, shared
from bascule.daemon.launching.launching import Launching
from bascule.daemon.processes.shared_processes import lost
from bascule.daemon.registry.labels import with_label
from bascule.daemon.registry.live_sessions import LiveSessions, process_name
from bascule.model.codec import decode_logged
from bascule.model.errors import BasculeError, StoreDamaged
from bascule.model.events import (
    AnyEvent,
    Note,
    PermissionModeChanged,
    PermissionWithdrawn,
    QuestionWithdrawn,
    SessionFailed,
    SessionStarted,
)
from bascule.model.lifecycle import LIVE
from bascule.model.records import SessionRecord
from bascule.session.agent import Exit, SpawnPlan
from bascule.session.ledger import Ledger
from bascule.session.live import LiveSession
from bascule.session.outbox import ANSWER
from bascule.session.serving import Services
from bascule.session.shared_process import MAX_WRITE_ID, on_the_line
from bascule.store.base import ResumePoint
from bascule.store.protocols import DaemonStore
from bascule.transport.keeper_messages import SessionState

log = logging.getLogger(__name__)

STRONG_MODES = frozenset({"auto", "auto_read"})
RESTART = "restart"
RESTORED = "restored"  # why a request is withdrawn: it was answered after the copy of this log was made


class Over:
    """The processes that have ended according to the log, by their names in the keeper."""

    def __init__(self, records: list[SessionRecord]) -> None:
        self._records = {record.session_id: record for record in records}
        self._processes = {process_name(record) for record in records if record.phase not in LIVE}

    def knows(self, name: str) -> bool:
        if name in self._processes:
            return True
        session_id, _, number = name.rpartition("-")
        run = self._records.get(session_id)
        if run is not None and number.isdigit():
            return int(number) < run.started_seq  # an earlier run of the same session
        beside = self._records.get(name.partition(".")[0])  # a program its agent had started for it
        return beside is not None and beside.phase not in LIVE


class Adopter:
    def __init__(
        self,
        store: DaemonStore,
        sessions: LiveSessions,
        launcher: Launching,
        services: Services,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._launcher = launcher
        self._services = services
        self._clock = clock

    async def adopt_all(
        self, kept: dict[str, SessionState], belongs: Callable[[str, set[str]], bool] = lambda _, __: False
    ) -> set[str]:
        """After a restart: take up what runs, finish what is gone, let go of what the log says is over.

        `belongs` takes up what one of the live sessions had started beside its agent. Gives the names of
        what is left: the log does not know it, so it may be the only copy of something.
        """
        await self._store.examine()
        owned: set[str] = set()
        records = await self._live_records()
        # Before any session reads on: what its agent said last may be about a program beside it.
        ours = {record.session_id for record in records}
        beside = {name for name in kept if belongs(name, ours)}
        for record in records:
            try:
                owned.add(await self.adopt(record, kept))
            except StoreDamaged as error:
                log.error("session %s can't be read: %s", record.session_id, error.message)
            except BasculeError as error:
                log.error("session %s could not be taken up: %s", record.session_id, error.message)
                owned.add(process_name(record))
        left = {
            name: state
            for name, state in kept.items()
            if name not in owned and not (name in beside and name.partition(".")[0] in self._sessions.live)
        }
        # Only then is every session looked at: what an agent shared may have any name.
        over = Over(await self._records() if left else [])
        unknown: set[str] = set()
        for name, state in left.items():
            if over.knows(name):
                log.info("the keeper holds %s, which is over: discarding it", name)
                await self._sessions.discard(state)
            else:
                unknown.add(name)
        return unknown

    async def _records(self) -> list[SessionRecord]:
        both = await self._store.sessions(archived=False) + await self._store.sessions(archived=True)
        return [one for one in both if one.session_id not in self._store.damaged_sessions]

    async def _live_records(self) -> list[SessionRecord]:
        found = await self._store.live_sessions()
        return [one for one in found if one.session_id not in self._store.damaged_sessions]

    async def adopt(self, record: SessionRecord, kept: dict[str, SessionState]) -> str:
        """Make a session of the log live again; gives the keeper's name of its process."""
        point = await self._store.resume_point(record.session_id)
        assert point is not None, "a listed session can be resumed"
        name = process_name(record)
        started = await self.started(record)
        ledger = Ledger(self._store, point, self._clock)
        if name in kept:
            self._skip_what_is_gone(ledger, point, kept[name])
            if record.session_id in self._store.behind:
                await self._withdraw_answered(ledger, name, shared=started.driver in SHARED)
        else:
            point.state_offset = point.out_offset  # there is nothing left to read again
        if started.driver in SHARED:
            self._adopt_shared(ledger, started, point, name in kept)
            return name
        supervisor: LiveSession
        if started.driver == TERMINAL:
            base = kept[name].out_base if name in kept else 0
            screen = self._launcher.terminal(started, point.driver_state)
            supervisor, process = self._sessions.add_terminal(ledger, screen, point, base)
        else:
            driver = self._launcher.driver(started, point.driver_state)
            revival = self._launcher.revival(started)
            supervisor, process = self._sessions.add(ledger, driver, point, revival)
        weaken(ledger)
        plan: SpawnPlan | None = None
        if name not in kept and record.spawned:
            supervisor.exited(Exit(None, None, 0, 0, lost=True))
        elif name not in kept:
            try:
                plan = with_label(self._launcher.plan(started, name), record.session_id, started)
            except BasculeError as error:
                ledger.log([SessionFailed("spawn_failed", error.message)], sync=True)
                self._sessions.live.pop(record.session_id, None)
                return name
        self._sessions.run(supervisor, process, plan)
        return name

    def _adopt_shared(
        self, ledger: Ledger, started: SessionStarted, point: ResumePoint, is_kept: bool
    ) -> None:
        """As `_adopt`, of one of several sessions on a process."""
        record = ledger.record
        # What it would read was of a process that is gone; another one must not be taken for it.
        gone = not is_kept and (record.spawned or point.out_offset > 0)
        plan: SpawnPlan | None = None
        try:
            plan = self._launcher.plan(started, process_name(record))
            plan = with_label(plan, record.session_id, started)
        except BasculeError as error:
            if not is_kept and not gone:
                ledger.log([SessionFailed("spawn_failed", error.message)], sync=True)
                return
        at = self._sessions.connections.adopt(started, self._launcher.title(started.agent), plan)
        driver = shared(self._launcher.driver(started, point.driver_state))
        supervisor = self._sessions.add_shared(ledger, driver, point, at, self._services)
        weaken(ledger)
        if gone:
            at.exited(lost())
        self._sessions.run(supervisor, supervisor.slot, None if is_kept or gone else plan)

    def _skip_what_is_gone(self, ledger: Ledger, point: ResumePoint, state: SessionState) -> None:
        """An older copy of the log may ask for output that was let go of since: go on where there is some."""
        point.state_offset = max(point.state_offset, state.out_base)
        gone = max(0, state.out_base - point.out_offset)
        if gone or state.err_base > point.err_offset:
            point.out_offset = max(point.out_offset, state.out_base)
            point.err_offset = max(point.err_offset, state.err_base)
            text = f"{gone} bytes of the agent's output were let go of before this log held them."
            ledger.log([Note("output_lost", text, "warning")] if gone else [])

    async def _withdraw_answered(self, ledger: Ledger, name: str, *, shared: bool) -> None:
        """Of requests that are open in an older copy: those whose answer the agent has can't be answered."""
        connection = self._sessions.keeper.get()
        gone: list[AnyEvent] = []
        for request in ledger.open_requests():
            write_id = f"{ANSWER}{request.request_id}"
            on_line = on_the_line(ledger.record.session_id, write_id) if shared else write_id
            if await connection.has_written(name, on_line[:MAX_WRITE_ID]):
                withdrawn = PermissionWithdrawn if request.kind == "permission" else QuestionWithdrawn
                gone.append(withdrawn(request.request_id, RESTORED))
        if gone:
            ledger.log(gone)

    async def started(self, record: SessionRecord) -> SessionStarted:
        rows = await self._store.read(record.session_id, record.started_seq - 1, 1)
        event = decode_logged(rows[0].body).event
        assert isinstance(event, SessionStarted), "started_seq names a session_started"
        return event


def weaken(ledger: Ledger) -> None:
    """Nobody may be present after a restart, so nothing is allowed without asking."""
    mode = ledger.record.permission_mode
    if mode in STRONG_MODES:
        text = "Bascule was restarted, so this session asks again before anything runs."
        ledger.log([PermissionModeChanged("relay", RESTART), Note("mode_lowered", text)])
