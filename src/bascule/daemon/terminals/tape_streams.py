"""Terminals for a hub that is elsewhere: sends their output as far as the hub gave credit, takes its keys."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import get_args

from msgspec.structs import replace

from bascule.link.frames import AnyFrame
from bascule.link.tape import Arrangement, Participant, Tape, TapeCut, Tapes
from bascule.link.tape_frames import (
    AskFirst,
    ClaimSeat,
    CloseTape,
    LeaveSeat,
    OpenTape,
    RedrawTape,
    SeatArranged,
    SeatElected,
    SizeSeat,
    SomebodyTypes,
    TailTape,
    TakeSeat,
    TapeCredit,
    TapeDelivered,
    TapeOpened,
    TapePiece,
    TapeState,
    TapeTailed,
    TapeTyped,
    ToldFirst,
)
from bascule.model.errors import BasculeError

PIECE = 16 * 1024
REPORT_EVERY = 64 * 1024  # bytes that a tape grows beyond its credit before the hub is notified again

ParticipantFrame = TakeSeat | SizeSeat | ClaimSeat | LeaveSeat | RedrawTape
TapeFrame = OpenTape | TapeCredit | TailTape | AskFirst | TapeTyped | ParticipantFrame | CloseTape
TAPE_FRAMES: tuple[type[TapeFrame], ...] = get_args(TapeFrame)
Send = Callable[[AnyFrame], None]


class TapeStreams:
    """The tapes that one hub reads over one connection. `via` names that hub: who types is what it says."""

    def __init__(self, tapes: Tapes, send: Send, via: Callable[[], str]) -> None:
        self._tapes, self._send, self._via = tapes, send, via
        self._streams: dict[int, TapeStream] = {}
        self._opening: dict[int, asyncio.Task[None]] = {}
        self._early: dict[int, list[TapeFrame]] = {}  # for tapes that are being opened

    def receive(self, frame: TapeFrame) -> None:
        if isinstance(frame, TapeTyped | TakeSeat):
            frame = replace(frame, by=replace(frame.by, via=self._via()))
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
        self._reported_end = -1
        self._opened = False  # only then it is known where the output begins
        self._over = False
        self._typed: list[int] = []  # numbers of keys that are not delivered yet, in order
        self._participants: dict[int, Participant] = {}
        self._answering: set[asyncio.Task[None]] = set()
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
        self._opened = True
        self._send(TapeOpened(asked.tape, self._place, tape.base, tape.end, prelude=prelude))
        self._grew()

    def receive(self, frame: TapeFrame) -> None:
        match frame:
            case TapeCredit():
                self._credit = max(self._credit, frame.upto)
                self._grew()
            case TailTape():
                self._answer(self._tail(frame))
            case AskFirst():
                self._answer(self._first(frame))
            case TapeTyped():
                self._type(frame)
            case TakeSeat():
                self._join(frame)
            case SizeSeat() | ClaimSeat() | LeaveSeat() | RedrawTape():
                if frame.seat in self._participants:
                    self._participant_frame(self._participants[frame.seat], frame)
            case OpenTape() | CloseTape():
                pass  # the owner of this stream opens and closes it

    def close(self) -> None:
        for task in self._answering:
            task.cancel()
        for participant in self._participants.values():
            participant.leave()
        self._participants.clear()
        self._tape.close()

    def _type(self, frame: TapeTyped) -> None:
        participant = self._participants.get(frame.seat)
        if participant is not None:
            participant.typed()
        self._typed.append(frame.n)
        self._tape.type(frame.data, frame.by, reply=frame.reply)

    def _join(self, frame: TakeSeat) -> None:
        if self._tape.over:
            return  # the hub hears of that by the state
        events = ParticipantOverLink(self._asked.tape, frame.seat, self._send)
        self._participants[frame.seat] = self._tape.join(frame.by, frame.may_write, events)

    def _participant_frame(
        self, participant: Participant, frame: SizeSeat | ClaimSeat | LeaveSeat | RedrawTape
    ) -> None:
        match frame:
            case SizeSeat():
                participant.resize(frame.cols, frame.rows)
            case ClaimSeat():
                participant.claim()
            case RedrawTape():
                participant.redraw()
            case LeaveSeat():
                del self._participants[frame.seat]
                participant.leave()

    def _answer(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="question about a tape")
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _first(self, asked: AskFirst) -> None:
        self._send(ToldFirst(asked.tape, asked.n, await self._tape.first_to_answer()))

    async def _tail(self, asked: TailTape) -> None:
        tail = await self._tape.tail(asked.limit)
        self._send(TapeTailed(asked.tape, asked.n, tail.offset, tail.prelude))

    def _grew(self) -> None:
        """Send what there is, as far as the credit reaches; and say what there is beyond it."""
        if self._over or not self._opened:
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
        elif self._place < tape.end and tape.end - self._reported_end >= REPORT_EVERY:
            self._say_state()

    def _say_state(self) -> None:
        tape = self._tape
        self._reported_end = tape.end
        self._send(TapeState(self._asked.tape, tape.base, tape.end, over=self._over))

    def _delivered(self, length: int, error: BasculeError | None) -> None:
        n = self._typed.pop(0)
        self._send(TapeDelivered(self._asked.tape, n, error.refusal() if error is not None else None))


class ParticipantOverLink:
    """Sends a viewer at the hub what it learns of the others."""

    def __init__(self, tape: int, number: int, send: Send) -> None:
        self._tape, self._number, self._send = tape, number, send

    def arranged(self, arrangement: Arrangement) -> None:
        self._send(SeatArranged(self._tape, self._number, arrangement))

    def elected(self) -> None:
        self._send(SeatElected(self._tape, self._number))

    def notify_typing(self, name: str) -> None:
        self._send(SomebodyTypes(self._tape, self._number, name))
