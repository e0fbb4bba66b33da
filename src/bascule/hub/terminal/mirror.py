"""A copy of one terminal's newest output at the hub, for all viewers here of a machine behind a link."""

import asyncio
from typing import Any, Protocol, get_args

from bascule.link.frames import AnyFrame
from bascule.link.tape import Delivered, ParticipantEvents, TapeCut, TapeTail
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
from bascule.model.commands import Actor
from bascule.model.errors import BasculeError, DeviceOffline, Refused, SessionOver

MIRROR = 2 * 1024 * 1024  # bytes of output kept for viewers who are slower than the fastest
TAIL = 256 * 1024
CREDIT = 1024 * 1024  # beyond what the fastest viewer has read
OPEN_SECONDS = 10.0

ToParticipant = SeatArranged | SeatElected | SomebodyTypes
FromTape = TapeOpened | TapePiece | TapeState | TapeTailed | ToldFirst | TapeDelivered | ToParticipant
FROM_TAPE: tuple[type[FromTape], ...] = get_args(FromTape)

AWAY = "The machine is away; its terminals are shown again when it is back."
LOST = "The connection to the machine was lost; it is not known whether these keys arrived."


class Viewer(Protocol):
    """One of those who look: it hears when there is more to read."""

    def grew(self) -> None: ...


class FrameTaker(Protocol):
    """Takes the frames that come for one number: a mirror, or another node that shows the terminal."""

    def receive(self, frame: FromTape) -> None: ...


class MachineTapes(Protocol):
    """What a mirror needs of the machine's terminals: its connection, and numbers on it."""

    @property
    def is_connected(self) -> bool: ...
    def send(self, frame: AnyFrame) -> None: ...
    def number(self, taker: FrameTaker) -> int: ...
    def forget_number(self, number: int) -> None: ...
    def forget(self, mirror: "Mirror") -> None: ...


