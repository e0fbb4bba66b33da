"""Builds the parts that begin, adopt and accompany this machine's sessions."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from bascule.daemon.inputs import Inputs
from bascule.daemon.reconnecting.agent_states import AgentStates
from bascule.daemon.registry.labels import Labels
from bascule.daemon.registry.live_sessions import LiveSessions
from bascule.daemon.registry.spending import SpendingBook
from bascule.daemon.registry.tape_archive import TapeArchive
from bascule.daemon.rules import Rules
from bascule.daemon.sessions.adopting import Adopter
from bascule.daemon.sessions.agent_services import AgentServices
from bascule.daemon.sessions.keep_awake import KeepAwake, awake_command
from bascule.daemon.sessions.starting import Starter
from bascule.daemon.sessions.taking_up import TakingUp
from bascule.daemon.sessions.unlogged import Unlogged
from bascule.daemon.trusted import TrustedFolders
from bascule.link.frames import AnyFrame
from bascule.store.base import Committed

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SessionParts:
    inputs: Inputs
    live: LiveSessions
    starter: Starter
    adopter: Adopter
    services: AgentServices
    unlogged: Unlogged
    states: AgentStates
    spending: SpendingBook
    labels: Labels
    awake: KeepAwake

    def listeners(self) -> tuple[Callable[[Committed], None], ...]:
        """Those that hear what is committed to the store."""
        return self.labels.committed, self.awake.committed, self.spending.committed

    async def open(self, listen: Callable[[], None]) -> None:
        """Take up every session that was running when we were last here; `listen` comes before the first."""
        kept = await self.live.open()
        alive = {name for name, process in kept.items() if process.exit is None}
        await asyncio.to_thread(self.inputs.launcher.sweep, alive)
        listen()
        await self.spending.open()
        self.unlogged.keep(await self.adopter.adopt_all(kept, self.services.terminals.adopt))
        self.awake.open([session.ledger.record for session in self.live.live.values()])
        await self.live.watch()
        await self.states.open()

    async def close(self) -> None:
        await self.awake.close()
        await self.labels.close()
        await self.states.close()


def session_parts(
    inputs: Inputs,
    rules: Rules,
    trusted: TrustedFolders,
    lock: asyncio.Lock,
    tell: Callable[[AnyFrame], None],
) -> SessionParts:
    """`lock` keeps commands for sessions that are not running in order; `tell` brings news to every hub."""
    store, settings, launcher, clock = inputs.store, inputs.settings, inputs.launcher, inputs.clock
    live = _live_sessions(inputs, trusted, rules)
    services = AgentServices(settings, live)
    live.spending = spending = SpendingBook(store, inputs.device.id, clock)
    starter = Starter(store, live, launcher, inputs.device, services, clock)
    adopter = Adopter(store, live, launcher, services, clock)
    taking_up = TakingUp(store, live, launcher, adopter, inputs.device, clock)
    return SessionParts(
        inputs,
        live,
        starter,
        adopter,
        services,
        Unlogged(store, live, taking_up, inputs.folder, services.terminals.adopt),
        AgentStates(store, live, starter, lock, settings, tell, clock, inputs.steady, inputs.pauses),
        spending,
        Labels(live.keeper, live.live.get, adopter.started),
        KeepAwake(awake_command() if settings.keep_awake else (), live.live.get),
    )


def _live_sessions(inputs: Inputs, trusted: TrustedFolders, rules: Rules) -> LiveSessions:
    terminal = inputs.settings.terminal
    return LiveSessions(
        inputs.folder / "keeper",
        inputs.limits,
        terminal,
        inputs.settings.acp,
        TapeArchive(inputs.folder / "tapes", terminal.shelf_bytes, log.info),
        trusted.trusts,
        inputs.clock,
        inputs.steady,
        rules.verdict,
    )
