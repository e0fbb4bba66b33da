"""A network that goes down and says nothing: both sides notice in time, and an older socket counts no more.

Half a minute of silence is the promise, so this runs in `make machines` only.
"""

import asyncio
import shutil
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.machines.far_apart import Rig
from tests.machines.machines import Machine, equal_logs, rows_of
from tests.machines.scale import FULL
from tests.machines.test_joined_machine import start
from tests.waiting import PATIENCE, stretched

from bascule.model.events import TurnEnded

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(not FULL, reason="takes half a minute: make machines")]

STALE, DEAD = 15.0, 30.0
TOLD = 1.0  # seconds until a question of the test has its answer


async def uplink(machine: Machine) -> str:
    return (await machine.http.get("/api/uplink")).json()["state"]


async def seconds_until(look: Callable[[], Coroutine[Any, Any, bool]]) -> float:
    began = time.monotonic()
    async with asyncio.timeout(PATIENCE):
        while not await look():  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.05)
    return time.monotonic() - began


@pytest.mark.row("R3", "REL-10")
@pytest.mark.timeout(600)
async def test_both_sides_notice_a_dead_network_in_time_and_go_on_when_it_is_back(rig: Rig) -> None:
    hub, laptop = rig.hub, rig.laptop
    session = await start(hub, laptop, "count 3")
    first = await hub.wait_for(session, TurnEnded)
    before = await equal_logs(hub, laptop, session)
    await hub.devices()

    async def stale() -> bool:
        return (await hub.devices())["d-laptop"]["state"] == "stale"

    async def away() -> bool:
        return (await hub.devices())["d-laptop"]["state"] == "away"

    async def noticed() -> bool:
        return await uplink(laptop) == "unreachable"

    with stretched() as busy:
        await rig.net.down(rig.there)
        took = await asyncio.gather(*map(seconds_until, (stale, away, noticed)))
    for seconds, most in zip(took, (STALE, DEAD, DEAD), strict=True):
        assert seconds <= most + TOLD * max(busy), took
    assert await rows_of(hub, session) == before  # a lost line writes nothing
    await laptop.send(session, "count 2")
    await laptop.wait_for(session, TurnEnded, first.seq)
    await rig.net.up(rig.there)
    await hub.until_device("d-laptop", state="online")
    await hub.wait_for(session, TurnEnded, first.seq)
    await equal_logs(hub, laptop, session)


@pytest.mark.row("R3", "S38")
@pytest.mark.timeout(600)
async def test_an_older_socket_that_revives_changes_nothing(rig: Rig) -> None:
    """While the laptop's network is dead, a copy of it takes its place; then the network is back."""
    hub, laptop = rig.hub, rig.laptop
    copy, _ = await rig.machine("copy")
    shutil.copy(laptop.data / "hub.json", copy.data / "hub.json")
    epoch = (await hub.devices())["d-laptop"]["epoch"]
    await rig.net.down(rig.there)
    await rig.run(copy)
    taken = await hub.until_device("d-laptop", epoch=epoch + 1)
    assert taken["online"]
    assert await uplink(laptop) == "connected"  # so it believes
    # What it says now waits in its socket, which is still open.
    session = await laptop.create("count 3")
    await laptop.wait_for(session, TurnEnded)
    await rig.net.up(rig.there)

    async def refused() -> bool:
        return await uplink(laptop) == "refused"

    await seconds_until(refused)
    status = (await hub.devices())["d-laptop"]
    assert (status["epoch"], status["state"]) == (epoch + 1, "online")
    assert session not in [one["id"] for one in await hub.sessions()]
    own = await start(hub, copy, "count 2")
    await hub.wait_for(own, TurnEnded)
    assert [one["id"] for one in await copy.sessions()] == [own]
