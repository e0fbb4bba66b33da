"""Temporary folders of caged processes: one each, removed when its process is gone."""

import os
import shutil
from collections.abc import Container
from pathlib import Path


class TempFolders:
    def __init__(self, state_folder: Path) -> None:
        self._folder = state_folder / "cages"

    def of(self, name: str) -> str:
        """The path for a process of this name; nothing is made."""
        return str(self._folder / name)

    def make(self, name: str) -> None:
        os.makedirs(self._folder / name, mode=0o700, exist_ok=True)

    def sweep(self, alive: Container[str]) -> None:
        """Remove those of processes that are gone. What can't be removed is tried again the next time."""
        if not self._folder.is_dir():
            return
        for one in self._folder.iterdir():
            if one.name not in alive:
                shutil.rmtree(one, ignore_errors=True)
