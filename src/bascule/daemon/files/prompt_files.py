"""Reads and writes the Markdown files of the prompt library, in a folder below the roots."""

import asyncio
from collections.abc import Callable, Iterator

from bascule.daemon.files.confined import ConfinedFolder, FileForbidden
from bascule.daemon.files.directories import check_directory
from bascule.daemon.files.file_writing import write_file
from bascule.daemon.files.folder_listing import is_binary, list_files, read_bytes
from bascule.daemon.handlers import Handlers
from bascule.link.prompts import MAX_FILES, PromptFile, PromptFiles, ReadPromptFiles, WritePromptFiles
from bascule.model.commands import Envelope
from bascule.model.errors import CallerError
from bascule.model.fields import MAX_TEXT
from bascule.model.settings import Settings

ENDINGS = (".md", ".markdown", ".toml")
# Settings of agents and programs are such files, too, and a hub names the folder.
WRITES = "write prompt files"
MAX_FOLDERS = 500
MAX_DEPTH = 8
MAX_ALL = 32 * 1024 * 1024  # bytes of one import
SKIPPED = ("node_modules",)


class PromptFolders:
    def __init__(self, settings: Settings, roots: Callable[[], tuple[str, ...]]) -> None:
        self._roots = roots
        self._own = (settings.data_dir, settings.config_dir)

    def register(self, handlers: Handlers) -> None:
        handlers.add(ReadPromptFiles, self._read, alone=True, reads=True)
        handlers.add(WritePromptFiles, self._write, alone=True, widens=lambda _: WRITES)

    async def _read(self, envelope: Envelope[ReadPromptFiles]) -> PromptFiles:
        return await asyncio.to_thread(self._read_all, envelope.command.folder)

    async def _write(self, envelope: Envelope[WritePromptFiles]) -> PromptFiles:
        return await asyncio.to_thread(self._write_all, envelope.command.folder, envelope.command.files)

    def _read_all(self, folder: str) -> PromptFiles:
        real, confined = self._confined(folder)
        files: list[PromptFile] = []
        left = MAX_ALL
        for path in _paths_in(confined):
            if len(files) == MAX_FILES or left <= 0:
                return PromptFiles(folder=real, files=tuple(files), cut=True)
            file = _read_one(confined, path)
            left -= len(file.text)
            files.append(file)
        return PromptFiles(folder=real, files=tuple(files))

    def _write_all(self, folder: str, files: tuple[PromptFile, ...]) -> PromptFiles:
        real, confined = self._confined(folder)
        failed: list[PromptFile] = []
        for file in files:
            try:
                _check_name(file.path)
                write_file(confined, file.path, file.text.encode())
            except CallerError as error:
                failed.append(PromptFile(file.path, problem=error.message))
        return PromptFiles(folder=real, files=tuple(failed))

    def _confined(self, folder: str) -> tuple[str, ConfinedFolder]:
        real, _ = check_directory(folder, self._roots(), self._own)
        return real, ConfinedFolder(real, self._own)


def _check_name(path: str) -> None:
    """Whatever the folder: a prompt is no program, and no hidden file."""
    name = path.rpartition("/")[2]
    if name.startswith(".") or not name.endswith(ENDINGS):
        raise FileForbidden(f"{path!r} is no name of a prompt: it ends with {', '.join(ENDINGS)}.")


def _paths_in(confined: ConfinedFolder) -> Iterator[str]:
    """Relative paths, a folder's own files before those below it; no link is followed."""
    folders = [""]
    for at, folder in enumerate(folders):
        if at == MAX_FOLDERS:
            return
        for item in list_files(confined, folder).items:
            path = f"{folder}/{item.name}" if folder else item.name
            deeper = item.kind == "folder" and path.count("/") < MAX_DEPTH
            if deeper and not item.name.startswith(".") and item.name not in SKIPPED:
                folders.append(path)
            elif item.kind == "file" and item.name.endswith(ENDINGS):
                yield path


def _read_one(confined: ConfinedFolder, path: str) -> PromptFile:
    try:
        with confined.file(path) as (descriptor, _):
            data = read_bytes(descriptor, MAX_TEXT + 1)
        if len(data) > MAX_TEXT:
            return PromptFile(path, problem=f"It is larger than {MAX_TEXT:,} bytes.")
        if is_binary(data):
            return PromptFile(path, problem="It is no text.")
        return PromptFile(path, data.decode())
    except UnicodeDecodeError:
        return PromptFile(path, problem="Its text is not UTF-8; save it as UTF-8 and import again.")
    except CallerError as error:
        return PromptFile(path, problem=error.message)
    except OSError as error:
        return PromptFile(path, problem=f"It can't be read: {error.strerror}.")
