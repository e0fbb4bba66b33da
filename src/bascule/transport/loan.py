"""Borrows a duplicate of a terminal's descriptor from the keeper, over a connection of its own."""

import asyncio
import os
import socket
from collections.abc import Callable

from bascule.keeper.frames import FrameError, FrameReader, encode
from bascule.transport.errors import KeeperError

_REPLY_BYTES = 4096
# Where the flag is missing, `_take` sets the same a moment later.
_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


class Loan:
    """Asked for when it is made. `lent` is called once `fd` is there, `over` once when the loan has ended.

    asyncio reads its connections with `recv`, which drops descriptors, so this is a socket of our own. It is
    open as long as the loan: the keeper closes it when the program ends, the kernel when the keeper does.
    """

    def __init__(
        self, address: str, session: str, lent: Callable[[], None], over: Callable[[Exception], None]
    ) -> None:
        """Raises OSError when the keeper can't be asked now, or we have too many open files."""
        self.fd = -1
        self._lent = lent
        self._over = over
        self._loop = asyncio.get_running_loop()
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._line.setblocking(False)
            self._line.connect(address)
            self._line.send(encode({"id": 1, "op": "lend", "session": session}))
        except OSError:
            self._line.close()
            raise
        self._loop.add_reader(self._line, self._heard)

    def close(self) -> None:
        """Give it back. `over` is not called."""
        if self._line.fileno() >= 0:
            self._loop.remove_reader(self._line)
            self._line.close()
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def _heard(self) -> None:
        try:
            self._take()
        except BlockingIOError:
            return
        except (OSError, EOFError, FrameError, KeeperError) as error:
            self.close()
            self._over(error)
        else:
            self._lent()

    def _take(self) -> None:
        data, fds, _, _ = socket.recv_fds(self._line, _REPLY_BYTES, 1, _CLOSE_ON_EXEC)
        if not data or self.fd >= 0:
            raise EOFError("the keeper has ended the loan")
        if fds:
            self.fd = fds[0]
            os.set_inheritable(self.fd, False)
        reply = FrameReader()
        reply.feed(data)
        message, _ = reply.next() or ({}, b"")
        if "error" in message:
            raise KeeperError(str(message["error"]), str(message.get("message", "")))
        if not fds:
            raise EOFError("no descriptor came: too many files are open")
