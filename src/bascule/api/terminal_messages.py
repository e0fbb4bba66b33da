"""The hub's messages over a terminal's socket, beside the tape's bytes; each has its `type` as its tag."""

from typing import Literal

from msgspec import field

from bascule.api.pushes import Ended, Problem
from bascule.api.view import View
from bascule.link.tape import Arrangement


class TerminalBegan(View, frozen=True, kw_only=True, tag="begin"):
    """The first message: where in the tape the bytes begin that follow."""

    offset: int
    base: int  # the first byte that is kept
    end: int
    run: int  # the number of the event that started this terminal
    epoch: str
    prelude: str  # what a screen must be sent first, to show the bytes as they were meant
    cols: int
    rows: int
    read_only: bool
    over: bool


class TerminalReplaced(View, frozen=True, kw_only=True, tag="resync"):
    """The tape is another one than the reader has, or shorter: it begins again."""

    reason: Literal["replaced", "ahead"]
    epoch: str
    message: str


class TerminalSkipped(View, frozen=True, kw_only=True, tag="skipped"):
    """The viewer was too slow, or the bytes are not kept any more."""

    since: int = field(name="from")
    to: int
    prelude: str


class TerminalEnded(View, frozen=True, kw_only=True, tag="ended"):
    code: int | None
    signal: int | None
    reason: str | None
    message: str | None


class TerminalSize(Arrangement, frozen=True, tag="size"):
    """A terminal's size, as one viewer sees it."""


class TerminalTyping(View, frozen=True, kw_only=True, tag="typing"):
    by: str


class TerminalUnread(View, frozen=True, kw_only=True, tag="unread"):
    """What was typed and the program has not read yet."""

    waiting: int = field(name="bytes")


TerminalMessage = (
    TerminalBegan
    | TerminalReplaced
    | TerminalSkipped
    | TerminalEnded
    | TerminalSize
    | TerminalTyping
    | TerminalUnread
    | Problem
    | Ended
)
