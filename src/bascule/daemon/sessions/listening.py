"""Looks up the TCP addresses that a session's agent listens on, on request only."""

import asyncio

from bascule.daemon.handlers import Handlers
from bascule.daemon.processes.listeners import Family, look
from bascule.daemon.registry.live_sessions import LiveSessions, process_name
from bascule.link.listening import FindListeners, Listening
from bascule.model.commands import Envelope
from bascule.model.errors import AgentFailed, HostError, SessionNotFound
from bascule.store.protocols import DaemonStore
from bascule.transport.errors import KeeperError, KeeperGone

NO_KEEPER = "The keeper, which holds this machine's agents, does not answer. Ask again in a moment."


class ListenerSearch:
    def __init__(self, store: DaemonStore, sessions: LiveSessions) -> None:
        self._store = store
        self._sessions = sessions
        self._turn = asyncio.Lock()  # many viewers cost one look at a time

    def register(self, handlers: Handlers) -> None:
        handlers.add(FindListeners, self._find, reads=True)

    async def _find(self, envelope: Envelope[FindListeners]) -> Listening:
        session_id = envelope.command.session_id
        live = self._sessions.live.get(session_id)
        if live is None:
            if await self._store.session(session_id) is None:
                raise SessionNotFound(session_id)
            return Listening(running=False)
        name = process_name(live.ledger.record)
        family = await self._family(session_id, name)
        if not family.leaders:
            return Listening(running=False)
        process = self._sessions.connections.get(name)
        async with self._turn:
            return await asyncio.to_thread(
                look, family, shared=process is not None and len(process.slots) > 1
            )

    async def _family(self, session_id: str, name: str) -> Family:
        try:
            keeper = self._sessions.keeper.get()
            pid, kept = (await keeper.hello()).pid, await keeper.list()
        except (KeeperError, KeeperGone, HostError) as error:
            raise AgentFailed(NO_KEEPER) from error
        running = {one.session: one.pid for one in kept if one.exit is None and one.pid}
        # Programs that the keeper runs for an agent have the session's id before the point.
        own = {
            kept: pid for kept, pid in running.items() if kept == name or kept.startswith(f"{session_id}.")
        }
        alone = len(own) == len(running)
        return Family(frozenset(own.values()), frozenset(own), orphans_of=pid if alone else 0)
