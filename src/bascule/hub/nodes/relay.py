"""A machine that this node holds, for another node: that node's commands and terminals go through here.

Each side has numbers of its own: commands and terminals get other ones on the machine's connection.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast, get_args

import msgspec
from msgspec.structs import replace

from bascule.hub.devices.device_line import BEGINNING, DeviceLine
from bascule.hub.devices.link_tapes import LinkTapes
from bascule.hub.devices.mirror import FromTape
from bascule.hub.devices.switchboard import Switchboard
from bascule.link.frames import (
    AnyFrame,
    Ask,
    AskFirst,
    Cancel,
    ClaimSeat,
    CloseTape,
    Fetch,
    LeaveSeat,
    OpenTape,
    Ping,
    Pong,
    RedrawTape,
    Reply,
    SessionForgotten,
    SessionHead,
    SizeSeat,
    TailTape,
    TakeSeat,
    TapeCredit,
    TapeTyped,
    Welcome,
)
from bascule.link.line import Line
from bascule.link.liveness import DEAD_AFTER
from bascule.link.wire import Received
from bascule.link.wire_names import UnknownAsk
from bascule.model.commands import Command, answer_type
from bascule.model.errors import BasculeError, DeviceOffline, NotSupported

SEAT = TakeSeat | SizeSeat | ClaimSeat | LeaveSeat | RedrawTape
ToTape = OpenTape | TapeCredit | TailTape | AskFirst | TapeTyped | SEAT | CloseTape
TO_TAPE: tuple[type[ToTape], ...] = get_args(ToTape)
ASK_SECONDS = 60.0  # for a command that says nothing of its own


class Relay:
    """One machine for one other node. `wrote` is called when there is something to send there; `left` when
    the machine is gone."""

    def __init__(
        self,
        board: Switchboard,
        tapes: LinkTapes,
        device: str,
        wrote: Callable[[], None],
        left: Callable[[], None],
    ) -> None:
        self.line = Line("daemon", deflated=False)
        self._board, self._tapes, self._device = board, tapes, device
        self._wrote, self._left = wrote, left
        self._held: DeviceLine | None = None
        self._asks: dict[int, asyncio.Task[None]] = {}
        self._work: set[asyncio.Task[None]] = set()
        self._shown: dict[int, _Shown] = {}

    def receive(self, message: bytes | str) -> None:
        """Raises `LineError`."""
        for frame in self.line.receive(message):
            self._take(frame)

    def close(self) -> None:
        """The other node is gone, or wants no more of this machine."""
        held, self._held = self._held, None
        if held is not None and self in held.followers:
            held.followers.remove(self)
        for task in list(self._work):
            task.cancel()
        for shown in self._shown.values():
            shown.close()
        self._shown.clear()

    # A follower of the machine's line

    def hear(self, frame: AnyFrame) -> None:
        if not isinstance(frame, Pong):
            self._say(frame)

    def ended(self) -> None:
        self.close()
        self._left()

    # What the other node wants

    def _take(self, frame: Received) -> None:
        if isinstance(frame, Welcome):
            self._begin()
        elif self._held is None:
            return  # it was gone before that node knew
        elif isinstance(frame, Ask):
            self._ask(self._held, frame)
        elif isinstance(frame, UnknownAsk):
            words = f"This node of the hub does not know {frame.type}; update it."
            self._say(Reply(frame.ask, refusal=NotSupported(words).refusal()))
        elif isinstance(frame, Cancel):
            if frame.ask in self._asks:
                self._asks[frame.ask].cancel()
        elif isinstance(frame, Ping):
            self._spawn(self._ping(self._held, frame))
        elif isinstance(frame, Fetch):
            self._spawn(self._fetch(self._held, frame.session_id))
        elif isinstance(frame, TO_TAPE):
            self._show(frame)

    def _begin(self) -> None:
        if not self._board.holds(self._device):
            self._left()  # the other node reads again where it is
            return
        self._held = self._board.line(self._device)
        self._held.followers.append(self)
        self._say(self._board.hello_of(self._device))

    def _ask(self, held: DeviceLine, ask: Ask) -> None:
        command = cast("Command[Any]", ask.command)
        seconds = ASK_SECONDS if ask.deadline_ms is None else ask.deadline_ms / 1000
        number, answer = held.begin(command, ask.by, ask.key, seconds)
        task = self._spawn(self._answer(held, ask, number, answer))
        self._asks[ask.ask] = task
        task.add_done_callback(lambda _: self._asks.pop(ask.ask, None))

    async def _answer(self, held: DeviceLine, ask: Ask, number: int, answer: "asyncio.Future[bytes]") -> None:
        try:
            result = await answer
            answered = answer_type(type(cast("Command[Any]", ask.command)))
            if answered in BEGINNING:
                await held.shows(msgspec.json.decode(result, type=answered))
            self._say(Reply(ask.ask, msgspec.Raw(result)))
        except DeviceOffline:
            pass  # `Gone` follows, and the other node answers for all that waits
        except BasculeError as error:
            self._say(Reply(ask.ask, refusal=error.refusal()))
        finally:
            held.leave(number)

    async def _ping(self, held: DeviceLine, ping: Ping) -> None:
        if await held.answers_within(DEAD_AFTER):
            self._say(Pong(ping.n, ping.clock, self._board.clock()))

    async def _fetch(self, held: DeviceLine, session_id: str) -> None:
        try:
            if held.fetch is not None:
                await held.fetch(session_id)
            self._say(SessionHead(session_id, 0))
        except BasculeError:
            self._say(SessionForgotten(session_id))

    def _show(self, frame: ToTape) -> None:
        if isinstance(frame, OpenTape):
            self._shown[frame.tape] = _Shown(self._tapes, frame.tape, self._say)
        shown = self._shown.get(frame.tape)
        if shown is None:
            return
        if isinstance(frame, CloseTape):
            self._shown.pop(frame.tape).close()
        else:
            shown.send(frame)

    def _say(self, frame: AnyFrame) -> None:
        self.line.send(frame)
        self._wrote()

    def _spawn(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work, name=f"relay of {self._device}")
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        return task


class _Shown:
    """A terminal that the other node shows, under our own number."""

    def __init__(self, tapes: LinkTapes, theirs: int, say: Callable[[AnyFrame], None]) -> None:
        self._tapes, self._theirs, self._say = tapes, theirs, say
        self._ours = tapes.number(self)

    def receive(self, frame: FromTape) -> None:
        self._say(replace(frame, tape=self._theirs))

    def send(self, frame: ToTape) -> None:
        if self._tapes.is_connected:
            self._tapes.send(replace(frame, tape=self._ours))

    def close(self) -> None:
        self.send(CloseTape(self._theirs))
        self._tapes.forget_number(self._ours)
