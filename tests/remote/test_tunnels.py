"""Tunnels over ssh: open while the hub wants them, opened again after a loss, and gone with the hub."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from tests.hub.running_hub import RunningHub, raw_exchange, status_of, until
from tests.ports import kept_port, number
from tests.remote.far_machine import FarMachine

from bascule.link.tunnels import TunnelStatus
from bascule.model.errors import InvalidInput
from bascule.remote.tunnels import Tunnels

pytestmark = pytest.mark.anyio

NO_PAUSE = (0.0,)


@pytest.fixture
def far(short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> FarMachine:
    made = FarMachine(short_dir)
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    return made


@pytest.fixture
async def tunnels(hub: RunningHub, far: FarMachine, tmp_path: Path) -> AsyncIterator[Tunnels]:
    made = Tunnels(tmp_path, hub.port, NO_PAUSE)
    made.allow = hub.services.doors.tunnelled
    yield made
    await made.stop()


@pytest.fixture
def port() -> Iterator[int]:
    with kept_port() as kept:
        yield number(kept)


async def answer_at(port: int) -> int:
    """The status by which the hub answers a machine that dials its own port."""
    return status_of(
        await raw_exchange(port, f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    )


def state_of(tunnels: Tunnels, state: str) -> Callable[[], bool]:
    return lambda: [one.state for one in tunnels.list()] == [state]


async def refused(port: int) -> None:
    """Wait until nothing listens there any more."""
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            return
        writer.close()


async def test_a_machine_reaches_the_hub_by_a_port_of_its_own(
    hub: RunningHub, tunnels: Tunnels, far: FarMachine, tmp_path: Path, port: int
) -> None:
    assert await tunnels.open("far", port) == TunnelStatus("far", port, "open")
    assert await answer_at(port) == 200
    assert "BatchMode=yes" in far.calls[-1]
    # The next server opens it again.
    await tunnels.stop()
    await refused(port)
    again = Tunnels(tmp_path, hub.port, NO_PAUSE)
    again.allow = hub.services.doors.tunnelled
    again.start()
    try:
        await until(state_of(again, "open"))
        assert await answer_at(port) == 200
        assert await again.close("far")
        assert not await again.close("far")
        await refused(port)
        # By another name or port than a tunnel's nobody is let in.
        stranger = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        assert status_of(await raw_exchange(hub.port, stranger)) == 421
        assert again.list() == []
    finally:
        await again.stop()


async def test_a_tunnel_that_breaks_off_is_opened_again(tunnels: Tunnels, far: FarMachine, port: int) -> None:
    await tunnels.open("far", port)
    (far.folder / "broken").touch()
    os.kill(far.pids[-1], signal.SIGTERM)
    await until(lambda: "Connection refused" in tunnels.list()[0].message)
    assert tunnels.list()[0].state == "failed"
    (far.folder / "broken").unlink()
    await until(state_of(tunnels, "open"))
    assert await answer_at(port) == 200


async def test_a_port_that_is_taken_there_is_said(tunnels: Tunnels) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status = await tunnels.open("far", taken.getsockname()[1])
    assert (status.state, status.message) == ("failed", "Error: remote port forwarding failed")
    with pytest.raises(InvalidInput):
        await tunnels.open("-oProxyCommand=evil", 23400)
