"""One connection of one device, as the hub holds it: frames in, frames out, and the questions that wait."""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple, Protocol, cast

from bascule.link.frames import (
    REMEMBERS_ANSWERS,
    AgentProblem,
    AgentsChanged,
    AgentStatus,
    AnyFrame,
    Ask,
    Cancel,
    DaemonConnected,
    DeviceCommand,
    DeviceStateChanged,
    LineRefused,
    Ping,
    Pong,
    Reply,
)
from bascule.link.tape import Tapes
from bascule.link.unlogged import TakenUp
from bascule.model.commands import Actor, Command, SessionBegun, SessionCommand
from bascule.model.errors import DeviceOffline, Refused

log = logging.getLogger("bascule.hub")

Send = Callable[[AnyFrame], None]
Close = Callable[[str], None]
Fetching = Callable[[str], Awaitable[None]]  # have a found session copied, too
Copied = Callable[[str, int], Awaitable[None]]  # wait until the copy of a session's log has this row
BEGINNING = (SessionBegun, TakenUp)  # answers that name logs which were begun
SHOW_SECONDS = 2.0  # that the answer waits for the first row of a log that was begun again
WENT_AWAY = "The device went away before it answered. Look whether it was done before you ask again."


class Board(Protocol):
    """What a line needs of the switchboard."""

    clock: Callable[[], float]
    steady: Callable[[], float]

    def hello(self, line: "DeviceLine", hello: DaemonConnected) -> None: ...
    def heard(self, line: "DeviceLine", frame: AnyFrame) -> None: ...
    def gone(self, line: "DeviceLine") -> None: ...
    def back(self, line: "DeviceLine") -> None: ...
    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> object: ...


class Question(NamedTuple):
    """A command that was sent. `session_id` is empty for one of the whole machine."""

    answer: asyncio.Future[bytes]
    session_id: str


class Follower(Protocol):
    """Another node of this hub, whose pages show the device too."""

    def hear(self, frame: AnyFrame) -> None: ...
    def ended(self) -> None: ...


