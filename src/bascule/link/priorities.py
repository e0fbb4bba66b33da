"""In which order frames are sent: how urgent each is, and which must not overtake one another."""

from enum import IntEnum

from bascule.link.frames import (
    Ack,
    AnyFrame,
    Ask,
    AuditHeld,
    AuditOutput,
    Cancel,
    Fetch,
    Reply,
    Resume,
    SessionDiverged,
    SessionForgotten,
    SessionHead,
    SessionOutput,
    Watching,
)
from bascule.link.tape_frames import (
    ClaimSeat,
    CloseTape,
    LeaveSeat,
    RedrawTape,
    SizeSeat,
    TakeSeat,
    TapeOpened,
    TapePiece,
    TapeState,
    TapeTailed,
    TapeTyped,
)
from bascule.model.commands import SessionCommand

SMALL = 4 * 1024  # bytes of an ask, a reply or a paste that may go before everything else


class Priority(IntEnum):
    URGENT = 0  # control, keys, small asks and replies: always first
    TAPE = 1  # terminal output
    LIVE = 2  # rows as they are written, and where the hub stands
    LARGE = 3  # asks and replies that are not small
    CATCHING_UP = 4  # rows that were written while the hub was away, and the audit chain


# What belongs together has one priority, whatever its size, so that it arrives in the order it was sent.
_FIXED: dict[type[AnyFrame], Priority] = {
    TapeOpened: Priority.TAPE,
    TapePiece: Priority.TAPE,
    TapeState: Priority.TAPE,
    TapeTailed: Priority.TAPE,
    SessionOutput: Priority.LIVE,
    SessionHead: Priority.LIVE,
    SessionDiverged: Priority.LIVE,
    SessionForgotten: Priority.LIVE,
    Resume: Priority.LIVE,
    Ack: Priority.LIVE,
    Watching: Priority.LIVE,
    Fetch: Priority.LIVE,
    AuditHeld: Priority.LIVE,
    AuditOutput: Priority.CATCHING_UP,  # one at a time, and nobody waits for it
}
_BY_SIZE = (Ask, Reply, TapeTyped)

# Frames that share a key keep their order: one that would be sent sooner waits behind the others.
Key = tuple[str, str | int]
_KEYED: tuple[type[AnyFrame], ...] = (
    SessionOutput,
    SessionHead,
    SessionDiverged,
    SessionForgotten,
    Ask,
    Cancel,
    TapeTyped,
    TakeSeat,
    SizeSeat,
    ClaimSeat,
    LeaveSeat,
    RedrawTape,
    CloseTape,
)


def priority_of(frame: AnyFrame, size: int) -> Priority:
    fixed = _FIXED.get(type(frame))
    if fixed is not None:
        return fixed
    return Priority.LARGE if size > SMALL and isinstance(frame, _BY_SIZE) else Priority.URGENT


def keys_of(frame: AnyFrame) -> tuple[Key, ...]:
    if type(frame) not in _KEYED:
        return ()
    match frame:
        case SessionOutput() | SessionHead() | SessionDiverged() | SessionForgotten():
            return (("log", frame.session_id),)
        case Ask(command=SessionCommand() as command):
            return (("ask", frame.ask), ("commands", command.session_id))
        case Ask() | Cancel():
            return (("ask", frame.ask),)
        case TapeTyped() | CloseTape() | RedrawTape() | TakeSeat() | SizeSeat() | ClaimSeat() | LeaveSeat():
            return (("keys", frame.tape),)
        case _:
            return ()
