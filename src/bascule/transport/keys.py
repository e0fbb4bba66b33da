"""A terminal's input: keys are written to a borrowed descriptor, everything else is sent to the keeper."""

import asyncio
import math
import os
from collections.abc import Callable
from functools import partial

from bascule.keeper.frames import Message
from bascule.transport.errors import KeeperError, KeeperGone
from bascule.transport.keeper_connection import Answer, Done
from bascule.transport.loan import Loan

IDLE_SECONDS = 60.0  # after this long without a key the descriptor is given back
RETRY_SECONDS = 5.0  # after a loan was refused or has ended
# How often keys are reported to the keeper: it reads the terminal that is typed into before others for 0.5 s.
TELL_SECONDS = 0.25
_UNKNOWN = "unknown_op"

Post = Callable[[Message, bytes, Callable[[Answer], None]], None]


class Keys:
    """Keeps the order of the calls: while a request is under way, what follows is sent the same way.

    The keeper's replies say how many bytes may be written without it (`room`): it must know how long a
    line is to refuse one that the kernel would cut. A keeper that can't lend gets every key by request.
    """

    def __init__(self, session: str, address: str, post: Post) -> None:
        self._session = session
        self._address = address
        self._post = post
        self._loop = asyncio.get_running_loop()
        self._loan: Loan | None = None
        self._fd = -1
        self._room = 0  # bytes that may be written to `_fd`; 0 whenever there is none
        self._typed = bytearray()  # written to `_fd`, and not reported to the keeper yet
        self._under_way = 0
        self._tell_at = 0.0
        self._borrow_at = 0.0
        self._idle: asyncio.TimerHandle | None = None
        self._used = False

    def type(self, write_id: str, data: bytes, done: Done) -> None:
        """`done` is called once, possibly before this returns."""
        if self._under_way or self._fd < 0 or len(data) > self._room:
            self._send(write_id, data, done)
            return
        count = self._write(data)
        if count == len(data):
            done(None)
        else:
            self._send(write_id, data[count:], done)
        now = self._loop.time()
        if now >= self._tell_at:
            self._tell(now)

    def resize(self, cols: int, rows: int, done: Done) -> None:
        """A request like a large input: keys typed after it come after it."""
        message: Message = {"op": "resize", "session": self._session, "cols": cols, "rows": rows}
        self._under_way += 1
        self._post(message, b"", partial(self._resized, done))

    def close(self) -> None:
        """Give the descriptor back. What was typed before is still delivered."""
        if self._loan is not None:
            self._loan.close()
        self._forget_loan(math.inf)

    def _write(self, data: bytes) -> int:
        """How many bytes the terminal took: fewer than all when its program does not read."""
        try:
            count = os.write(self._fd, data)
        except BlockingIOError:
            return 0
        except OSError:
            # The keeper meets the same error, and knows why: its refusal is what the caller gets.
            self._give_back()
            return 0
        self._used = True
        self._room -= count
        self._typed += data[:count]
        return count

    def _send(self, write_id: str, data: bytes, done: Done) -> None:
        message: Message = {"op": "write", "session": self._session, "write_id": write_id}
        if self._typed:
            message["typed"] = len(self._typed)
            data = self._take_typed() + data
        self._under_way += 1
        self._post(message, data, partial(self._sent, done))
        if self._loan is None and self._loop.time() >= self._borrow_at:
            self._borrow()

    def _sent(self, done: Done, answer: Answer) -> None:
        self._under_way -= 1
        self._renew(answer)
        done(_failure(answer))

    def _resized(self, done: Done, answer: Answer) -> None:
        self._under_way -= 1
        done(_failure(answer))

    def _tell(self, now: float) -> None:
        self._tell_at = now + TELL_SECONDS
        if self._typed:
            self._post({"op": "typed", "session": self._session}, self._take_typed(), self._renew)

    def _take_typed(self) -> bytes:
        typed = bytes(self._typed)
        self._typed.clear()
        return typed

    def _renew(self, answer: Answer) -> None:
        """The keeper's figure is from before what we have written since."""
        room = answer.get("room", 0) if isinstance(answer, dict) else 0
        self._room = max(0, room - len(self._typed)) if self._fd >= 0 else 0

    # The loan

    def _borrow(self) -> None:
        try:
            self._loan = Loan(self._address, self._session, self._lent, self._over)
        except OSError:
            self._forget_loan(RETRY_SECONDS)

    def _lent(self) -> None:
        # The room comes with the next reply: only then has the keeper counted what was sent meanwhile.
        assert self._loan is not None
        self._fd = self._loan.fd
        self._used = True
        self._look_if_idle()

    def _over(self, error: Exception) -> None:
        unknown = isinstance(error, KeeperError) and error.code == _UNKNOWN
        self._forget_loan(math.inf if unknown else RETRY_SECONDS)

    def _look_if_idle(self) -> None:
        if self._used:
            self._used = False
            self._idle = self._loop.call_later(IDLE_SECONDS, self._look_if_idle)
        else:
            self._give_back()
            self._borrow_at = 0.0

    def _give_back(self) -> None:
        if self._loan is not None:
            self._loan.close()
        self._forget_loan(RETRY_SECONDS)

    def _forget_loan(self, pause: float) -> None:
        self._loan, self._fd, self._room = None, -1, 0
        self._borrow_at = self._loop.time() + pause
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None


def _failure(answer: Answer) -> KeeperError | KeeperGone | None:
    return None if isinstance(answer, dict) else answer
