"""Accepts connections in a way that can pause: where no file can be opened, newcomers wait in the kernel.

uvloop's own server closes those that it has no file for.
"""

import asyncio
import contextlib
import errno
import logging
import socket
import ssl
from collections.abc import Callable

PAUSE_SECONDS = 0.5
AT_ONCE = 256  # then the others on the loop have their turn
NO_ROOM = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
PASSING = (BlockingIOError, InterruptedError, ConnectionAbortedError)

log = logging.getLogger(__name__)


class AcceptingServer:
    """In the place of an `asyncio.Server`, as far as uvicorn asks for one."""

    def __init__(
        self, listening: socket.socket, protocol: Callable[[], asyncio.Protocol], tls: ssl.SSLContext | None
    ) -> None:
        self._listening = listening
        self._protocol = protocol
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._resume: asyncio.TimerHandle | None = None
        self._paused = False
        self._open = True
        self._beginning: set[asyncio.Task[None]] = set()
        self._watch()

    def close(self) -> None:
        if not self._open:
            return
        self._open = False
        if self._resume is None:
            self._loop.remove_reader(self._listening)
        else:
            self._resume.cancel()

    async def wait_closed(self) -> None:
        """Those that were accepted become connections first: who is cut off in between is told nothing."""
        await asyncio.gather(*self._beginning, return_exceptions=True)

    def _watch(self) -> None:
        self._resume = None
        self._loop.add_reader(self._listening, self._accept)

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                accepted, _ = self._listening.accept()
            except PASSING:
                return
            except OSError as error:
                if error.errno not in NO_ROOM:
                    raise
                self._pause(error)
                return
            if self._paused:
                self._paused = False
                log.warning("connections are accepted again")
            accepted.setblocking(False)
            task = self._loop.create_task(self._begin(accepted), name="accept")
            self._beginning.add(task)
            task.add_done_callback(self._beginning.discard)

    def _pause(self, error: OSError) -> None:
        """Until files were closed: to be asked again at once would take a whole core."""
        self._loop.remove_reader(self._listening)
        self._resume = self._loop.call_later(PAUSE_SECONDS, self._watch)
        if not self._paused:
            self._paused = True
            log.warning("new connections wait: no more files can be opened (%s)", error.strerror)

    async def _begin(self, accepted: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as closing:
            closing.callback(accepted.close)  # it left, or speaks no TLS
            await self._loop.connect_accepted_socket(self._protocol, accepted, ssl=self._tls)
            closing.pop_all()
