"""Handles the file commands of the page's panels: in a session's folder, or below the roots."""

import asyncio
import os
from collections.abc import Callable

from bascule.daemon.files.changes import read_changes
from bascule.daemon.files.confined import ConfinedFolder
from bascule.daemon.files.directories import check_directory
from bascule.daemon.files.finding import find_files
from bascule.daemon.files.folder_listing import list_files, read_file
from bascule.daemon.files.folders import complete
from bascule.daemon.handlers import Handlers
from bascule.link.files import (
    FileContent,
    FileList,
    FindFiles,
    Folders,
    FoundFiles,
    GitChanges,
    ListFiles,
    ListFolders,
    ReadChanges,
    ReadFile,
)
from bascule.model.commands import Envelope
from bascule.model.errors import SessionNotFound
from bascule.model.settings import Settings
from bascule.store.protocols import DaemonStore

AT_ONCE = 4  # slow disks and large repositories must not use up every thread


class Panel:
    def __init__(self, store: DaemonStore, settings: Settings, roots: Callable[[], tuple[str, ...]]) -> None:
        self._store = store
        self._roots = roots
        self.own = (settings.data_dir, settings.config_dir)
        self._turn = asyncio.Semaphore(AT_ONCE)

    def register(self, handlers: Handlers) -> None:
        handlers.add(ListFolders, self._list_folders, reads=True)
        handlers.add(ListFiles, self._list_files, reads=True)
        handlers.add(FindFiles, self._find_files, reads=True)
        handlers.add(ReadFile, self._read_file, reads=True)
        handlers.add(ReadChanges, self._read_changes, reads=True)

    async def _list_folders(self, envelope: Envelope[ListFolders]) -> Folders:
        command = envelope.command
        async with self._turn:
            return await asyncio.to_thread(complete, command.prefix, command.limit, self._roots(), self.own)

    async def _list_files(self, envelope: Envelope[ListFiles]) -> FileList:
        command = envelope.command
        async with self._turn:
            confined = ConfinedFolder(await self.folder_of(command.session_id), self.own)
            return await asyncio.to_thread(list_files, confined, command.path)

    async def _find_files(self, envelope: Envelope[FindFiles]) -> FoundFiles:
        command, (path, home) = envelope.command, git_environment()
        async with self._turn:
            folder = await self.folder_of(command.session_id)
            found = await asyncio.to_thread(
                find_files, folder, command.q, command.limit, self.own, path, home
            )
            return FoundFiles(found)

    async def _read_file(self, envelope: Envelope[ReadFile]) -> FileContent:
        command = envelope.command
        async with self._turn:
            confined = ConfinedFolder(await self.folder_of(command.session_id), self.own)
            return await asyncio.to_thread(read_file, confined, command.path, command.max)

    async def _read_changes(self, envelope: Envelope[ReadChanges]) -> GitChanges:
        path, home = git_environment()
        async with self._turn:
            folder = await self.folder_of(envelope.command.session_id)
            confined = ConfinedFolder(folder, self.own)
            return await asyncio.to_thread(read_changes, folder, confined, path, home)

    async def folder_of(self, session_id: str) -> str:
        record = await self._store.session(session_id)
        if record is None or not record.cwd:
            raise SessionNotFound(session_id)
        if record.found:  # the folder is what a file on the disk says, and nobody has checked it yet
            return check_directory(record.cwd, self._roots(), self.own)[0]
        return record.cwd


def git_environment() -> tuple[str, str]:
    """Where programs are, and whose settings git reads."""
    return os.environ.get("PATH", os.defpath), os.path.expanduser("~")
