"""Terminals of a machine behind a link: one stream of output for all viewers of a terminal here."""

from collections.abc import Callable
from typing import Protocol

from bascule.hub.terminal.mirror import AWAY, FrameTaker, FromTape, LinkParticipant, Mirror
from bascule.link.frames import AnyFrame
from bascule.link.tape import Delivered, Participant, ParticipantEvents, TapeTail
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
        self._mirrors: dict[tuple[str, int], list[Mirror]] = {}
        self._by_number: dict[int, FrameTaker] = {}

    def connected(self, line: TapeLine) -> None:
        """The machine has a new connection."""
        self._line = line
        for mirror in self._all():
            mirror.reopen()

    def disconnected(self, line: TapeLine) -> None:
        """That connection is lost; one that another has taken the place of changes nothing."""
        if line is self._line:
            self._line = None
            for mirror in self._all():
                mirror.lost()

    def _all(self) -> list[Mirror]:
        return [mirror for mirrors in self._mirrors.values() for mirror in mirrors]

    def receive(self, frame: FromTape) -> None:
        mirror = self._by_number.get(frame.tape)
        if mirror is not None:
            mirror.receive(frame)

    async def open(
        self,
        session_id: str,
        run: int,
        grew: Callable[[], None],
        delivered: Delivered,
        after: int | None = None,
        *,
        skips: bool = True,
    ) -> "LinkTape":
        mirror = self._shared(session_id, run, after) if skips else None
        if mirror is None:
            mirror = Mirror(self, session_id, run, after, shared=skips and after is None)
            self._mirrors.setdefault((session_id, run), []).append(mirror)
            mirror.reopen()
        tape = LinkTape(self, mirror, grew, delivered, catches_up=skips and not mirror.shared)
        try:
            await mirror.opened()
        except BaseException:
            tape.close()
            raise
        return tape

    def _shared(self, session_id: str, run: int, after: int | None) -> Mirror | None:
        """A mirror for several viewers that has what this one begins with."""
        mirrors = self._mirrors.get((session_id, run), ())
        return next(
            (mirror for mirror in mirrors if mirror.shared and (after is None or mirror.has(after))), None
        )

    def caught_up(self, mirror: Mirror, place: int) -> Mirror:
        """A viewer has read all of the mirror that was its own: what it reads from now on."""
        other = self._shared(mirror.session_id, mirror.run, place)
        if other is None:
            mirror.shared = True
            return mirror
        return other

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
        key = mirror.session_id, mirror.run
        mirrors = [one for one in self._mirrors.get(key, ()) if one is not mirror]
        if mirrors:
            self._mirrors[key] = mirrors
        else:
            self._mirrors.pop(key, None)
        self.forget_number(mirror.tape)


class LinkTape:
    """One viewer's access to a terminal.

    A viewer that begins where no shared mirror reaches has one of its own, and reads a shared one as soon as
    it has caught up. Its window and its keys stay with the first: for the machine it is the same viewer.
    """

    def __init__(
        self,
        tapes: LinkTapes,
        mirror: Mirror,
        grew: Callable[[], None],
        delivered: Delivered,
        *,
        catches_up: bool,
    ) -> None:
        self._tapes, self._mirror, self._grew, self._delivered = tapes, mirror, grew, delivered
        self._source = mirror  # what it reads
        self._catches_up = catches_up
        self._open = True
        self._participant: LinkParticipant | None = None
        mirror.viewers.append(self)

    @property
    def base(self) -> int:
        return self._source.start

    @property
    def end(self) -> int:
        return self._source.known_end

    @property
    def over(self) -> bool:
        return self._source.over

    def read(self, offset: int, limit: int) -> bytes:
        data = self._source.read(offset, limit)
        if self._catches_up and offset + len(data) >= self._source.known_end:
            self._share(offset + len(data))
        return data

    def _share(self, place: int) -> None:
        self._catches_up = False
        self._source = self._tapes.caught_up(self._mirror, place)
        if self._source is not self._mirror:
            self._source.viewers.append(self)

    async def tail(self, limit: int) -> TapeTail:
        return await self._source.tail(limit)

    def type(self, data: bytes, by: Actor, *, reply: bool = False) -> None:
        participant = 0 if reply or self._participant is None else self._participant.number
        self._mirror.type(data, by, self._on_delivered, reply=reply, participant=participant)

    async def first_to_answer(self) -> bool:
        return await self._mirror.first_to_answer()

    def join(self, by: Actor, may_write: bool, events: ParticipantEvents) -> Participant:
        self._participant = self._mirror.join(by, may_write, events)
        return self._participant

    def grew(self) -> None:
        self._grew()

    def close(self) -> None:
        if self._open:
            self._open = False
            self._mirror.left(self)
            if self._source is not self._mirror:
                self._source.left(self)

    def _on_delivered(self, length: int, error: BasculeError | None) -> None:
        if self._open:
            self._delivered(length, error)
