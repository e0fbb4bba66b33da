"""Handles commands for the whole machine: agents, folders, trust, pause and the panic button."""

import asyncio
import logging
from pathlib import Path

from msgspec.structs import asdict, replace

from bascule.daemon.device import Device
from bascule.daemon.files.directories import check_directory
from bascule.daemon.files.finding import count_files
from bascule.daemon.files.panel import git_environment
from bascule.daemon.handlers import Handlers, widens_nothing
from bascule.daemon.launching.launching import Launching
from bascule.daemon.reconnecting.agent_states import AgentStates
from bascule.daemon.registry.live_sessions import LiveSessions
from bascule.daemon.repeated_audit import RepeatedAudit
from bascule.daemon.sessions.unlogged import Unlogged
from bascule.daemon.trusted import TrustedFolders
from bascule.link.machine import (
    AgentInfo,
    AgentList,
    CheckDirectory,
    Conversations,
    Directory,
    EndAll,
    Ended,
    ListAgents,
    ListConversations,
    ListTrusted,
    MachineSettings,
    PauseDevice,
    ReadSettings,
    ReconnectAgent,
    Reconnected,
    TrustFolder,
)
from bascule.link.machine import (
    TrustedFolders as TrustedList,
)
from bascule.model.commands import Done, Envelope
from bascule.model.errors import LimitReached, StorageFailed
from bascule.model.settings import Settings
from bascule.session.ending import STORE_SECONDS
from bascule.store.base import AuditRecord
from bascule.store.limits import LimitsBook
from bascule.store.protocols import DaemonStore

log = logging.getLogger(__name__)

PAUSED_BY_HUB = "hub"


