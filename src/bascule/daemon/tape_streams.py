"""Terminals for a hub that is elsewhere: sends their output as far as the hub gave credit, takes its keys."""

import asyncio
from collections.abc import Callable

from bascule.link.frames import (
    AnyFrame,
    CloseTape,
    OpenTape,
    RedrawTape,
    ResizeTape,
    TailTape,
    TapeCredit,
    TapeDelivered,
    TapeOpened,
    TapePiece,
    TapeState,
    TapeTailed,
    TapeTyped,
)
from bascule.link.tape import Tape, TapeCut, Tapes
from bascule.model.errors import BasculeError

PIECE = 16 * 1024
TOLD_EVERY = 64 * 1024  # bytes that a tape grows beyond its credit before the hub is told again

TapeFrame = OpenTape | TapeCredit | TailTape | TapeTyped | ResizeTape | RedrawTape | CloseTape
TAPE_FRAMES = (OpenTape, TapeCredit, TailTape, TapeTyped, ResizeTape, RedrawTape, CloseTape)
Send = Callable[[AnyFrame], None]


class TapeStreams:
    """The tapes that one hub reads over one connection."""

    def __init__(self, tapes: Tapes, send: Send) -> None:
        self._tapes, self._send = tapes, send
        self._streams: dict[int, TapeStream] = {}
        self._opening: dict[int, asyncio.Task[None]] = {}
        self._early: dict[int, list[TapeFrame]] = {}  # for tapes that are being opened

    def receive(self, frame: TapeFrame) -> None:
        if isinstance(frame, OpenTape):
            self._early[frame.tape] = []
            self._opening[frame.tape] = asyncio.create_task(self._open(frame), name=f"tape {frame.tape}")
        elif frame.tape in self._early:
            self._early[frame.tape].append(frame)
        elif frame.tape in self._streams:
            self._do(self._streams[frame.tape], frame)

    async def _open(self, frame: OpenTape) -> None:
        stream = TapeStream(frame, self._send)
        try:
            await stream.open(self._tapes)
            self._streams[frame.tape] = stream
        except BasculeError as error:
            self._send(TapeState(frame.tape, 0, 0, over=True, refusal=error.refusal()))
        finally:
            self._opening.pop(frame.tape, None)
            early = self._early.pop(frame.tape, [])
        for one in early:
            self.receive(one)

    def _do(self, stream: "TapeStream", frame: TapeFrame) -> None:
        if isinstance(frame, CloseTape):
            self._streams.pop(frame.tape).close()
        else:
            stream.receive(frame)

    def close(self) -> None:
        for task in self._opening.values():
            task.cancel()
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()


class TapeStream:
    """One tape on its way to the hub."""

    def __init__(self, asked: OpenTape, send: Send) -> None:
        self._asked, self._send = asked, send
        self._credit = asked.credit  # in bytes until `open` knows the offset; then the offset that it reaches
        self._place = 0
        self._told_end = -1
        self._over = False
        self._typed: list[int] = []  # numbers of keys that are not delivered yet, in order
        self._tails: set[asyncio.Task[None]] = set()
        self._tape: Tape

    async def open(self, tapes: Tapes) -> None:
        asked = self._asked
        self._tape = tape = await tapes.open(asked.session_id, asked.run, self._grew, self._delivered)
        prelude = b""
        if asked.after is not None and tape.base <= asked.after <= tape.end:
            self._place = asked.after
        else:
            tail = await tape.tail(asked.tail)
            self._place, prelude = tail.offset, tail.prelude
        self._credit = self._place + asked.credit
        self._send(TapeOpened(asked.tape, self._place, tape.base, tape.end, prelude=prelude))
        self._grew()

    def receive(self, frame: TapeFrame) -> None:
        match frame:
            case TapeCredit():
                self._credit = max(self._credit, frame.upto)
                self._grew()
            case TailTape():
                task = asyncio.create_task(self._tail(frame), name="tail of a tape")
                self._tails.add(task)
                task.add_done_callback(self._tails.discard)
            case TapeTyped():
                self._typed.append(frame.n)
                self._tape.type(frame.data, frame.by, reply=frame.reply)
            case ResizeTape():
                self._try(lambda: self._tape.resize(frame.cols, frame.rows, frame.by))
            case RedrawTape():
                self._try(self._tape.redraw)
            case _:
                pass  # opened and closed by the owner of this stream

    def close(self) -> None:
        for task in self._tails:
            task.cancel()
        self._tape.close()

    async def _tail(self, asked: TailTape) -> None:
        tail = await self._tape.tail(asked.limit)
        self._send(TapeTailed(asked.tape, asked.n, tail.offset, tail.prelude))

    def _try(self, change: Callable[[], None]) -> None:
        try:
            change()
        except BasculeError as error:
            self._say_state(error)

    def _grew(self) -> None:
        """Send what there is, as far as the credit reaches; and say what there is beyond it."""
        if self._over or not hasattr(self, "_tape"):
            return
        tape, number = self._tape, self._asked.tape
        over = tape.over
        while self._place < self._credit:
            try:
                data = tape.read(self._place, min(PIECE, self._credit - self._place))
            except TapeCut:
                self._place = tape.base  # the hub sees the gap by the offset of the next piece
                continue
            if not data:
                break
            self._send(TapePiece(number, self._place, data))
            self._place += len(data)
        if over and self._place >= tape.end:
            self._over = True
            self._say_state()
        elif self._place < tape.end and tape.end - self._told_end >= TOLD_EVERY:
            self._say_state()

    def _say_state(self, error: BasculeError | None = None) -> None:
        tape = self._tape
        self._told_end = tape.end
        refusal = error.refusal() if error is not None else None
        self._send(TapeState(self._asked.tape, tape.base, tape.end, over=self._over, refusal=refusal))

    def _delivered(self, length: int, error: BasculeError | None) -> None:
        n = self._typed.pop(0)
        self._send(TapeDelivered(self._asked.tape, n, error.refusal() if error is not None else None))
