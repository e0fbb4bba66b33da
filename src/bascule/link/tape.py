"""The interface to a device's terminal, as the hub uses it: read output, type, resize.

The device may be this machine (`daemon/terminals/tapes.py` reads the spool) or one behind a link, which
offers the same two protocols. The viewer can't tell the difference.
"""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from bascule.model.commands import Actor, Answer, SessionCommand
from bascule.model.errors import BasculeError


class TapeCut(Exception):
    """The bytes at this offset have been trimmed; the tape begins later now."""


class TapeTail(Struct, frozen=True):
    """An offset to begin reading at, and the escape sequences a viewer's terminal needs before it."""

    offset: int
    prelude: bytes


class TapeRead(Answer, frozen=True, kw_only=True):
    """A piece of a tape from `offset`. `times` has offsets, and the milliseconds since 1970 at each."""

    base: int
    end: int
    offset: int
    data: bytes
    times: tuple[tuple[int, int], ...]


class ReadTape(SessionCommand[TapeRead], frozen=True, kw_only=True):
    """Read from an offset, or from the tape's beginning when that was trimmed already."""

    run: int
    offset: int
    limit: int


class Arrangement(Struct, frozen=True):
    """A terminal's size, and whose window and whose terminal count, as one viewer sees it."""

    cols: int
    rows: int
    owner: bool  # this viewer's window decides the size
    by: str  # whose window does, or ""
    rule: str  # of choosing it
    replies: bool  # this viewer's terminal answers the program's queries


class ParticipantEvents(Protocol):
    """What a viewer learns of the others."""

    def arranged(self, arrangement: Arrangement) -> None: ...

    def elected(self) -> None:
        """From now on this viewer's terminal answers the program's queries."""
        ...

    def notify_typing(self, name: str) -> None:
        """Another viewer types."""
        ...


class Participant(Protocol):
    """One viewer's part in arranging a terminal. The device decides: its viewers may come by several hubs."""

    def resize(self, cols: int, rows: int) -> None:
        """This viewer's window has this size."""
        ...

    def claim(self) -> None:
        """This viewer's window and answers count, whatever the policy, until it leaves or another claims."""
        ...

    def typed(self) -> None: ...

    def redraw(self) -> None:
        """Have a full-screen program draw its screen again, for a viewer who has just come."""
        ...

    def leave(self) -> None: ...


class Tape(Protocol):
    """One viewer's access to one run of one terminal. Offsets count bytes since the run began.

    `type` only queues, in the order of the calls: no task, future or timer for each.
    """

    @property
    def base(self) -> int:
        """The oldest offset that can be read."""
        ...

    @property
    def end(self) -> int: ...

    @property
    def over(self) -> bool:
        """The program has ended: no bytes will be added."""
        ...

    def read(self, offset: int, limit: int) -> bytes:
        """At most `limit` bytes from `offset`; b"" when none are here yet. Raises `TapeCut`."""
        ...

    async def tail(self, limit: int) -> TapeTail:
        """Where a viewer that wants about the last `limit` bytes begins."""
        ...

    def type(self, data: bytes, by: Actor, *, reply: bool = False) -> None:
        """Write to the program's input. Never raises: `delivered`, given to `Tapes.open`, gets the outcome.

        `reply` marks a terminal's answer to the program's question, which is not a person typing.
        """
        ...

    async def first_to_answer(self) -> bool:
        """True once for each run, and only just after its start: the program may still wait for an answer."""
        ...

    def join(self, by: Actor, may_write: bool, events: ParticipantEvents) -> Participant:
        """Calls `events.arranged` soon, and for each change. One who may not write never decides the size."""
        ...

    def close(self) -> None:
        """Stop reading; no callback is called any more. What was typed is still delivered."""
        ...


# The outcome of one `Tape.type`: how many bytes it had, and None or why the program did not get them.
Delivered = Callable[[int, BasculeError | None], None]


class Tapes(Protocol):
    """The terminals of one device."""

    async def open(
        self,
        session_id: str,
        run: int,
        grew: Callable[[], None],
        delivered: Delivered,
        after: int | None = None,
        *,
        skips: bool = True,
    ) -> Tape:
        """`grew` is called when there may be more to read, or the end. It may read at once, and never raises.

        `delivered` is called once for each `type`. `after` is the offset from which the viewer reads on, if
        it has one; one that never `skips` wants everything, however slow it is.

        Raises `SessionNotFound`.
        """
        ...
