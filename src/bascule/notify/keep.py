"""Storage of notification settings and keys: a folder, or the database that a hub's nodes share."""

import os
from pathlib import Path
from typing import Protocol

from bascule.model.errors import StorageFailed


class Keep(Protocol):
    def read(self, name: str) -> bytes | None:
        """Raises `StorageFailed`."""
        ...

    def write(self, name: str, data: bytes) -> None: ...


class FolderKeep:
    """Private files, because addresses and tokens of channels are secrets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            words = f"{self._folder / name} can't be read ({error}); correct or remove it."
            raise StorageFailed(words) from error

    def write(self, name: str, data: bytes) -> None:
        write_private(self._folder / name, data)


def keep_in(place: Path | Keep) -> Keep:
    return FolderKeep(place) if isinstance(place, Path) else place


def write_private(path: Path, data: bytes) -> None:
    """For this user's eyes, on the disk before it is used, and never half."""
    fresh = path.with_name(path.name + ".new")
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        raise StorageFailed(f"{path.name} could not be stored ({error.strerror}).") from error
