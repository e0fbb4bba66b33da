"""A machine that lies all the time, beside an honest one: nobody waits for it, and nothing of theirs moves.

What the hub does with each lie is in `tests/security/test_hostile_machine.py`.
"""

import asyncio
import subprocess
import sys

import pytest
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.scale import FULL
from tests.machines.test_joined_machine import start
from tests.system.test_floods import waits
from tests.waiting import PATIENCE, stretched

from bascule.model.events import TurnEnded

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(not FULL, reason="sends gigabytes: make machines")]

ROUNDS = 5
MB = 1024 * 1024


@pytest.mark.row("S39", "R3")
@pytest.mark.timeout(900)
async def test_a_machine_that_lies_all_the_time_delays_nobody_else(hub: Hub, laptop: Machine) -> None:
    session = await start(hub, laptop, "count 3")
    first = await hub.wait_for(session, TurnEnded)
    before = await equal_logs(hub, laptop, session)
    made = await hub.post("/api/grants", name="liar", role="daemon", device="d-liar")
    words = ("-m", "tests.machines.liar", hub.url, made.json()["token"], "d-liar", str(ROUNDS))
    quiet = await waits(hub)
    memory = hub.memory()
    with stretched() as busy:
        liar = await asyncio.create_subprocess_exec(sys.executable, *words, stdin=subprocess.PIPE)
        lying = asyncio.ensure_future(liar.communicate(session.encode() + b"\n"))
        took = await waits(hub, lying)
        await lying
    assert liar.returncode == 0
    usual = quiet[int(len(quiet) * 0.95) - 1]
    assert took[int(len(took) * 0.95) - 1] < 3 * usual + 0.05 * max(busy), (max(busy), quiet[-3:], took[-3:])
    assert hub.peak() - memory < 192 * MB
    assert await equal_logs(hub, laptop, session) == before
    async with asyncio.timeout(PATIENCE):
        await hub.send(session, "count 2")
        await hub.wait_for(session, TurnEnded, first.seq)
    assert (await hub.devices())["d-laptop"]["online"]