class Machine:
    def __init__(
        self,
        store: DaemonStore,
        repeated: RepeatedAudit,
        sessions: LiveSessions,
        launcher: Launching,
        states: AgentStates,
        unlogged: Unlogged,
        trusted: TrustedFolders,
        device: Device,
        settings: Settings,
        limits: LimitsBook,
    ) -> None:
        self._store, self._repeated = store, repeated
        self._sessions = sessions
        self._launcher = launcher
        self._states = states
        self._unlogged = unlogged
        self._trusted = trusted
        self._device = device
        self._settings = settings
        self._limits = limits
        self._pause_mark = Path(settings.data_dir) / "paused"

    def register(self, handlers: Handlers) -> None:
        handlers.add(ListAgents, self._list_agents, widens=widens_nothing)
        handlers.add(ListConversations, self._list_conversations, widens=widens_nothing)
        handlers.add(ReconnectAgent, self._reconnect, begins=True, widens=widens_nothing)
        handlers.add(CheckDirectory, self._check_directory, reads=True)
        handlers.add(TrustFolder, self._trust, widens=_widened_by_trust)
        handlers.add(ListTrusted, self._list_trusted, reads=True)
        handlers.add(ReadSettings, self._read_settings, reads=True)
        handlers.add(PauseDevice, self._pause, urgent=True, widens=self._widened_by_resuming)
        handlers.add(EndAll, self._end_all, urgent=True, widens=widens_nothing)

    def agents_at_first_glance(self) -> tuple[AgentInfo, ...]:
        """Without their versions, which take a while to ask for."""
        return self._with_states(self._launcher.at_first_glance())

    async def agents(self, *, refresh: bool = False) -> tuple[AgentInfo, ...]:
        return self._with_states(await self._launcher.agents(refresh=refresh))

    def _with_states(self, agents: tuple[AgentInfo, ...]) -> tuple[AgentInfo, ...]:
        return tuple(replace(agent, status=self._states.state_of(agent.name)) for agent in agents)

    async def _list_agents(self, envelope: Envelope[ListAgents]) -> AgentList:
        return AgentList(agents=await self.agents(refresh=envelope.command.refresh))

    async def _list_conversations(self, envelope: Envelope[ListConversations]) -> Conversations:
        return await self._states.conversations(envelope.command.agent)

    async def _reconnect(self, envelope: Envelope[ReconnectAgent]) -> Reconnected:
        command = envelope.command
        status = await self._states.reconnect(command.agent, envelope.by, command.session_id)
        return Reconnected(status=status)

    async def _check_directory(self, envelope: Envelope[CheckDirectory]) -> Directory:
        real = self._checked(envelope.command.path)
        return Directory(path=real, files=await asyncio.to_thread(count_files, real, *git_environment()))

    def _checked(self, folder: str) -> str:
        return check_directory(folder, self._launcher.roots, self._launcher.own)[0]

    async def _list_trusted(self, envelope: Envelope[ListTrusted]) -> TrustedList:
        return TrustedList(folders=tuple(self._trusted.all()))

    async def _trust(self, envelope: Envelope[TrustFolder]) -> Directory:
        command = envelope.command
        # A folder that is gone can still be taken off the list.
        path = self._checked(command.path) if command.trusted else command.path
        self._trusted.change(path, trusted=command.trusted)
        detail = f"{'trusted' if command.trusted else 'no longer trusts'} {path}"
        await self._audit(AuditRecord.of(envelope.by, "rule", detail=detail))
        return Directory(path=path)

    async def _read_settings(self, envelope: Envelope[ReadSettings]) -> MachineSettings:
        return MachineSettings(
            limits=asdict(self._limits.now),
            terminal=asdict(self._settings.terminal),
            roots=tuple(self._launcher.roots),
            config_file=str(Path(self._settings.config_dir) / "config.toml"),
        )

    async def _pause(self, envelope: Envelope[PauseDevice]) -> Done:
        if envelope.command.paused:
            self._mark_paused(by_hub=bool(envelope.by.via))
        else:
            self._pause_mark.unlink(missing_ok=True)
        detail = "paused" if envelope.command.paused else "resumed"
        await self._audit(AuditRecord.of(envelope.by, "mode", detail=detail))
        return Done()

    def _mark_paused(self, *, by_hub: bool) -> None:
        """A hub may take back its own pause, and none that was made on this machine."""
        if by_hub and self.paused:
            return
        self._pause_mark.touch(mode=0o600)
        self._pause_mark.write_text(PAUSED_BY_HUB if by_hub else "")

    def _widened_by_resuming(self, command: PauseDevice) -> str:
        return "end a pause that was made there" if not command.paused and self.paused_here else ""

    @property
    def paused_here(self) -> bool:
        """By its own person, so only they can end it."""
        return self.paused and self._pause_mark.read_text() != PAUSED_BY_HUB

    @property
    def paused(self) -> bool:
        return self._pause_mark.exists()

    def check_not_paused(self) -> None:
        if self.paused:
            raise LimitReached(
                f"{self._device.name} is paused and takes no new sessions. `bascule daemon resume` ends that."
            )

    async def _end_all(self, envelope: Envelope[EndAll]) -> Ended:
        """The panic button: tells everything to stop before it waits for anything."""
        by = envelope.by.name
        endings = [live.end("killed", by) for live in list(self._sessions.live.values())]
        begun = [ending for ending in endings if ending is not None]
        if begun:  # the agents stop even when a full disk does not take the news
            await asyncio.wait(begun, timeout=STORE_SECONDS)
        waiting = await self._states.end_all("killed", by)
        ended = len(begun) + waiting + await self._unlogged.end_all()
        try:
            detail = f"everything on {self._device.name}: {ended}"
            await self._audit(AuditRecord.of(envelope.by, "session_ended", detail=detail))
        except StorageFailed as error:  # they are stopped all the same
            log.warning("that everything was stopped is not in the audit log: %s", error.message)
        return Ended(ended=ended)

    async def _audit(self, record: AuditRecord) -> None:
        if record.via:
            await self._repeated.add(record)
        else:
            await self._store.audit([record])


def _widened_by_trust(command: TrustFolder) -> str:
    return "trust a folder" if command.trusted else ""
