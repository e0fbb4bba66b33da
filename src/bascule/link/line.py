"""One end of one connection between a hub and a daemon, without the connection: messages in, messages out."""

from typing import Literal

from bascule.link.frames import (
    AnyFrame,
    DaemonConnected,
    LineRefused,
    Pong,
    SessionOutput,
    Welcome,
)
from bascule.link.pace import Pace
from bascule.link.priorities import Priority, keys_of, priority_of
from bascule.link.sending import SendQueue
from bascule.link.tape_frames import TapeOpened, TapePiece, TapeState, TapeTailed, TapeTyped
from bascule.link.wire import (
    DOWN,
    HEADER,
    MAX_FRAME,
    UP,
    Joining,
    LineError,
    Received,
    UnknownFrame,
    Way,
    deflate,
    encode,
    read,
    tape_message,
)

Side = Literal["daemon", "hub"]
# Bytes of a message that is sent whole. Nothing can go before a message once it is on its way: at 256 kbit/s
# this is half a second.
PART = 16 * 1024
_OPENINGS = (DaemonConnected, Welcome, LineRefused)


class Line:
    """`side` is who uses it. The owner of the connection hands in what arrives and sends what `take` gives.

    After a `LineError` from `receive` the connection must be closed. Rows are deflated when `deflated`: that
    is a waste between processes of one machine. With a `pace` only so much is under way at a time, and what
    comes in may let more be sent.
    """

    def __init__(
        self, side: Side, *, deflated: bool = True, part: int = PART, pace: Pace | None = None
    ) -> None:
        self._side: Side = side
        self._way_in: Way = "down" if side == "daemon" else "up"
        self._ours = frozenset(UP if side == "daemon" else DOWN)
        self._deflated = deflated
        self._pace = pace
        self._queue = SendQueue(part, pace)
        self._joining = Joining()
        self._opened = False  # our first frame was sent
        self._met = False  # their first frame has come
        self._failed: LineError | None = None
        self.refused: LineRefused | None = None  # sent or received: nothing may follow it
        self.unknown = 0  # frames that were of a newer version

    @property
    def waiting(self) -> tuple[int, ...]:
        """Bytes that wait to be sent, by priority."""
        return tuple(self._queue.waiting)

    @property
    def quiet_for(self) -> float | None:
        """Seconds after which more may be sent, though nothing came in; None when it waits for that."""
        return None if self._pace is None or not any(self.waiting) else self._pace.quiet_for

    def receive(self, message: bytes | str) -> list[Received]:
        """What a message brings: a frame, or none while parts of it are missing. Raises `LineError`."""
        if self._failed is not None:
            raise self._failed
        if self.refused is not None and self._side == "hub":
            return []  # sent before the daemon heard of it
        try:
            frame = read(message, self._way_in, self._joining)
            if frame is None:
                return []
            self._check_place(frame)
        except LineError as error:
            self._failed = error
            raise
        if self._pace is not None:
            if isinstance(frame, Pong) and self._pace.answered(frame.n):
                return []
            if isinstance(frame, TapeTyped):
                self._pace.typed()
        return [frame]

    def _check_place(self, frame: Received) -> None:
        """A daemon begins with `DaemonConnected`, a hub with `Welcome` or `LineRefused`; once."""
        if self.refused is not None:
            raise LineError("LINE_CLOSED", "A frame came after the connection was refused.")
        if isinstance(frame, _OPENINGS) == self._met:
            name = type(frame).__name__
            words = f"{name} came a second time." if self._met else f"{name} came before any greeting."
            raise LineError("UNEXPECTED_FRAME", words)
        self._met = True
        if isinstance(frame, LineRefused):
            self.refused = frame
        elif isinstance(frame, UnknownFrame):
            self.unknown += 1

    def send(self, frame: AnyFrame, priority: Priority | None = None) -> None:
        """Queue a frame; rows that were written while the hub was away are given `Priority.CATCHING_UP`.

        Raises `LineError` for a frame that may not be sent (of the wrong side, out of place, too large), and
        then queues nothing.
        """
        self._check_ours(frame)
        if isinstance(frame, TapePiece):
            self._send_piece(frame)
        else:
            self._send_json(frame, priority)
        self._opened = True
        if isinstance(frame, LineRefused):
            self.refused = frame

    def _send_json(self, frame: AnyFrame, priority: Priority | None) -> None:
        data, packed = encode(frame), None
        if len(data) > MAX_FRAME - HEADER.size:
            name = type(frame).__name__
            raise LineError("FRAME_TOO_LARGE", f"{name} has {len(data)} bytes; {MAX_FRAME} can be sent.")
        if isinstance(frame, SessionOutput) and self._deflated:
            packed = deflate(data)
        message, is_text = (data, True) if packed is None else (packed, False)
        if isinstance(frame, TapeOpened | TapeState | TapeTailed):
            self._queue.add_output(frame.tape, message, is_text=is_text)
        else:
            chosen = priority_of(frame, len(message)) if priority is None else priority
            self._queue.add(message, is_text, chosen, keys_of(frame))

    def _check_ours(self, frame: AnyFrame) -> None:
        if self.refused is not None:
            raise LineError("LINE_CLOSED", "The connection was refused.")
        if type(frame) not in self._ours:
            raise LineError("WRONG_DIRECTION", f"A {self._side} does not send {type(frame).__name__}.")
        if isinstance(frame, _OPENINGS) == self._opened:
            raise LineError("UNEXPECTED_FRAME", f"{type(frame).__name__} is out of place here.")

    def _send_piece(self, piece: TapePiece) -> None:
        most = self._queue.part - HEADER.size
        for begin in range(0, len(piece.data), most):
            data = piece.data[begin : begin + most]
            message = tape_message(piece.tape, piece.offset + begin, data)
            self._queue.add_output(piece.tape, message, is_text=False)

    def take(self, room: int) -> list[bytes | str]:
        """The next messages to send: about `room` bytes of them, or what may be under way."""
        return list(self._queue.take(max(room, 1)))
