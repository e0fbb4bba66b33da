"""The interface of an agent's process, as a session uses it. Tests provide their own."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from bascule.model.errors import BasculeError, HostError
from bascule.model.records import Write
from bascule.transport.keeper_messages import Cage


class ProcessUnreachable(HostError):
    """The keeper does not answer; the agent may or may not be alive."""

    code = "AGENT_UNREACHABLE"


class SpawnPlan(Struct, frozen=True):
    """Everything needed to start an agent's process."""

    spawn_id: str  # the same plan carried out twice starts one process
    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    cwd_stat: tuple[int, int]  # device and inode, checked again at the moment of the spawn
    pty: tuple[int, int] | None = None
    cage: Cage | None = None  # the walls that the keeper puts around it
    label: str = ""  # what the keeper is to tell of it again, should nobody else know it any more


class Exit(Struct, frozen=True):
    code: int | None
    signal: int | None
    out_end: int
    err_end: int
    lost: bool = False  # the keeper died: nobody saw the exit


class AgentProcess(Protocol):
    """One agent process, reached through the keeper. All offsets count bytes since its start."""

    async def spawn(self, plan: SpawnPlan) -> int:
        """Start it (or find it started) and give its pid. Raises `AgentFailed` in words."""
        ...

    async def write(self, write: Write) -> None:
        """Returns once every byte is in the agent's stdin; a write seen before is not written again."""
        ...

    async def unread(self) -> int | None:
        """How many bytes the agent has not read, in the keeper and in its pipe. None if unknown."""
        ...

    async def end(self) -> None:
        """Begin the end: stdin closed, then TERM, then KILL of the whole tree. The exit comes later."""
        ...

    async def kill(self) -> None:
        """End it without waiting for it to finish anything."""
        ...

    async def forget(self) -> None:
        """Drop what the keeper holds of a process that is over."""
        ...

    def read_out(self, offset: int, limit: int) -> bytes: ...

    def read_err(self, offset: int, limit: int) -> bytes: ...

    def position(self, *, out: int, err: int, trim_out: int, trim_err: int) -> None:
        """Tell how far we have read, and how far it may be forgotten."""
        ...

    def close(self) -> None:
        """Let go of files; the process goes on."""
        ...


class TerminalProcess(AgentProcess, Protocol):
    """A process in a terminal. Keys and sizes are posted in order: no task and no future for each."""

    def post_write(self, write: Write, delivered: Callable[[BasculeError | None], None]) -> None:
        """Calls `delivered` once: with None when the program's input has the bytes, or with why it has not.

        Raises `ProcessUnreachable` when that is known at once.
        """
        ...

    def post_resize(self, cols: int, rows: int) -> None:
        """Set the size and send SIGWINCH. Raises `ProcessUnreachable`; a later failure is only logged."""
        ...
