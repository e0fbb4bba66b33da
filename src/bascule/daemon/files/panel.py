"""Answers what the page's panels ask about this machine's files: in a session's folder or below the roots."""

import asyncio
import os
from collections.abc import Callable

from bascule.daemon.files.changes import read_changes
from bascule.daemon.files.confined import ConfinedFolder
from bascule.daemon.files.directories import check_directory
from bascule.daemon.files.folders import complete
from bascule.daemon.files.listing import list_files, read_file
from bascule.link.files import ListFiles, ListFolders, ReadChanges, ReadFile
from bascule.model.codec import encode
from bascule.model.errors import SessionNotFound
from bascule.model.settings import Settings
from bascule.store.base import EventStore

AT_ONCE = 4  # slow disks and large repositories must not use up every thread


class Panel:
    def __init__(self, store: EventStore, settings: Settings, roots: Callable[[], tuple[str, ...]]) -> None:
        self._store = store
        self._roots = roots
        self._own = (settings.data_dir, settings.config_dir)
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def answer(self, command: ListFolders | ListFiles | ReadFile | ReadChanges) -> bytes:
        async with self._turn:
            match command:
                case ListFolders():
                    roots = self._roots()
                    return encode(
                        await asyncio.to_thread(complete, command.prefix, command.limit, roots, self._own)
                    )
                case ListFiles():
                    confined = ConfinedFolder(await self._folder(command.session_id), self._own)
                    return encode(await asyncio.to_thread(list_files, confined, command.path))
                case ReadFile():
                    confined = ConfinedFolder(await self._folder(command.session_id), self._own)
                    return encode(await asyncio.to_thread(read_file, confined, command.path, command.max))
                case ReadChanges():
                    folder = await self._folder(command.session_id)
                    confined = ConfinedFolder(folder, self._own)
                    path, home = os.environ.get("PATH", os.defpath), os.path.expanduser("~")
                    return encode(await asyncio.to_thread(read_changes, folder, confined, path, home))

    async def _folder(self, session_id: str) -> str:
        record = await self._store.session(session_id)
        if record is None or not record.cwd:
            raise SessionNotFound(session_id)
        if record.found:  # the folder is what a file on the disk says, and nobody has checked it yet
            return check_directory(record.cwd, self._roots(), self._own)[0]
        return record.cwd
