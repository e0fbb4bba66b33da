"""Finds the files in which agents keep conversations: by exact patterns below the home, and no others.

Nothing is opened to find it but the folders on the way, each by its descriptor and never through a link.
"""

import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase

from msgspec import Struct

from bascule.daemon.files.confined import FOLDER
from bascule.policy.directories import hidden_character

MAX_FILES = 20_000
MAX_ENTRIES = 100_000  # of one folder


class Place(Struct, frozen=True):
    """Where one agent keeps its conversations. `live`: where it notes which ones are open in a terminal.

    `command` is what a person types to go on with one there; `{value}` stands for the agent's own id of it.
    """

    agent: str
    format: str
    files: str
    live: str = ""
    command: str = ""
    rest_seconds: int = 0  # how long after its last words a conversation can't be resumed


class Spotted(Struct, frozen=True):
    """A file that fits a pattern: its path below the home, and what tells whether it changed."""

    path: str
    device: int
    inode: int
    size: int
    modified_ns: int

    @property
    def stamp(self) -> str:
        return f"{self.device}:{self.inode}:{self.size}:{self.modified_ns}"


def spot(home: str, pattern: str) -> list[Spotted]:
    """The files below `home` that fit, at most `MAX_FILES`; an absent folder has none."""
    try:
        top = os.open(home, FOLDER)
    except OSError:
        return []
    found: list[Spotted] = []
    for spotted in _walk(top, pattern.split("/"), ""):
        found.append(spotted)
        if len(found) >= MAX_FILES:
            break
    return found


def _walk(folder: int, parts: list[str], above: str) -> Iterator[Spotted]:
    """Takes the descriptor over, and closes it."""
    try:
        names = _names(folder, parts[0])
        if len(parts) == 1:
            for name in names:
                info = _look(folder, name)
                if info is not None and stat.S_ISREG(info.st_mode):
                    yield Spotted(above + name, info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)
            return
        for name in names:
            try:
                below = os.open(name, FOLDER, dir_fd=folder)
            except OSError:
                continue  # no folder, or a link, or not ours to read
            yield from _walk(below, parts[1:], f"{above}{name}/")
    finally:
        os.close(folder)


def _names(folder: int, pattern: str) -> list[str]:
    if not any(sign in pattern for sign in "*?["):
        return [pattern]
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for n, entry in enumerate(entries):
                if n >= MAX_ENTRIES:
                    break
                hidden = entry.name.startswith(".") and not pattern.startswith(".")
                # A name with a line break or half a character in it is nobody's session.
                if not hidden and hidden_character(entry.name) is None and fnmatchcase(entry.name, pattern):
                    names.append(entry.name)
    except OSError:
        return []
    return sorted(names)


def _look(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
