"""The frames of terminals: one stream of bytes for each `tape`, a number that the hub chooses."""

from typing import Annotated

from msgspec import Meta

from bascule.link.frame import Frame, Whole
from bascule.link.tape import Arrangement
from bascule.model.commands import Actor
from bascule.model.errors import Refusal
from bascule.model.fields import Cells, Name

TapeNumber = Annotated[int, Meta(ge=0, le=2**32 - 1)]  # fits the header of a binary message


class OpenTape(Frame, frozen=True):
    """Send a terminal's output from `after`, or else about its last `tail` bytes; at first up to `credit`."""

    tape: TapeNumber
    session_id: Name
    run: Whole
    credit: Whole
    after: Whole | None = None
    tail: Whole = 0


class TapeOpened(Frame, frozen=True):
    """Output follows from `offset`; a viewer's terminal needs `prelude` before it."""

    tape: TapeNumber
    offset: Whole
    base: Whole
    end: Whole
    over: bool = False
    prelude: bytes = b""


class TapePiece(Frame, frozen=True):
    """Output from `offset` on. A binary message on the wire."""

    tape: TapeNumber
    offset: Whole
    data: bytes


class TapeState(Frame, frozen=True):
    """The tape grew, was trimmed, or has ended, beyond what was sent."""

    tape: TapeNumber
    base: Whole
    end: Whole
    over: bool = False
    refusal: Refusal | None = None  # why it could not be opened


class TapeCredit(Frame, frozen=True):
    """Output up to this offset may be sent."""

    tape: TapeNumber
    upto: Whole


class TailTape(Frame, frozen=True):
    """Where does a viewer begin that wants about the last `limit` bytes? `n` numbers the question."""

    tape: TapeNumber
    n: Whole
    limit: Whole


class TapeTailed(Frame, frozen=True):
    """The answer to `TailTape`."""

    tape: TapeNumber
    n: Whole
    offset: Whole
    prelude: bytes = b""


class AskFirst(Frame, frozen=True):
    """May a viewer's terminal answer what the program asked before it came? `n` numbers the question."""

    tape: TapeNumber
    n: Whole


class ToldFirst(Frame, frozen=True):
    """The answer to `AskFirst`: yes, for one viewer of each run and only just after its start."""

    tape: TapeNumber
    n: Whole
    first: bool


class TapeTyped(Frame, frozen=True):
    """Keys for the program. `n` counts them, from 1; `reply` marks a terminal's own answer to a question.

    `seat` is the number of the participant who typed; 0 for a reply.
    """

    tape: TapeNumber
    n: Whole
    data: bytes
    by: Actor
    reply: bool = False
    seat: Whole = 0


class TapeDelivered(Frame, frozen=True):
    """What became of the keys up to `n`: the program has them, or why not."""

    tape: TapeNumber
    n: Whole
    refusal: Refusal | None = None


class TakeSeat(Frame, frozen=True):
    """A viewer joins in arranging this terminal: a participant, to which the hub gives the number `seat`."""

    tape: TapeNumber
    seat: Whole
    by: Actor
    may_write: bool


class SizeSeat(Frame, frozen=True):
    tape: TapeNumber
    seat: Whole
    cols: Cells
    rows: Cells


class ClaimSeat(Frame, frozen=True):
    tape: TapeNumber
    seat: Whole


class LeaveSeat(Frame, frozen=True):
    tape: TapeNumber
    seat: Whole


class SeatArranged(Frame, frozen=True):
    tape: TapeNumber
    seat: Whole
    arrangement: Arrangement


class SeatElected(Frame, frozen=True):
    """This viewer's terminal answers the program's queries from now on."""

    tape: TapeNumber
    seat: Whole


class SomebodyTypes(Frame, frozen=True):
    """Another viewer than this participant types."""

    tape: TapeNumber
    seat: Whole
    name: str


class RedrawTape(Frame, frozen=True):
    tape: TapeNumber
    seat: Whole


class CloseTape(Frame, frozen=True):
    tape: TapeNumber
