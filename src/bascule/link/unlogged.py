"""Commands about processes that run without a log."""

from msgspec import Struct

from bascule.model.commands import Command
from bascule.model.fields import Name


class UnloggedProcess(Struct, frozen=True, rename="camel", kw_only=True):
    """One such process, as far as the keeper knows it."""

    name: str  # the keeper's name of it
    running: bool
    pid: int | None = None
    argv: tuple[str, ...] = ()
    cwd: str = ""
    started_at: str = ""  # "" when the keeper is too old to know
    kept_bytes: int = 0  # of its output that can still be read
    session_ids: tuple[str, ...] = ()  # of the sessions it was started for
    agent: str = ""
    title: str = ""
    can_take_up: bool = False
    problem: str = ""  # why it has no log, and what can be done


class UnloggedList(Struct, frozen=True, rename="camel"):
    processes: tuple[UnloggedProcess, ...]


class ListUnlogged(Command[UnloggedList], frozen=True, kw_only=True):
    """The processes the keeper holds that no session of the log owns."""


class TakenUp(Struct, frozen=True, rename="camel"):
    session_ids: tuple[str, ...]


class TakeUpProcess(Command[TakenUp], frozen=True, kw_only=True):
    """Give such a process a log again, from what is kept of its output. Answers with the sessions."""

    name: Name


class PutAside(Struct, frozen=True, rename="camel"):
    """`folder` holds what was kept of its output."""

    folder: str


class EndProcess(Command[PutAside], frozen=True, kw_only=True):
    """End such a process and put what is kept of its output aside. Answers with where that is."""

    name: Name


UnloggedCommand = ListUnlogged | TakeUpProcess | EndProcess
