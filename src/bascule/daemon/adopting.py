"""Takes sessions up again after a restart: what runs, what is gone, what nobody owns."""

import logging
from collections.abc import Callable

from bascule.daemon.connections import lost
from bascule.daemon.device import Device
from bascule.daemon.launching import TERMINAL, Launching
from bascule.daemon.roster import Roster, process_name
from bascule.drivers.acp import AcpDriver
from bascule.model.codec import decode_logged
from bascule.model.errors import BasculeError
from bascule.model.events import Note, PermissionModeChanged, SessionFailed, SessionStarted
from bascule.model.lifecycle import LIVE
from bascule.model.records import SessionRecord
from bascule.session.agent import Exit, SpawnPlan
from bascule.session.ledger import Ledger
from bascule.session.live import LiveSession
from bascule.session.serving import Services
from bascule.store.base import EventStore, ResumePoint
from bascule.transport.words import SessionState

log = logging.getLogger(__name__)

STRONG_MODES = frozenset({"auto", "auto_read"})
RESTART = "restart"


class Adopter:
    def __init__(
        self,
        store: EventStore,
        roster: Roster,
        launcher: Launching,
        device: Device,
        services: Services,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._roster = roster
        self._launcher = launcher
        self._device = device
        self._services = services
        self._clock = clock

    async def adopt_all(
        self, kept: dict[str, SessionState], belongs: Callable[[str, set[str]], bool] = lambda _, __: False
    ) -> None:
        """After a restart: take up what runs, finish what is gone, sweep what nobody owns.

        `belongs` takes up what one of the live sessions had started beside its agent.
        """
        owned: set[str] = set()
        for record in await self._live_records():
            try:
                owned.add(await self._adopt(record, kept))
            except BasculeError as error:
                log.error("session %s could not be taken up: %s", record.session_id, error.message)
                owned.add(process_name(record))
        for name, state in kept.items():
            if name not in owned and not belongs(name, set(self._roster.live)):
                log.warning("the keeper holds %s, which no session owns: discarding it", name)
                await self._roster.discard(state)

    async def _live_records(self) -> list[SessionRecord]:
        found = {one.session_id: one for one in await self._store.sessions(archived=False)}
        found |= {one.session_id: one for one in await self._store.sessions(archived=True)}
        return [one for one in found.values() if one.phase in LIVE and one.device == self._device.id]

    async def _adopt(self, record: SessionRecord, kept: dict[str, SessionState]) -> str:
        point = await self._store.resume_point(record.session_id)
        assert point is not None, "a listed session can be resumed"
        name = process_name(record)
        started = await self._started(record)
        ledger = Ledger(self._store, point, self._clock)
        if started.process:
            self._adopt_shared(ledger, started, point, name in kept)
            return name
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
                plan = self._launcher.plan(started, process_name(record))
            except BasculeError as error:
                ledger.log([SessionFailed("spawn_failed", error.message)], sync=True)
                self._roster.live.pop(record.session_id, None)
                return name
        self._roster.run(supervisor, process, plan)
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
        except BasculeError as error:
            if not is_kept and not gone:
                ledger.log([SessionFailed("spawn_failed", error.message)], sync=True)
                return
        at = self._roster.connections.adopt(started, self._launcher.title(started.agent), plan)
        driver = self._launcher.driver(started, point.driver_state)
        assert isinstance(driver, AcpDriver), "only this protocol carries several sessions"
        supervisor = self._roster.take_shared(ledger, driver, point, at, self._services)
        self._weaken(ledger)
        if gone:
            at.exited(lost())
        self._roster.run(supervisor, supervisor.seat, None if is_kept or gone else plan)

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
