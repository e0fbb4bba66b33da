"""Tells which command goes on with a session in a terminal of this machine, with its agents and folders."""

import asyncio

from bascule.daemon.found.sessions import FoundSessions
from bascule.daemon.handlers import Handlers
from bascule.launch.conversation import Resuming, resume_command, start_of
from bascule.link.found import ResumeCommand, ShowResumeCommand
from bascule.model.commands import Envelope
from bascule.model.errors import SessionNotFound
from bascule.store.protocols import DaemonStore


class ResumeCommands:
    def __init__(self, store: DaemonStore, found: FoundSessions, resuming: Resuming, data_dir: str) -> None:
        self._store, self._found = store, found
        self._resuming, self._data_dir = resuming, data_dir

    def register(self, handlers: Handlers) -> None:
        handlers.add(ShowResumeCommand, self._show, reads=True)

    async def _show(self, envelope: Envelope[ShowResumeCommand]) -> ResumeCommand:
        session_id = envelope.command.session_id
        record = await self._store.session(session_id)
        if record is None:
            raise SessionNotFound(session_id)
        terminal = self._found.terminal_of(session_id) if record.found else None
        # Looks for the agent's program on the disk.
        start = await asyncio.to_thread(start_of, record, self._resuming, self._data_dir, terminal)
        return ResumeCommand(command=resume_command(start, record.cwd), argv=start.argv)
