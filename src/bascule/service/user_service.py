"""Interface of a user's service, whichever system runs it: installed, described and removed alike."""

import os
import tempfile
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from bascule.model.errors import HostError


class ServiceFailed(HostError):
    """The system's own service manager refused, or is not there; the message has its words."""

    code = "SERVICE_FAILED"


class ServiceState(Struct, frozen=True, kw_only=True):
    """`starts` says when it starts by itself; empty when it does not."""

    installed: bool
    current: bool  # its file is what this version would write
    running: bool
    starts: str = ""
    advice: str = ""
    file: str = ""


class UserService(Protocol):
    file: Path  # that makes it start by itself

    def install(self, *, restart: bool = False) -> bool:
        """Write the file and start the service; whether the file had to change."""
        ...

    def state(self) -> ServiceState: ...

    def is_wanted(self) -> bool:
        """Whether it starts by itself, by the files on the disk alone: no program is run."""
        ...

    def uninstall(self) -> bool:
        """Stop it and remove its file; whether there was one."""
        ...

    def log_command(self) -> str:
        """How a person reads what it printed."""
        ...


def write_if_changed(path: Path, content: bytes) -> bool:
    """Replace the file in one step, unless it already says this."""
    try:
        if path.read_bytes() == content:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, fresh = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.chmod(fresh, 0o644)
        os.replace(fresh, path)
    except OSError:
        os.unlink(fresh)
        raise
    return True
