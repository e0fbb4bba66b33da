"""A line through which nothing passes for a while, or that is cut all the time: the copy catches up. People
who use another session of the machine meanwhile do not wait behind it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.relay import Relay
from tests.machines.scale import FULL, scaled
from tests.waiting import MUCH_PATIENCE, within

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio

AGENTS = scaled(2, 20)
PIECES = scaled(400, 2500)  # of each agent
SECONDS = scaled(2, 180)  # that nothing passes
CUT_EVERY = 0.5


@pytest.fixture
def hub(hub_behind_line: Hub) -> Hub:
    return hub_behind_line


@pytest.fixture
async def laptop(short_dir: Path, hub: Hub, line: Relay) -> AsyncIterator[Machine]:
    folder = short_dir / "l"
    folder.mkdir(mode=0o700)
    made = Machine(folder, "d-laptop")
    await made.join(hub, line.url)
    async with made:
        await hub.until_device("d-laptop", online=True)
        yield made


async def begin(machine: Machine, prompt: str) -> str:
    body = {"agent": "demo", "cwd": str(machine.work), "prompt": prompt}
    answer = await machine.http.post("/api/sessions", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


async def cut_again_and_again(line: Relay) -> None:
    while True:
        await asyncio.sleep(CUT_EVERY)
        line.cut()
        line.mend()


@pytest.mark.row("REL-03")
@pytest.mark.timeout(1200)
async def test_a_blackhole_and_cuts_delay_the_copy_and_nobody_waits_behind_it(
    hub: Hub, laptop: Machine, line: Relay
) -> None:
    idle = await begin(laptop, "count 1")
    first = await hub.wait_for(idle, TurnEnded)
    line.blackhole()
    opened = asyncio.get_running_loop().time() + SECONDS
    # Pieces without a pause would be a single row.
    sessions = [await begin(laptop, f"flood {PIECES} 300") for _ in range(AGENTS)]
    for session in sessions:
        await laptop.wait_for(session, TurnEnded)
    await asyncio.sleep(max(0.0, opened - asyncio.get_running_loop().time()))
    line.mend()
    await hub.until_device("d-laptop", online=True)
    # While the rows of all others are on their way:
    with within(1.0 if FULL else 5.0):
        await hub.send(idle, "count 1")
        await hub.wait_for(idle, TurnEnded, first.seq)
    cutting = asyncio.create_task(cut_again_and_again(line))
    try:
        async with asyncio.timeout(MUCH_PATIENCE):
            for session in sessions:
                await equal_logs(hub, laptop, session)
    finally:
        cutting.cancel()
        await asyncio.gather(cutting, return_exceptions=True)
    await equal_logs(hub, laptop, idle)
