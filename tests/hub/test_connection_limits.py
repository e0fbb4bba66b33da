"""Who is dropped when there are too many: never the user who has few, never one whose request is unread."""

import asyncio
import os
import socket
import struct
from typing import Any

import pytest
from tests.hub.running_hub import until
from tests.waiting import PATIENCE

from bascule.hub.wire.connection_limits import ConnectionCounter, WireLimits
from bascule.hub.wire.peer_uid import GONE, peer_uid

pytestmark = pytest.mark.anyio

LIMITS = WireLimits(strangers_per_address=10, connections=40, settle_seconds=0.01)


class Line(asyncio.Transport):
    """A transport that only knows who is at its end, and whether it was dropped."""

    def __init__(self, user: int | None) -> None:
        super().__init__({"sockname": ("127.0.0.1", 1), "peername": (str(user), 2)})
        self.dropped = asyncio.Event()

    def abort(self) -> None:
        self.dropped.set()


def by_name(_: Any, peer: tuple[str, int]) -> int | None:
    return None if peer[0] == "None" else int(peer[0])


def come(
    connections: ConnectionCounter, count: int, user: int | None, address: str = "127.0.0.1"
) -> list[Line]:
    lines = [Line(user) for _ in range(count)]
    assert all(connections.enter(line, address) for line in lines)
    return lines


def left(*lines: Line) -> int:
    return sum(not line.dropped.is_set() for line in lines)


@pytest.mark.row("F8")
async def test_the_longest_silent_connections_are_dropped_once_the_burst_is_over():
    connections = ConnectionCounter(LIMITS, by_name)
    lines = come(connections, 15, None)
    assert left(*lines) == 15  # all of them may have sent something that was not read yet
    await asyncio.wait_for(lines[4].dropped.wait(), PATIENCE)
    assert [line.dropped.is_set() for line in lines] == [True] * 5 + [False] * 10


@pytest.mark.row("F8")
async def test_a_user_with_few_connections_is_not_dropped_for_one_with_many():
    connections = ConnectionCounter(LIMITS, by_name)
    mine = come(connections, 5, 1)  # while there was room: nobody asked whose they are
    theirs = come(connections, 20, 2)
    own = come(connections, 2, 1)
    more = come(connections, 20, 2)
    await until(lambda: len(connections) == 10)
    assert left(*own) == 2
    assert left(*mine, *own, *theirs, *more) == 10


@pytest.mark.row("F8")
async def test_a_burst_beyond_all_bounds_drops_at_once():
    connections = ConnectionCounter(LIMITS, by_name)
    lines = come(connections, 39, 7, "a")
    assert come(connections, 5, 8, "b")
    assert left(*lines) == 35  # those of the address that has most
    assert len(connections) == 40


@pytest.mark.row("F8")
async def test_authenticated_connections_are_never_dropped_and_only_they_can_use_up_the_limit():
    connections = ConnectionCounter(LIMITS, by_name)
    for line in (lines := come(connections, 40, 7)):
        connections.known(line)
    assert left(*lines) == 40
    assert connections.enter(Line(7), "127.0.0.1") is False


@pytest.mark.row("F8")
async def test_connections_that_sent_a_request_are_dropped_last():
    connections = ConnectionCounter(LIMITS, by_name)
    lines = come(connections, 11, None)
    connections.heard(lines[0])
    await asyncio.wait_for(lines[1].dropped.wait(), PATIENCE)
    assert left(*lines) == 10


@pytest.mark.row("F8")
@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_the_peers_user_is_known_on_this_machine_only(family: socket.AddressFamily, host: str):
    with socket.socket(family) as listening:
        listening.bind((host, 0))
        listening.listen()
        with socket.create_connection((host, listening.getsockname()[1])):
            ours, _ = listening.accept()
            with ours:
                asked = (ours.getsockname()[:2], ours.getpeername()[:2])
                assert peer_uid(*asked) == os.getuid()
                assert peer_uid(asked[0], ("192.0.2.1", 5)) is None
                assert peer_uid(asked[0], (host, 1)) == GONE
                assert peer_uid(("", 0), ("", 0)) is None


@pytest.mark.row("F8", "S28")
@pytest.mark.parametrize("resets", [False, True])
def test_a_peer_that_has_closed_is_nobody_and_not_root(resets: bool):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        peer = socket.create_connection(listening.getsockname())
        ours, _ = listening.accept()
        with ours:
            asked = (ours.getsockname(), peer.getsockname())
            if resets:
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            peer.close()
            assert peer_uid(*asked) == GONE


@pytest.mark.row("S57")
async def test_when_authenticated_connections_use_up_the_limit_a_new_one_is_refused():
    connections = ConnectionCounter(WireLimits(strangers_per_address=1, connections=3), by_name)
    known = come(connections, 3, None)
    for line in known:
        connections.known(line)
    stranger = Line(None)
    assert not connections.enter(stranger, "127.0.0.1")
    connections.leave(known[0])
    assert connections.enter(stranger, "127.0.0.1")
    assert left(*known) == 3
