"""A connection whose kernel takes little more than it can send."""

import asyncio
import socket
import sys
from pathlib import Path

import pytest

from bascule.link.unsent import IPPROTO_TCP, TCP_NOTSENT_LOWAT, keep_little_unsent
from bascule.link.wire import AHEAD

pytestmark = pytest.mark.anyio


@pytest.mark.skipif(TCP_NOTSENT_LOWAT is None, reason=f"{sys.platform} has no such option")
async def test_the_kernel_is_asked_to_take_no_more_than_a_line_hands_over_at_once() -> None:
    assert TCP_NOTSENT_LOWAT is not None
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    keep_little_unsent(writer.transport)
    assert writer.transport.get_write_buffer_limits()[1] == AHEAD
    made: socket.socket = writer.get_extra_info("socket")
    assert made.getsockopt(IPPROTO_TCP, TCP_NOTSENT_LOWAT) == AHEAD
    writer.close()
    server.close()


async def test_a_unix_socket_is_left_as_it_is(short_dir: Path) -> None:
    path = str(short_dir / "s")
    server = await asyncio.start_unix_server(lambda _, writer: writer.close(), path)
    _, writer = await asyncio.open_unix_connection(path)
    keep_little_unsent(writer.transport)
    assert not writer.is_closing()
    writer.close()
    server.close()
