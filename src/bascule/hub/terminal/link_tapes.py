"""Terminals of a machine behind a link: one stream of output for all viewers of a terminal here."""

from collections.abc import Callable
from typing import Protocol

from bascule.hub.terminal.mirror import AWAY, FrameTaker, FromTape, LinkSeat, Mirror
from bascule.link.frames import AnyFrame
from bascule.link.tape import Delivered, Seat, SeatEvents, TapeTail
from bascule.model.commands import Actor
from bascule.model.errors import BasculeError, DeviceOffline


class TapeLine(Protocol):
    """One connection of the machine, by which the tapes know it again when it is lost."""

    def send(self, frame: AnyFrame) -> None: ...


class LinkTapes:
    """The terminals of one machine. They outlive its connections: after a cut each goes on where it was."""

    def __init__(self) -> None:
        self._line: TapeLine | None = None
        self._count = 0
        self._mirrors: dict[tuple[str, int], Mirror] = {}
        self._by_number: dict[int, FrameTaker] = {}

    def connected(self, line: TapeLine) -> None:
        """The machine has a new connection."""
        self._line = line
        for mirror in list(self._mirrors.values()):
            mirror.reopen()

    def disconnected(self, line: TapeLine) -> None:
        """That connection is lost; one that another has taken the place of changes nothing."""
        if line is self._line:
            self._line = None
            for mirror in self._mirrors.values():
                mirror.lost()

    def receive(self, frame: FromTape) -> None:
        mirror = self._by_number.get(frame.tape)
        if mirror is not None:
            mirror.receive(frame)

    async def open(
        self, session_id: str, run: int, grew: Callable[[], None], delivered: Delivered
    ) -> "LinkTape":
        mirror = self._mirrors.get((session_id, run))
        if mirror is None:
            mirror = self._mirrors[session_id, run] = Mirror(self, session_id, run)
            mirror.reopen()
        tape = LinkTape(mirror, grew, delivered)
        try:
            await mirror.opened()
        except BaseException:
            tape.close()
            raise
        return tape

    # For mirrors

    def send(self, frame: AnyFrame) -> None:
        if self._line is None:
            raise DeviceOffline(AWAY)
        self._line.send(frame)

    @property
    def is_connected(self) -> bool:
        return self._line is not None

    def number(self, taker: FrameTaker) -> int:
        self._count += 1
        self._by_number[self._count] = taker
        return self._count

    def forget_number(self, number: int) -> None:
        self._by_number.pop(number, None)

    def forget(self, mirror: "Mirror") -> None:
        self._mirrors.pop((mirror.session_id, mirror.run), None)
        self.forget_number(mirror.tape)


class LinkTape:
    """One viewer's access to a mirror."""

    def __init__(self, mirror: Mirror, grew: Callable[[], None], delivered: Delivered) -> None:
        self._mirror, self._grew, self._delivered = mirror, grew, delivered
        self._open = True
        self._seat: LinkSeat | None = None
        mirror.viewers.append(self)

    @property
    def base(self) -> int:
        return self._mirror.start

    @property
    def end(self) -> int:
        return self._mirror.known_end

    @property
    def over(self) -> bool:
        return self._mirror.over

    def read(self, offset: int, limit: int) -> bytes:
        return self._mirror.read(offset, limit)

    async def tail(self, limit: int) -> TapeTail:
        return await self._mirror.tail(limit)

    def type(self, data: bytes, by: Actor, *, reply: bool = False) -> None:
        seat = 0 if reply or self._seat is None else self._seat.number
        self._mirror.type(data, by, self._on_delivered, reply=reply, seat=seat)

    async def first_to_answer(self) -> bool:
        return await self._mirror.first_to_answer()

    def sit(self, by: Actor, may_write: bool, events: SeatEvents) -> Seat:
        self._seat = self._mirror.sit(by, may_write, events)
        return self._seat

    def grew(self) -> None:
        self._grew()

    def close(self) -> None:
        if self._open:
            self._open = False
            self._mirror.left(self)

    def _on_delivered(self, length: int, error: BasculeError | None) -> None:
        if self._open:
            self._delivered(length, error)
