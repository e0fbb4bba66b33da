"""What is asked about processes that run without a log, and what is answered."""

from msgspec import Struct

from bascule.model.commands import Actor
from bascule.model.events import snake


class UnloggedQuestion(Struct, frozen=True, tag_field="type", tag=snake):
    """The base of the questions here."""


class ListUnlogged(UnloggedQuestion, frozen=True):
    """The processes the keeper holds that no session of the log owns."""


class TakeUpProcess(UnloggedQuestion, frozen=True):
    """Give such a process a log again, from what is kept of its output. Answers with the sessions."""

    name: str
    by: Actor


class EndProcess(UnloggedQuestion, frozen=True):
    """End such a process and put what is kept of its output aside. Answers with where that is."""

    name: str
    by: Actor


class UnloggedProcess(Struct, frozen=True, rename="camel", kw_only=True):
    """One such process, as far as the keeper knows it."""

    name: str  # the keeper's name of it
    running: bool
    pid: int | None
    argv: tuple[str, ...]
    cwd: str
    started_at: str  # "" when the keeper is too old to know
    kept_bytes: int  # of its output that can still be read
    session_ids: tuple[str, ...] = ()  # of the sessions it was started for
    agent: str = ""
    title: str = ""
    can_take_up: bool = False
    problem: str  # why it has no log, and what can be done


class UnloggedList(Struct, frozen=True, rename="camel"):
    processes: tuple[UnloggedProcess, ...]


class TakenUp(Struct, frozen=True, rename="camel"):
    session_ids: tuple[str, ...]


class PutAside(Struct, frozen=True, rename="camel"):
    """`folder` holds what was kept of its output."""

    folder: str


UnloggedCommand = ListUnlogged | TakeUpProcess | EndProcess
