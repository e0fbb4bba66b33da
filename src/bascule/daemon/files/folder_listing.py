"""Lists a session's folders and reads its text files, for the files panel."""

import os
import stat

from bascule.daemon.files.confined import ConfinedFolder
from bascule.link.files import MAX_FILE, FileContent, FileItem, FileKind, FileList
from bascule.model.codec import timestamp

MAX_ITEMS = 2000
HIDDEN = (".git",)  # the repository's own files: nothing a person would open here
SNIFF = 8192  # bytes looked at to tell text from other things


def list_files(confined: ConfinedFolder, path: str) -> FileList:
    """Folders first, then by name. Links are named and not followed; git's own folder is left out."""
    items: list[FileItem] = []
    cut = False
    with confined.folder(path) as folder, os.scandir(folder) as entries:
        for entry in entries:
            if entry.name in HIDDEN:
                continue
            if len(items) == MAX_ITEMS:
                cut = True
                break
            try:
                info = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # it went away while we looked
            if confined.is_visible(info):
                items.append(FileItem(_name(entry.name), _kind(info), info.st_size, timestamp(info.st_mtime)))
    items.sort(key=lambda item: (item.kind != "folder", item.name.lower(), item.name))
    return FileList(path, items, cut)


def read_file(confined: ConfinedFolder, path: str, most: int) -> FileContent:
    most = max(0, min(most, MAX_FILE))
    with confined.file(path) as (descriptor, info):
        data = read_bytes(descriptor, most + 1)
    cut = len(data) > most
    binary = is_binary(data)
    text = "" if binary else data[:most].decode(errors="ignore" if cut else "replace")
    return FileContent(path, info.st_size, timestamp(info.st_mtime), binary, cut, text)


def read_bytes(descriptor: int, most: int) -> bytes:
    chunks: list[bytes] = []
    left = most
    while left > 0 and (chunk := os.read(descriptor, min(left, 65536))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def is_binary(data: bytes) -> bool:
    return b"\x00" in data[:SNIFF]


def _kind(info: os.stat_result) -> FileKind:
    if stat.S_ISDIR(info.st_mode):
        return "folder"
    if stat.S_ISREG(info.st_mode):
        return "file"
    return "link" if stat.S_ISLNK(info.st_mode) else "other"


def _name(name: str) -> str:
    """A name that is no UTF-8 is shown with marks in it; it can't be opened from here."""
    return os.fsencode(name).decode(errors="replace")