class DeviceLine:
    """`device` is empty until its hello was accepted. Once `over`, nothing it says or does counts.

    A line without `close` is in memory: it can't break, so the switchboard does not ping it.
    """

    def __init__(self, board: Board, send: Send, tapes: Tapes | None, close: Close | None) -> None:
        self.send = send
        self.tapes = tapes
        self.rows = 0  # of the device's logs, ever copied to this hub
        self.copied: Copied | None = None  # where the hub has copies of the device's logs
        self.catches_up: Copied | None = None  # the same for a little while, if there is a copy
        self.fetch: Fetching | None = None
        self.device = ""
        self.epoch = 0  # until its hello was accepted: the least that it may have
        self.far = False  # it leads through another node, which holds the connection itself
        self.followers: list[Follower] = []
        self.boot = ""  # names the device's process
        self.remembers_answers = False  # a command that comes again, with its key, gets the answer it had
        self.over = False
        self.stale = False
        self.heard_at = board.steady()
        self.unknown: Counter[str] = Counter()
        self._board = board
        self._close = close
        self._waiting: dict[int, Question] = {}
        self._probes: list[asyncio.Future[None]] = []
        self._asks = 0
        self._pings = 0

    @property
    def in_memory(self) -> bool:
        return self._close is None

    def receive(self, frame: AnyFrame) -> None:
        if self.over:
            return  # a socket that revives after another took its place
        self.alive()
        match frame:
            case DaemonConnected():
                self._board.hello(self, frame)
            case Ping():
                self.send(Pong(frame.n, frame.clock, self._board.clock()))
            case Reply():
                self._answer(frame)
            case AgentsChanged() | AgentStatus() | AgentProblem() | DeviceStateChanged() | Pong():
                if self.device:
                    self._board.heard(self, frame)
                    for follower in self.followers:
                        follower.hear(frame)
            case _:
                self.ignore(type(frame).__name__)

    def accepted(self, hello: DaemonConnected, epoch: int) -> None:
        self.device, self.epoch, self.boot = hello.device, epoch, hello.boot
        self.remembers_answers = REMEMBERS_ANSWERS in hello.features

    def is_of_same_process(self, other: "DeviceLine") -> bool:
        return bool(self.boot) and self.boot == other.boot

    def alive(self) -> None:
        """Something came, be it a single byte."""
        self.heard_at = self._board.steady()
        probes, self._probes = self._probes, []
        for probe in probes:
            if not probe.done():
                probe.set_result(None)
        if self.stale:
            self.stale = False
            self._board.back(self)

    def ignore(self, kind: str) -> None:
        """A frame we do not know, of a newer version perhaps. Said once for each kind."""
        self.unknown[kind] += 1
        if self.unknown[kind] == 1:
            log.info("%s sends %s, which is not known here: ignored", self.device or "a device", kind[:80])

    def closed(self) -> None:
        """The connection is lost."""
        if not self.over:
            self._end()

    def end(self, why: str) -> None:
        """Close it from our side."""
        if not self.over:
            self._end()
            if self._close is not None:
                self._close(why)

    def refuse(self, refused: LineRefused) -> None:
        log.info("a connection was refused: %s", refused.message)
        self.send(refused)
        self.end(refused.code)

    def _end(self) -> None:
        self.over = True
        self.fail_waiting()
        self._board.gone(self)
        followers, self.followers = self.followers, []
        for follower in followers:
            follower.ended()

    # Questions

    def begin(
        self, command: Command[Any], by: Actor, key: str | None, seconds: float
    ) -> "tuple[int, asyncio.Future[bytes]]":
        """Send a command at once; gives its number and its answer."""
        self._asks += 1
        number = self._asks
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        session_id = command.session_id if isinstance(command, SessionCommand) else ""
        self._waiting[number] = Question(answer, session_id)
        self.send(Ask(number, cast("DeviceCommand", command), by, key, round(seconds * 1000)))
        return number, answer

    def leave(self, number: int) -> None:
        """The caller no longer waits for this answer."""
        asked = self._waiting.pop(number, None)
        unanswered = asked is not None and (asked.answer.cancelled() or not asked.answer.done())
        if unanswered and not self.over:
            self.send(Cancel(number))

    def fail_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for asked in waiting.values():
            if not asked.answer.done():
                asked.answer.set_exception(DeviceOffline(WENT_AWAY))

    def _answer(self, reply: Reply) -> None:
        asked = self._waiting.get(reply.ask)
        if asked is None or asked.answer.done():
            return  # the caller has given up
        if reply.refusal is not None:
            asked.answer.set_exception(Refused(reply.refusal))
        elif self.catches_up is None or not asked.session_id or not reply.seq:
            asked.answer.set_result(bytes(reply.result))
        else:
            following = self._answer_after(self.catches_up, asked, reply)
            self._board.spawn(following, f"rows of ask {reply.ask}")

    async def _answer_after(self, catches_up: Copied, asked: Question, reply: Reply) -> None:
        """An answer may overtake its rows: who asks here next is to see what the command did."""
        try:
            await catches_up(asked.session_id, reply.seq)
        finally:
            if not asked.answer.done():
                asked.answer.set_result(bytes(reply.result))

    async def shows(self, answer: object) -> None:
        """Return once the hub's copies have the sessions that an answer says were begun."""
        if self.copied is None:
            return
        match answer:
            case SessionBegun(waiting=None):
                await self.copied(answer.session_id, answer.seq)
            case TakenUp():
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(SHOW_SECONDS):
                        for session_id in answer.session_ids:
                            await self.copied(session_id, 1)
            case _:
                pass

    # Signs of life

    def ping(self) -> None:
        self._pings += 1
        self.send(Ping(self._pings, self._board.clock()))

    async def answers_within(self, seconds: float) -> bool:
        """Whether anything is heard of it so soon after a ping."""
        if self.over:
            return False
        heard: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._probes.append(heard)
        self.ping()
        done, _ = await asyncio.wait({heard}, timeout=seconds)
        return bool(done)
