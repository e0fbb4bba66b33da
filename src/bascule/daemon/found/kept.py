"""Conversations that agents keep on disk, each in a file of its own or in rows of a database."""

import os
from collections.abc import Callable, Iterator
from importlib import import_module

from msgspec import Struct

from bascule.daemon.files.confined import ConfinedFolder
from bascule.daemon.found import sqlite_history
from bascule.daemon.found.places import Place, Spotted, spot
from bascule.drivers.history.builder import History
from bascule.drivers.line_splitter import LineSplitter, Oversize
from bascule.model.errors import HostError

MAX_FILE = 512 * 1024 * 1024
CHUNK = 256 * 1024

Lines = Callable[[], Iterator[bytes]]
FORMATS = ("claude", "codex", "gemini", "copilot")  # of files; each has a module in drivers/history


class Unreadable(HostError):
    """The conversation exists but can't be read; the message says why."""


class KeptConversation(Struct, frozen=True):
    """One conversation. `stamp` differs when it may have changed; `modified` is in seconds."""

    key: str
    agent: str
    stamp: str
    modified: float
    read: Callable[[], History]


class Cabinet:
    """All conversations of one agent on this machine. Its methods block, and are called in a thread."""

    def __init__(self, home: str, own: tuple[str, ...], place: Place) -> None:
        self.place = place
        self._home = home
        self._own = own
        self._database: tuple[str, list[KeptConversation]] = ("", [])

    def look(self) -> list[KeptConversation]:
        found: list[KeptConversation] = []
        for spotted in spot(self._home, self.place.files):
            if self.place.format in FORMATS:
                found.append(self._file(spotted))
            else:
                found += self._rows(spotted)
        return found

    def again(self, kept: KeptConversation) -> KeptConversation | None:
        """The same conversation as it is now; None when it is gone."""
        if self.place.format not in FORMATS:
            return next((one for one in self.look() if one.key == kept.key), None)
        path = kept.key.removeprefix(f"{self.place.agent}:")
        for spotted in spot(self._home, _literal(path)):
            return self._file(spotted)
        return None

    def _file(self, spotted: Spotted) -> KeptConversation:
        return KeptConversation(
            f"{self.place.agent}:{spotted.path}",
            self.place.agent,
            spotted.stamp,
            spotted.modified_ns / 1e9,
            lambda: self._read(spotted.path),
        )

    def _read(self, path: str) -> History:
        with ConfinedFolder(self._home, self._own).file(path) as (descriptor, info):
            if info.st_size > MAX_FILE:
                raise Unreadable(f"{path} is larger than {MAX_FILE >> 20} MiB.")
            return _reader(self.place.format)(lambda: whole_lines(descriptor, info.st_size))

    def _rows(self, spotted: Spotted) -> list[KeptConversation]:
        """Rows are looked at again only when the database, or what waits to go into it, changed."""
        stamp = sqlite_history.stamp(self._home, spotted)
        if stamp != self._database[0]:
            sessions = sqlite_history.sessions(self._home, spotted)
            self._database = (stamp, [self._row(spotted, session) for session in sessions])
        return self._database[1]

    def _row(self, spotted: Spotted, session: sqlite_history.Listed) -> KeptConversation:
        return KeptConversation(
            f"{self.place.agent}:{spotted.path}#{session.session_id}",
            self.place.agent,
            f"{session.updated}",
            session.updated / 1000,
            lambda: sqlite_history.read(self._home, spotted, session.session_id),
        )


def _reader(name: str) -> Callable[[Lines], History]:
    """Imported with the first conversation of its format: no start of the server waits for it."""
    return import_module(f"bascule.drivers.history.{name}").read


def whole_lines(descriptor: int, size: int) -> Iterator[bytes]:
    """The lines that are finished. The last one may still be written, and is left for the next time."""
    splitter = LineSplitter()
    offset = 0
    while offset < size:
        chunk = os.pread(descriptor, min(CHUNK, size - offset), offset)
        if not chunk:
            return
        offset += len(chunk)
        for line in splitter.feed(chunk):
            yield line.head if isinstance(line, Oversize) else line


def _literal(path: str) -> str:
    """A pattern that only this path fits."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in path)
