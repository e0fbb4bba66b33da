"""The trusted folders: a small list on disk, read again for every question."""

import os
from pathlib import Path

import msgspec

from bascule.model.errors import BadDirectory, LimitReached

FILE = "trusted.json"
MAX_FOLDERS = 1000


class TrustedFolders:
    """Exact folders by their real path. A folder below a trusted one is not trusted."""

    def __init__(self, state_folder: Path) -> None:
        self._path = state_folder / FILE

    def all(self) -> list[str]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[str])
        except FileNotFoundError:
            return []

    def trusts(self, folder: str) -> bool:
        return os.path.realpath(folder) in self.all()

    def change(self, folder: str, *, trusted: bool) -> None:
        real = os.path.realpath(folder)
        if trusted and real in ("/", os.path.realpath(os.path.expanduser("~"))):
            raise BadDirectory(f"{real} holds everything; trust the folder of one project.")
        kept = [one for one in self.all() if one != real]
        if trusted:
            if len(kept) >= MAX_FOLDERS:
                raise LimitReached(f"{MAX_FOLDERS} folders are trusted already; take some back first.")
            kept.append(real)
        fresh = self._path.with_suffix(".new")
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(sorted(kept)))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
