"""A wake-up or another network: an uplink that waits tries at once, and one that is connected asks."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.hub.running_hub import RunningHub, running_hub
from tests.machines.relay import Relay, relay
from tests.waiting import PATIENCE

from bascule.daemon.hub_lines import network_changes
from bascule.daemon.hub_lines.network_changes import ADDRESSES, IPV6_ROUTES, NetworkChanges, Routes, routes
from bascule.daemon.hub_lines.uplink import HubAddress, Send, Uplink
from bascule.link.frames import AnyFrame, DaemonConnected, Ping, Pong
from bascule.link.liveness import DEAD_AFTER
from bascule.link.uplink import UplinkStatus

pytestmark = pytest.mark.anyio

AWAY = 60.0  # seconds that the machine slept
SILENT = re.compile(r"The hub has not been heard for (\d+) seconds")


class Machine:
    """An uplink whose clock and network are the test's, and which counts what the hub answered."""

    def __init__(self, url: str, token: str) -> None:
        self.slept = 0.0
        self.network: Routes = (b"home",)
        self.told: asyncio.Queue[UplinkStatus] = asyncio.Queue()
        self.pongs: asyncio.Queue[Pong] = asyncio.Queue()
        self._attempt = 0
        address = HubAddress(url, token, "d1")
        uplink = Uplink(
            address, self._attach, time.time, self._steady, self.told.put_nowait, lambda: self.network
        )
        self.task = asyncio.create_task(uplink.run(), name="uplink")

    def _steady(self) -> float:
        return time.monotonic() + self.slept

    def _attach(self, send: Send, close: object) -> "Machine":
        self._attempt += 1
        self._send = send
        send(DaemonConnected("d1", "d1", "1", boot="b", attempt=self._attempt))
        return self

    def receive(self, frame: AnyFrame) -> None:
        match frame:
            case Ping():
                self._send(Pong(frame.n, frame.clock, time.time()))
            case Pong():
                self.pongs.put_nowait(frame)
            case _:
                pass

    async def closed(self) -> None:
        pass

    async def until(self, state: str) -> UplinkStatus:
        async with asyncio.timeout(PATIENCE):
            while (told := await self.told.get()).state != state:
                pass
        return told

    def changes(self, what: str) -> None:
        if what == "network":
            self.network = (b"elsewhere",)
        else:
            self.slept += AWAY


@pytest.fixture
async def line() -> AsyncIterator[Relay]:
    async with relay() as made:
        yield made


@pytest.fixture
async def hub(tmp_path: Path, line: Relay) -> AsyncIterator[RunningHub]:
    async with running_hub(tmp_path, allowed_hosts=(line.host,)) as made:
        line.target = f"http://127.0.0.1:{made.port}"
        yield made


@asynccontextmanager
async def machine(line: Relay, token: str) -> AsyncIterator[Machine]:
    made = Machine(line.url, token)
    try:
        yield made
    finally:
        made.task.cancel()
        await asyncio.gather(made.task, return_exceptions=True)


async def token_of(hub: RunningHub) -> str:
    async with hub.client(hub.tokens["owner"]) as http:
        made = await http.post("/api/grants", json={"name": "d1", "role": "daemon", "device": "d1"})
    assert made.status_code == 200, made.text
    return made.json()["token"]


@pytest.mark.row("R3", "REL-10")
@pytest.mark.parametrize("what", ["network", "wake-up"])
async def test_who_was_turned_away_tries_at_once(hub: RunningHub, line: Relay, what: str) -> None:
    """After 401 the next attempt is minutes away."""
    async with machine(line, "another hub's") as made:
        await made.until("refused")
        assert len(line.arrived) == 1
        made.changes(what)
        async with asyncio.timeout(PATIENCE):
            while len(line.arrived) == 1:  # noqa: ASYNC110 - the status stays what it was
                await asyncio.sleep(0.02)


@pytest.mark.row("R3", "REL-10")
@pytest.mark.parametrize("what", ["network", "wake-up"])
async def test_a_connection_that_leads_nowhere_any_more_is_given_up_soon(
    hub: RunningHub, line: Relay, what: str
) -> None:
    async with machine(line, await token_of(hub)) as made:
        await made.until("connected")
        line.hold_up()  # nobody hears of it; connections that follow pass
        made.changes(what)
        lost = await made.until("unreachable")
        silent = SILENT.match(lost.message)
        assert silent is not None, lost
        assert int(silent[1]) - made.slept < DEAD_AFTER
        await made.until("connected")
        assert len(line.arrived) == 2


@pytest.mark.row("R3", "REL-10")
@pytest.mark.parametrize("what", ["network", "wake-up"])
async def test_a_connection_that_still_leads_to_the_hub_is_kept(
    hub: RunningHub, line: Relay, what: str
) -> None:
    async with machine(line, await token_of(hub)) as made:
        await made.until("connected")
        made.changes(what)
        await asyncio.wait_for(made.pongs.get(), PATIENCE)
        made.changes(what if what == "wake-up" else "wake-up")
        await asyncio.wait_for(made.pongs.get(), PATIENCE)
        assert made.told.empty()
        assert len(line.arrived) == 1


def test_what_the_system_counts_at_a_route_is_no_change() -> None:
    line = "fe80{} 40 00 00 00 00000100 {:08x} {:08x} 00000001     eth0\n"

    def before(path: Path) -> bytes:
        return line.format("0", 2, 0).encode() if path is IPV6_ROUTES else b"as it was"

    def used(path: Path) -> bytes:
        return line.format("0", 7, 9).encode() if path is IPV6_ROUTES else b"as it was"

    def another(path: Path) -> bytes:
        return line.format("1", 2, 0).encode() if path is IPV6_ROUTES else b"as it was"

    def moved(path: Path) -> bytes:
        return b"another address" if path is ADDRESSES else before(path)

    assert routes(before) == routes(used)
    assert len({routes(before), routes(another), routes(moved)}) == 3


def test_a_machine_without_ipv6_has_routes() -> None:
    def system(path: Path) -> bytes:
        if path is IPV6_ROUTES:
            raise FileNotFoundError(path)
        return path.name.encode()

    assert routes(system) == (b"route", b"fib_trie")


async def test_a_wait_in_which_nothing_changes_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_changes, "LOOK_SECONDS", 0.01)
    changes = NetworkChanges(time.monotonic, lambda: (b"home",))
    began = time.monotonic()
    assert not await changes.within(0.05)
    assert time.monotonic() - began >= 0.05
    assert not await changes.within(-1)
