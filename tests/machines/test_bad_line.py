"""A line through which nothing passes for a while, or that is cut all the time: the copy catches up. People
who use another session of the machine meanwhile do not wait behind it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.machines.machines import Hub, Machine, equal_logs, rows_of
from tests.machines.relay import Relay
from tests.machines.scale import FULL, scaled
from tests.waiting import MUCH_PATIENCE, stretch, within

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio

AGENTS = scaled(2, 20)
PIECES = scaled(100, 2600)  # of each agent
PAUSE_MS = scaled(20, 60)  # between them: pieces without a pause would be a single row
ROWS = scaled(40, 50_000)  # of all agents, at least: a busy machine puts several pieces into one
SECONDS = scaled(2, 180)  # that nothing passes
REPLAY_SECONDS = 30.0
MAX_MEMORY = 256 * 1024 * 1024
CUT_AFTER = 0.5  # of a connection's life, on a machine that has time for it


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


async def cut_again_and_again(line: Relay, cuts: list[int]) -> None:
    """`cuts` gets how many connections there were at each."""
    while True:
        if not line.passages:  # the ladder's next attempt may be seconds away
            await asyncio.sleep(0.01)
            continue
        await asyncio.sleep(CUT_AFTER * await asyncio.to_thread(stretch))
        cuts.append(len(line.passages))
        line.cut()
        line.mend()


async def write_rows(machine: Machine) -> list[str]:
    """Sessions of agents that have all said their pieces."""
    sessions = [await begin(machine, f"count {PIECES} {PAUSE_MS}") for _ in range(AGENTS)]
    for session in sessions:
        await machine.wait_for(session, TurnEnded, seconds=MUCH_PATIENCE)
    written = [len(await rows_of(machine, session)) for session in sessions]
    assert sum(written) >= ROWS
    return sessions


async def copied(hub: Hub, sessions: list[str]) -> int:
    """Rows that the hub has of them."""
    records = {one["id"]: one["seq"] for one in await hub.sessions()}
    return sum(records.get(session, 0) for session in sessions)


@pytest.mark.row("REL-03")
@pytest.mark.timeout(1200)
async def test_a_blackhole_delays_the_copy_and_nobody_waits_behind_it(
    hub: Hub, laptop: Machine, line: Relay
) -> None:
    idle = await begin(laptop, "count 1")
    first = await hub.wait_for(idle, TurnEnded)
    laptop.memory()
    line.blackhole()
    opened = asyncio.get_running_loop().time() + SECONDS
    sessions = await write_rows(laptop)
    await asyncio.sleep(max(0.0, opened - asyncio.get_running_loop().time()))
    line.mend()
    await hub.until_device("d-laptop", online=True)
    with within(REPLAY_SECONDS):
        # While the rows of all others are on their way:
        with within(1.0 if FULL else 5.0):
            await hub.send(idle, "count 1")
            await hub.wait_for(idle, TurnEnded, first.seq)
        assert not FULL or await copied(hub, sessions) < ROWS
        for session in [*sessions, idle]:
            await equal_logs(hub, laptop, session)
    assert laptop.peak() <= MAX_MEMORY


@pytest.mark.row("REL-03", "REL-10")
@pytest.mark.timeout(1200)
async def test_a_line_that_is_cut_all_the_time_gets_the_copy_through(
    hub: Hub, laptop: Machine, line: Relay
) -> None:
    line.blackhole()
    sessions = await write_rows(laptop)
    line.mend()
    cuts: list[int] = []
    cutting = asyncio.create_task(cut_again_and_again(line, cuts))
    try:
        async with asyncio.timeout(MUCH_PATIENCE):
            await hub.until_here(*sessions)
            for session in sessions:
                await equal_logs(hub, laptop, session)
    finally:
        cutting.cancel()
        await asyncio.gather(cutting, return_exceptions=True)
    assert not FULL or sum(cuts) > 0  # a small copy may be there before the first
