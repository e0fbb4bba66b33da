"""Many machines of one hub that is killed and started again: all are back, and they do not come all at once.

Each machine is a real uplink over a real socket with nothing behind it: there is no room for fifty daemons.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.machines.machines import Hub
from tests.machines.relay import Relay
from tests.machines.scale import FULL, scaled
from tests.waiting import PATIENCE, stretched

from bascule.daemon.hub_lines.uplink import HubAddress, Send, Uplink
from bascule.link.frames import AnyFrame, DaemonConnected, Ping, Pong
from bascule.link.uplink import UplinkStatus

pytestmark = pytest.mark.anyio

MACHINES = scaled(8, 50)
BACK_SECONDS = 60.0
SMALLEST_BACKLOG = 128  # connections that may wait to be accepted, on systems with the least
LISTENING = "0A"  # in /proc/net/tcp


class BareMachine:
    """An uplink that says hello and answers pings."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.online = asyncio.Event()
        self._attempt = 0

    async def run(self, url: str, token: str) -> None:
        address = HubAddress(url, token, self.device)
        await Uplink(address, self._attach, time.time, time.monotonic, self._changed).run()

    def _attach(self, send: Send, close: object) -> "BareEnd":
        self._attempt += 1
        hello = DaemonConnected(self.device, self.device, "1", boot=self.device, attempt=self._attempt)
        send(hello)
        return BareEnd(send)

    def _changed(self, status: UplinkStatus) -> None:
        if status.state == "connected":
            self.online.set()
        else:
            self.online.clear()


class BareEnd:
    def __init__(self, send: Send) -> None:
        self._send = send

    def receive(self, frame: AnyFrame) -> None:
        if isinstance(frame, Ping):
            self._send(Pong(frame.n, frame.clock, time.time()))

    async def closed(self) -> None:
        pass


def waiting_to_be_accepted(url: str) -> int:
    """Connections to this port that the system has and the server has not taken yet."""
    port = f":{int(url.rsplit(':', 1)[1]):04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    depths = [int(row[4].split(":")[1], 16) for row in rows if row[1].endswith(port) and row[3] == LISTENING]
    return max(depths, default=0)


@pytest.fixture
def hub(hub_behind_line: Hub) -> Hub:
    return hub_behind_line


@pytest.fixture
async def machines(hub: Hub, line: Relay) -> AsyncIterator[list[BareMachine]]:
    made = [BareMachine(f"d-{number}") for number in range(MACHINES)]
    async with asyncio.TaskGroup() as group:
        running: list[asyncio.Task[None]] = []
        for machine in made:
            answer = await hub.post("/api/grants", name=machine.device, role="daemon", device=machine.device)
            assert answer.status_code == 200, answer.text
            running.append(group.create_task(machine.run(line.url, answer.json()["token"])))
        yield made
        for task in running:
            task.cancel()


async def all_online(machines: list[BareMachine]) -> None:
    async with asyncio.timeout(PATIENCE):
        for machine in machines:
            await machine.online.wait()


@pytest.mark.row("REL-12", "R2")
async def test_all_machines_are_back_after_the_hub_was_killed_and_they_do_not_come_at_once(
    hub: Hub, machines: list[BareMachine], line: Relay
) -> None:
    await all_online(machines)
    deepest = 0

    async def look() -> None:
        nonlocal deepest
        while True:
            deepest = max(deepest, waiting_to_be_accepted(hub.url))
            await asyncio.sleep(0.05)

    with stretched() as busy:
        looking = asyncio.create_task(look())
        line.arrived.clear()
        await hub.kill()
        await asyncio.gather(*(gone(machine) for machine in machines))
        began = time.monotonic()
        await hub.start()
        await all_online(machines)
        took = time.monotonic() - began
        looking.cancel()
    assert took < BACK_SECONDS * max(busy)
    devices = await hub.devices()
    assert {one for one, status in devices.items() if status["online"]} == {one.device for one in machines}
    came = sorted(line.arrived)
    assert len(came) >= len(machines)
    if FULL:  # a few may well come together
        most = max(sum(begin <= one < begin + 0.1 for one in came) for begin in came)
        assert most <= len(machines) // 2, [round(one - came[0], 2) for one in came]
    assert deepest < SMALLEST_BACKLOG


async def gone(machine: BareMachine) -> None:
    async with asyncio.timeout(PATIENCE):
        while machine.online.is_set():  # noqa: ASYNC110 - an event can't be waited for to be cleared
            await asyncio.sleep(0.01)
