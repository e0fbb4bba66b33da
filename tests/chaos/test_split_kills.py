"""kill -9 of a hub, of a machine, and of both, while the line is cut in mid-message: nothing is lost.

`CHAOS_KILLS` sets how often the hub is killed (once in the ordinary run); the machine is killed half as
often, both at once a fifth as often. The seed is printed, so a failure can be repeated.
"""

import asyncio
import os
import random
from pathlib import Path

import pytest
from tests.chaos.test_kills import Viewer, said
from tests.live import LIMITS
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.relay import relay

from bascule.model.events import PermissionAnswered, PermissionRequested, PromptSent

pytestmark = pytest.mark.anyio

KILLS = int(os.environ.get("CHAOS_KILLS", "1"))
KILLED = ["hub"] * KILLS + ["machine"] * max(1, KILLS // 2) + ["both"] * max(1, KILLS // 5)
STREAMS = 2
PIECE_MS = 15


async def kill(which: str, hub: Hub, machine: Machine) -> None:
    killed = {"hub": [hub], "machine": [machine], "both": [hub, machine]}[which]
    for one in killed:
        await one.kill()
    for one in killed:
        await one.start()


async def begin(hub: Hub, machine: Machine, prompt: str) -> str:
    body = {"agent": "demo", "cwd": str(machine.work), "prompt": prompt, "device": machine.device}
    answer = await hub.http.post("/api/sessions", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


@pytest.mark.row("X1", "REL-01", "REL-13")
@pytest.mark.timeout(3000)
async def test_nothing_is_lost_when_hub_and_machine_are_killed_and_their_line_is_cut(short_dir: Path) -> None:
    seed = int(os.environ.get("CHAOS_SEED", random.SystemRandom().randrange(2**32)))
    print(f"CHAOS_SEED={seed}")  # noqa: T201 - shown when it fails
    dice = random.Random(seed)
    order = dice.sample(KILLED, len(KILLED))
    pieces = 150 + 60 * len(order)
    folders = [short_dir / name for name in "hm"]
    for folder in folders:
        folder.mkdir(mode=0o700)
    async with relay() as line:
        hub = Hub(folders[0], config=f'allowed_hosts = ["{line.host}"]\n{LIMITS}')
        async with hub:
            line.target = hub.url
            machine = Machine(folders[1], "d-laptop")
            await machine.join(hub, line.url)
            async with machine:
                await hub.until_device("d-laptop", online=True)
                await machine.sessions()  # a link that was used is good after a restart, too
                streams = [await begin(hub, machine, f"count {pieces} {PIECE_MS}") for _ in range(STREAMS)]
                asking = await begin(hub, machine, "run")
                request = (await hub.wait_for(asking, PermissionRequested)).event
                assert isinstance(request, PermissionRequested)
                viewers = [Viewer(hub, session) for session in streams]
                try:
                    line.dice = dice
                    for which in order:
                        watched = dice.choice(viewers)
                        await watched.until(len(watched.rows) + dice.randrange(1, 25))
                        await kill(which, hub, machine)
                    line.dice = None
                    line.cut()
                    line.mend()
                    await hub.until_device("d-laptop", online=True)
                    answer = await hub.post(
                        f"/api/sessions/{asking}/permissions",
                        requestId=request.request_id,
                        decision="allow",
                        inputSha256=request.input_sha256,
                    )
                    assert answer.status_code == 200, answer.text
                    for viewer in viewers:
                        await viewer.until_ended()
                finally:
                    for viewer in viewers:
                        viewer.task.cancel()
                    await asyncio.gather(*(viewer.task for viewer in viewers), return_exceptions=True)
                print(f"cuts in mid-message: {line.cuts}")  # noqa: T201 - shown when it fails
                for viewer, session in zip(viewers, streams, strict=True):
                    await equal_logs(hub, machine, session)
                    log = await hub.log(session)
                    assert viewer.rows == log[: len(viewer.rows)]
                    numbers = [int(word) for word in said(log).split() if word.isdigit()]
                    assert numbers == list(range(1, pieces + 1))
                    assert sum(isinstance(row.event, PromptSent) for row in log) == 1
                await equal_logs(hub, machine, asking)
                log = await hub.log(asking)
                assert sum(isinstance(row.event, PermissionAnswered) for row in log) == 1
