"""An agent's stdin: a queue of writes, in order, each done once, never blocking the keeper."""

import fcntl
import os
import struct
import termios
from collections import deque
from collections.abc import Callable

from bascule.keeper.lines import LineGuard
from bascule.keeper.loan import Loan
from bascule.keeper.loop import WRITE, Loop
from bascule.keeper.request_checks import Refused

MAX_QUEUED = 64 * 1024 * 1024
MAX_WRITES = 4096
_REMEMBERED = 4096
_TURN_BYTES = 256 * 1024

# Called once: with None when the bytes are in the pipe, or with why they never will be.
Done = Callable[[Refused | None], None]


class _Write:
    def __init__(self, write_id: str, data: bytes) -> None:
        self.write_id = write_id
        self.left = memoryview(data)
        self.waiting: list[Done] = []


class Input:
    def __init__(self, loop: Loop, fd: int, is_terminal: bool, typed: Callable[[], None]) -> None:
        self._loop = loop
        self._typed = typed
        self._fd = fd
        self._is_terminal = is_terminal
        self._lines = LineGuard(fd) if is_terminal else None
        self._queue: deque[_Write] = deque()
        self._queued = 0
        self._finished: dict[str, None] = {}
        self._closing = False
        self._loan: Loan | None = None

    @property
    def open(self) -> bool:
        return self._fd >= 0 and not self._closing

    @property
    def pending(self) -> int:
        return len(self._queue)

    @property
    def unread(self) -> int:
        """Bytes that wait for the agent to read: here and in its pipe; what a terminal holds is not seen."""
        if self._fd < 0:
            return 0
        if self._is_terminal:
            return self._queued
        return self._queued + struct.unpack("i", fcntl.ioctl(self._fd, termios.FIONREAD, bytes(4)))[0]

    def has_written(self, write_id: str) -> bool:
        """Whether these bytes are in the pipe. Only the newest few thousand are remembered."""
        return write_id in self._finished

    def write(self, write_id: str, data: bytes, done: Done) -> None:
        """Queue the bytes unless this write_id was seen before; calls `done` either way."""
        if write_id in self._finished:
            done(None)
            return
        for write in self._queue:
            if write.write_id == write_id:
                write.waiting.append(done)
                return
        if not self.open:
            raise Refused("stdin_closed", "the agent's stdin is closed")
        if self._queued + len(data) > MAX_QUEUED or len(self._queue) >= MAX_WRITES:
            raise Refused("stdin_full", "the agent is not reading; too much is waiting for it")
        if self._lines and (why := self._lines.refusal(data)):
            raise Refused("line_too_long", why)
        write = _Write(write_id, data)
        write.waiting.append(done)
        self._queue.append(write)
        self._queued += len(data)
        self._typed()
        if len(self._queue) == 1:
            self._turn()

    def lend(self, hand_over: Callable[[int], Loan]) -> None:
        """Let the server write keys to the terminal itself. Not while some of its input still waits here."""
        if not self._is_terminal:
            raise Refused("not_a_terminal", "the session has no terminal")
        if not self.open:
            raise Refused("stdin_closed", "the agent's stdin is closed")
        if self._queue:
            raise Refused("busy", "some input waits for the program to read")
        loan = hand_over(self._fd)
        self._recall()
        self._loan = loan

    @property
    def room(self) -> int | None:
        """How many bytes the server may write itself before it tells us of them; None without a loan."""
        return self._lines.room if self._lines and self._loan and self._loan.open else None

    def saw(self, data: bytes) -> None:
        """The server wrote these bytes itself."""
        if self._lines and data:
            self._lines.saw(data)
            self._typed()

    def close_when_written(self) -> None:
        """Close after the queued writes; a terminal is sent its end-of-file character."""
        if not self.open:
            return
        self._recall()
        if self._is_terminal:
            farewell = _Write("", _end_of_file(self._fd))
            self._queue.append(farewell)
            self._queued += len(farewell.left)
        self._closing = True
        self._turn()

    def close(self, reason: Refused | None = None) -> None:
        """Close now, and fail the writes that still wait."""
        self._recall()
        if self._fd >= 0:
            self._loop.unwatch(self._fd)
            os.close(self._fd)
            self._fd = -1
        abandoned, self._queue, self._queued = self._queue, deque[_Write](), 0
        for write in abandoned:
            for done in write.waiting:
                done(reason or Refused("stdin_closed", "the agent's stdin is closed"))

    def _recall(self) -> None:
        if self._loan:
            self._loan.end()
            self._loan = None

    def _turn(self) -> None:
        turn_ends_at = self._queued - _TURN_BYTES
        try:
            while self._queue and self._queued > turn_ends_at:
                self._write_some(self._queue[0])
        except BlockingIOError:
            self._loop.watch(self._fd, WRITE, self._turn)
            return
        except OSError:
            # EPIPE from a pipe, EIO from a terminal: nobody is left to read.
            self.close()
            return
        if self._queue:
            self._loop.watch(self._fd, WRITE, self._turn)
            return
        self._loop.unwatch(self._fd)
        if self._closing and not self._is_terminal:
            self.close()

    def _write_some(self, write: _Write) -> None:
        if write.left:
            count = os.write(self._fd, write.left)
            write.left = write.left[count:]
            self._queued -= count
        if not write.left:
            self._finish(write)

    def _finish(self, write: _Write) -> None:
        self._queue.popleft()
        self._finished[write.write_id] = None
        if len(self._finished) > _REMEMBERED:
            del self._finished[next(iter(self._finished))]
        for done in write.waiting:
            done(None)


def _end_of_file(fd: int) -> bytes:
    character = termios.tcgetattr(fd)[6][termios.VEOF]
    return character if isinstance(character, bytes) else b"\x04"
