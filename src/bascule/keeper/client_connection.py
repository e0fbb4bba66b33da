"""One client's connection to the keeper: requests in, replies out, and notices when its buffer has room."""

import socket
from collections.abc import Callable, Iterable

from bascule.keeper.frames import FrameError, FrameReader, Message, encode
from bascule.keeper.leftover import Leftover
from bascule.keeper.loan import Loan
from bascule.keeper.loop import READ, WRITE, Loop, Timer
from bascule.keeper.request_checks import Refused
from bascule.keeper.session import Exit, Session

_READ_BYTES = 256 * 1024
# Past this much unsent we stop taking requests: it bounds what a client that never reads can cost.
_MAX_UNSENT = 256 * 1024
# A session that wrote this much within the window floods: its output notices are sent less often, so that the
# server has time for the other sessions. A keystroke's echo is never delayed.
_FLOOD_BYTES = 128 * 1024
_FLOOD_WINDOW = 0.05
_FLOOD_PAUSE = 0.006
# How long the reply to a keystroke waits, so that it shares one write with the keystroke's echo: each write
# wakes the server, and the person who typed only sees the echo.
_REPLY_DELAY = 0.002


class _Sent:
    """What the keeper last sent a client about a session."""

    def __init__(self) -> None:
        self.ends: tuple[int, int] = (-1, -1)
        self.storage: str | None = None
        self.exit: Exit | None = None
        self.sent_at = 0.0
        self.since = 0.0  # the beginning of the moment in which `flow` was counted
        self.flow = 0

    def is_flood(self, now: float) -> bool:
        return self.flow > _FLOOD_BYTES and now - self.since < 2 * _FLOOD_WINDOW

    def count(self, grown: int, now: float) -> None:
        self.sent_at = now
        if now - self.since > _FLOOD_WINDOW:
            self.since, self.flow = now, grown if now - self.since < 2 * _FLOOD_WINDOW else 0
        self.flow += grown


class ClientConnection:
    def __init__(
        self,
        loop: Loop,
        connection: socket.socket,
        handle: Callable[["ClientConnection", Message, bytes], None],
        gone: Callable[["ClientConnection", str], None],
    ) -> None:
        self._loop = loop
        self._socket = connection
        self._handle = handle
        self._gone = gone
        self._frames = FrameReader()
        self._unsent = bytearray()
        self._delayed = bytearray()
        self._sent: dict[str, _Sent] = {}
        self._dirty: dict[str, Session | Leftover] = {}
        self._watching = False
        self._later: Timer | None = None
        self._events = 0
        self.open = True
        connection.setblocking(False)
        self._listen_for(READ)

    def reply(self, message: Message) -> None:
        if self.open:
            self._unsent += encode(message)
            self._send()

    def reply_after_output(self, message: Message) -> None:
        """Reply within 2 ms, in one write with the output notices of that time and after them."""
        if self.open:
            self._delayed += encode(message)
            self._wake_later(_REPLY_DELAY)

    def lend(self, message: Message, fd: int) -> Loan:
        """Reply with a duplicate of `fd`. From then on the connection carries only the loan's end."""
        if self._unsent or self._delayed:
            raise Refused("busy", "a descriptor is lent on a connection of its own")
        socket.send_fds(self._socket, [encode(message)], [fd])
        self.open = False
        self._loop.unwatch(self._socket.fileno())
        self._gone(self, "closed")
        return Loan(self._loop, self._socket)

    def watch(self, sessions: Iterable[Session | Leftover]) -> None:
        self._watching = True
        for session in sessions:
            self._dirty[session.id] = session

    def mark(self, session: Session | Leftover) -> None:
        """Marks a session as changed: the client gets only its newest state, when its buffer has room."""
        if self._watching:
            self._dirty[session.id] = session

    def forget(self, session: str) -> None:
        self._dirty.pop(session, None)
        self._sent.pop(session, None)

    def flush(self) -> None:
        if (not self._dirty and not self._delayed) or self._unsent or not self.open:
            return
        now = self._loop.now()
        waiting: dict[str, Session | Leftover] = {}
        for session in self._dirty.values():
            if self._may_wait(session, now):
                waiting[session.id] = session
                continue
            for notice in self._news(session):
                self._unsent += encode(notice)
        self._dirty = waiting
        if self._later is None:
            self._unsent += self._delayed
            self._delayed.clear()
        if waiting:
            self._wake_later(_FLOOD_PAUSE)
        self._send()

    def _may_wait(self, session: Session | Leftover, now: float) -> bool:
        sent = self._sent.get(session.id)
        if sent is None or session.exit != sent.exit or session.storage_error != sent.storage:
            return False
        return now - sent.sent_at < _FLOOD_PAUSE and sent.is_flood(now)

    def _wake_later(self, seconds: float) -> None:
        if self._later is None:
            self._later = self._loop.after(seconds, self._woke)

    def _woke(self) -> None:
        # Nothing to do here: the loop calls `flush` after every turn, and this timer made it turn.
        self._later = None

    def close(self, reason: str) -> None:
        if self.open:
            self.open = False
            self._loop.unwatch(self._socket.fileno())
            self._socket.close()
            self._gone(self, reason)

    def _news(self, session: Session | Leftover) -> Iterable[Message]:
        sent = self._sent.setdefault(session.id, _Sent())
        out, err = session.ends
        if session.storage_error != sent.storage:
            sent.storage = session.storage_error
            yield {"notice": "storage", "session": session.id, "error": sent.storage}
        if session.ends != sent.ends:
            sent.count(max(0, out - sent.ends[0]), self._loop.now())
            sent.ends = session.ends
            yield {"notice": "output", "session": session.id, "out": out, "err": err}
        if session.exit != sent.exit:
            sent.exit = session.exit
            yield {
                "notice": "exit",
                "session": session.id,
                **describe_exit(session.exit),
                "out": out,
                "err": err,
            }

    def _turn(self) -> None:
        try:
            if self._unsent:
                self._send()
            if self.open and len(self._unsent) < _MAX_UNSENT:
                self._receive()
        except Exception:
            # Left open, its requests would wait for ever.
            self.close("failed")
            raise

    def _receive(self) -> None:
        try:
            data = self._socket.recv(_READ_BYTES)
        except BlockingIOError:
            return self._requests()
        except OSError as error:
            return self.close(f"lost: {error}")
        if not data:
            return self.close("closed")
        self._frames.feed(data)
        return self._requests()

    def _requests(self) -> None:
        try:
            while self.open and len(self._unsent) < _MAX_UNSENT and (frame := self._frames.next()):
                self._handle(self, *frame)
        except FrameError as error:
            self.close(f"protocol error: {error}")

    def _send(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            self._listen_for(WRITE if len(self._unsent) >= _MAX_UNSENT else READ | WRITE)
            return
        except OSError as error:
            self.close(f"lost: {error}")
            return
        self._listen_for(READ)

    def _listen_for(self, events: int) -> None:
        if events != self._events:
            self._events = events
            self._loop.watch(self._socket.fileno(), events, self._turn)


def describe_exit(ending: Exit | None) -> Message:
    if ending is None:
        return {"code": None, "signal": None}
    facts: Message = {"code": ending.code, "signal": ending.signal}
    return {**facts, "lost": True} if ending.lost else facts
