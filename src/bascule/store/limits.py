"""The limits in force: those of the settings, and what the owner changed while the server runs."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import asdict, replace

from bascule.model.errors import InvalidInput, StorageFailed
from bascule.model.settings import Limits

FILE = "limits.json"
HIGHEST = 10**15


class LimitsBook:
    """Changes are kept in the state folder and outlast a restart; a change to None takes one back."""

    def __init__(self, state_folder: Path, configured: Limits) -> None:
        self.configured = configured
        self._path = state_folder / FILE
        self._watchers: list[Callable[[Limits], None]] = []
        self.changed = self._read()
        self.now = replace(configured, **self.changed)

    def watch(self, changed: Callable[[Limits], None]) -> None:
        """Call it with the new limits after every change."""
        self._watchers.append(changed)

    def change(self, changes: Mapping[str, int | None]) -> None:
        """All or none. Raises `InvalidInput` for a name or a number that is none of a limit."""
        for name, value in changes.items():
            _check(name, value)
        wanted = {**self.changed, **changes}
        configured = asdict(self.configured)
        kept = {name: n for name, n in wanted.items() if n is not None and n != configured[name]}
        self._write(kept)
        self.changed, self.now = kept, replace(self.configured, **kept)
        for watcher in list(self._watchers):
            watcher(self.now)

    def _read(self) -> dict[str, int]:
        """What was changed before. A name of another version says nothing to this one."""
        try:
            kept = msgspec.json.decode(self._path.read_bytes(), type=dict[str, int])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError) as error:
            raise StorageFailed(f"{self._path} can't be read ({error}); correct or remove it.") from error
        return {name: n for name, n in kept.items() if name in Limits.__struct_fields__ and n >= 0}

    def _write(self, kept: dict[str, int]) -> None:
        fresh = self._path.with_suffix(".new")
        try:
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(msgspec.json.encode(kept))
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path)
        except OSError as error:
            raise StorageFailed(f"The limits could not be stored ({error.strerror}).") from error


def _check(name: str, value: int | None) -> None:
    if name not in Limits.__struct_fields__:
        raise InvalidInput(f"There is no limit {name[:60]!r}; see limits:show.")
    if value is not None and not 0 <= value <= HIGHEST:
        raise InvalidInput(f"{name} is a whole number from 0, which means no limit, to {HIGHEST}.")
