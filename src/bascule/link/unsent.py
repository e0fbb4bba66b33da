"""Has the system take little more than it can send: what the kernel took, no urgent frame can overtake."""

import sys
from contextlib import suppress
from typing import Any, Protocol

from bascule.link.wire import AHEAD

IPPROTO_TCP = 6
TCP_NOTSENT_LOWAT = {"linux": 25, "darwin": 0x201}.get(sys.platform)


class Transport(Protocol):
    def get_extra_info(self, name: str, /) -> Any: ...
    def set_write_buffer_limits(self, high: int | None = None) -> None: ...


def keep_little_unsent(transport: Transport) -> None:
    """Ours too. Where the system has no such option, a keystroke waits behind what the kernel took."""
    transport.set_write_buffer_limits(high=AHEAD)
    socket = transport.get_extra_info("socket")
    if socket is not None and TCP_NOTSENT_LOWAT is not None:
        with suppress(OSError):  # a unix socket has no such option, and needs none
            socket.setsockopt(IPPROTO_TCP, TCP_NOTSENT_LOWAT, AHEAD)