class Mirror:
    """The newest output of one run of one terminal, as far as it has come, and its viewers.

    It begins at `after`, or with what a screen needs. One that is not `shared` has a single viewer, which
    reads from its own place at its own pace.
    """

    def __init__(
        self, tapes: MachineTapes, session_id: str, run: int, after: int | None = None, *, shared: bool = True
    ) -> None:
        self.session_id, self.run, self.shared = session_id, run, shared
        self._after = after
        self.tape = 0  # its number on the connection
        self.viewers: list[Viewer] = []
        self.start = self.end = 0  # offsets of what is kept
        self._prelude = b""  # for a viewer that begins at `start`, until output has been dropped there
        self._data = bytearray()
        self._known_end = 0
        self._ended = False
        self._problem: BasculeError | None = None
        self._tapes = tapes
        self._ready = asyncio.Event()
        self._read_to = 0  # by the fastest viewer
        self._credit = 0
        self._keys: dict[int, tuple[Delivered, int]] = {}
        self._key_count = 0
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._ask_count = 0
        self._participants: dict[int, LinkParticipant] = {}
        self._participant_count = 0

    @property
    def known_end(self) -> int:
        return max(self.end, self._known_end)

    @property
    def over(self) -> bool:
        """All of it has come, and there will be no more."""
        return self._ended and self.end >= self._known_end

    async def opened(self) -> None:
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                await self._ready.wait()
        except TimeoutError:
            raise DeviceOffline("The machine did not show its terminal in time; try again.") from None
        if self._problem is not None:
            raise self._problem

    def has(self, offset: int) -> bool:
        return self._ready.is_set() and self.start <= offset <= self.end

    def reopen(self, after: int | None = None) -> None:
        """Ask for output from where we are, or from another offset, under a new number."""
        self._tapes.forget_number(self.tape)
        if not self._tapes.is_connected:
            return
        self.tape = self._tapes.number(self)
        place = after if after is not None else self.end or self._after
        self._tapes.send(OpenTape(self.tape, self.session_id, self.run, CREDIT, place, TAIL))
        for participant in self._participants.values():
            participant.announce()

    def lost(self) -> None:
        keys, self._keys = self._keys, {}
        for delivered, length in keys.values():
            delivered(length, DeviceOffline(LOST))
        asked, self._asked = self._asked, {}
        for waiting in asked.values():
            if not waiting.done():
                waiting.set_exception(DeviceOffline(AWAY))

    def receive(self, frame: FromTape) -> None:
        match frame:
            case TapeOpened():
                self._opened(frame)
            case TapePiece():
                self._take(frame)
            case TapeState():
                self._state(frame)
            case TapeTailed():
                self._answered(frame.n, TapeTail(frame.offset, frame.prelude))
            case ToldFirst():
                self._answered(frame.n, frame.first)
            case TapeDelivered():
                self._delivered(frame)
            case SeatArranged() | SeatElected() | SomebodyTypes():
                if frame.seat in self._participants:
                    self._participants[frame.seat].hear(frame)

    def _answered(self, number: int, answer: object) -> None:
        waiting = self._asked.pop(number, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def _opened(self, frame: TapeOpened) -> None:
        if frame.offset != self.end or not self._ready.is_set():
            self._begin_at(frame.offset, frame.prelude)
        self._known_end = frame.end
        self._credit = frame.offset + CREDIT
        self._ready.set()
        self._tell()

    def _begin_at(self, offset: int, prelude: bytes) -> None:
        self._data.clear()
        self.start = self.end = self._read_to = offset
        self._prelude = prelude

    def _take(self, piece: TapePiece) -> None:
        if piece.offset > self.end:
            self._begin_at(piece.offset, b"")  # it was trimmed there before it could be sent
        data = piece.data[self.end - piece.offset :]
        self._data += data
        self.end += len(data)
        surplus = len(self._data) - MIRROR
        if surplus > MIRROR // 4:  # now and then, not with every piece
            del self._data[:surplus]
            self.start += surplus
            self._prelude = b""
        self._tell()

    def _state(self, frame: TapeState) -> None:
        if frame.refusal is not None and not self._ready.is_set():
            self._problem = Refused(frame.refusal)
            self._ready.set()
            return
        self._known_end = max(self._known_end, frame.end)
        self._ended = frame.over
        self._tell()

    def _delivered(self, frame: TapeDelivered) -> None:
        waiting = self._keys.pop(frame.n, None)
        if waiting is not None:
            delivered, length = waiting
            delivered(length, Refused(frame.refusal) if frame.refusal is not None else None)

    def _tell(self) -> None:
        for viewer in list(self.viewers):
            viewer.grew()

    # For viewers

    def read(self, offset: int, limit: int) -> bytes:
        if offset < self.start:
            raise TapeCut
        begin = offset - self.start
        data = bytes(self._data[begin : begin + limit])
        self._read_to = max(self._read_to, offset + len(data))
        if self._read_to + CREDIT - self._credit >= CREDIT // 4 and self._tapes.is_connected:
            self._credit = self._read_to + CREDIT
            self._tapes.send(TapeCredit(self.tape, self._credit))
        return data

    async def tail(self, limit: int) -> TapeTail:
        """Where a viewer begins. One that wants what has not come yet has the stream begin there."""
        if self.over and self._prelude and limit >= self.end - self.start:
            return TapeTail(self.start, self._prelude)
        number, waiting = self._question()
        self._tapes.send(TailTape(self.tape, number, limit))
        tail: TapeTail = await waiting
        if tail.offset > self.end:
            self._tapes.send(CloseTape(self.tape))
            self._begin_at(tail.offset, tail.prelude)
            self.reopen(tail.offset)
        elif tail.offset < self.start:
            return TapeTail(self.start, self._prelude or tail.prelude)
        return tail

    def _question(self) -> tuple[int, "asyncio.Future[Any]"]:
        self._ask_count += 1
        waiting = self._asked[self._ask_count] = asyncio.get_running_loop().create_future()
        return self._ask_count, waiting

    async def first_to_answer(self) -> bool:
        number, waiting = self._question()
        self._tapes.send(AskFirst(self.tape, number))
        return await waiting

    def join(self, by: Actor, may_write: bool, events: ParticipantEvents) -> "LinkParticipant":
        self._participant_count += 1
        participant = self._participants[self._participant_count] = LinkParticipant(
            self, self._participant_count, by, may_write, events
        )
        participant.announce()
        return participant

    def say(self, frame: AnyFrame) -> None:
        """Send what may be lost with the connection: it is said again on the next one."""
        if self._tapes.is_connected:
            self._tapes.send(frame)

    def remove_participant(self, number: int) -> None:
        self._participants.pop(number, None)
        self.say(LeaveSeat(self.tape, number))

    def type(self, data: bytes, by: Actor, delivered: Delivered, *, reply: bool, participant: int) -> None:
        self._key_count += 1
        number = self._key_count
        try:
            if self.over:
                raise SessionOver("This session has ended. Resume it to go on.")
            self._tapes.send(TapeTyped(self.tape, number, data, by, reply, participant))
        except BasculeError as error:
            delivered(len(data), error)
            return
        self._keys[number] = delivered, len(data)

    def left(self, viewer: Viewer) -> None:
        self.viewers.remove(viewer)
        if not self.viewers:
            self._tapes.forget(self)
            if self._tapes.is_connected:
                self._tapes.send(CloseTape(self.tape))


class LinkParticipant:
    """A viewer of a terminal behind a link, kept across connections."""

    def __init__(
        self, mirror: Mirror, number: int, by: Actor, may_write: bool, events: ParticipantEvents
    ) -> None:
        self.number = number
        self._mirror, self._by, self._may_write, self._events = mirror, by, may_write, events
        self._size: tuple[int, int] | None = None

    def announce(self) -> None:
        """To the machine, with the window that it had: again on each new connection."""
        self._mirror.say(TakeSeat(self._mirror.tape, self.number, self._by, self._may_write))
        if self._size is not None:
            self.resize(*self._size)

    def hear(self, frame: ToParticipant) -> None:
        match frame:
            case SeatArranged():
                self._events.arranged(frame.arrangement)
            case SeatElected():
                self._events.elected()
            case SomebodyTypes():
                self._events.notify_typing(frame.name)

    def resize(self, cols: int, rows: int) -> None:
        self._size = cols, rows
        self._mirror.say(SizeSeat(self._mirror.tape, self.number, cols, rows))

    def claim(self) -> None:
        self._mirror.say(ClaimSeat(self._mirror.tape, self.number))

    def typed(self) -> None:
        """Nothing: the keys carry the number of this participant."""

    def redraw(self) -> None:
        self._mirror.say(RedrawTape(self._mirror.tape, self.number))

    def leave(self) -> None:
        self._mirror.remove_participant(self.number)
