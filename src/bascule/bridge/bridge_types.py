"""Types of a bridge: start options, the session, and errors."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from bascule.model.errors import CallerError, HostError


class BridgeError(HostError):
    """Something about a bridge's session went wrong."""

    code = "BRIDGE_ERROR"


class SessionExists(CallerError):
    code = "SESSION_EXISTS"


class NoSession(CallerError):
    """There is no such session, or it has ended."""

    code = "SESSION_NOT_FOUND"


class NotStarted(BridgeError):
    code = "AGENT_FAILED"


class NoOutput(BridgeError):
    """The program printed nothing for too long after its start, so the watchdog killed it."""

    code = "AGENT_SILENT"


def _ignore(*_: object) -> None:
    """The default callback: does nothing."""


@dataclass(frozen=True, kw_only=True)
class StartOptions:
    """Callbacks run on the event loop and must not block; `on_exit` gets the code and the signal."""

    working_dir: str = field(default_factory=lambda: str(Path.cwd()))
    dangerously_skip_permissions: bool = False
    on_output: Callable[[str], None] = _ignore
    on_exit: Callable[[int | None, int | None], None] = _ignore
    on_error: Callable[[Exception], None] = _ignore
    cols: int = 80
    rows: int = 24
    login: bool = False  # of a shell


class Process(NamedTuple):
    """The program's process, and the name the keeper knows it by."""

    pid: int
    name: str


@dataclass
class BridgeSession:
    process: Process
    working_dir: str
    created: datetime
    active: bool = True
    kill_timeout: asyncio.TimerHandle | None = None  # set while a stop waits for the end


class SessionInfo(NamedTuple):
    id: str
    working_dir: str
    created: datetime
    active: bool
