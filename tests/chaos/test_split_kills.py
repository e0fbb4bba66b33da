"""kill -9 of a hub, of a machine, and of both, while the line is cut in mid-message: nothing is lost.

Before each kill the line was cut once more, and every stream that is watched is still under way.

`CHAOS_KILLS` sets how often the hub is killed (once in the ordinary run); the machine is killed half as
often, both at once a fifth as often. The seed is printed, so a failure can be repeated.
"""

import os
import random
from pathlib import Path

import pytest
from tests.chaos.viewers import (
    WITHOUT_END,
    Viewer,
    closed,
    entries,
    none_has_ended,
    same_as_said,
    same_as_seen,
)
from tests.live import LIMITS
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.relay import relay

from bascule.model.events import PermissionAnswered, PermissionRequested

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
@pytest.mark.timeout(7200)
async def test_nothing_is_lost_when_hub_and_machine_are_killed_and_their_line_is_cut(short_dir: Path) -> None:
    seed = int(os.environ.get("CHAOS_SEED", random.SystemRandom().randrange(2**32)))
    print(f"CHAOS_SEED={seed}")  # noqa: T201 - shown when it fails
    dice = random.Random(seed)
    order = dice.sample(KILLED, len(KILLED))
    folders = [short_dir / name for name in "hm"]
    for folder in folders:
        folder.mkdir(mode=0o700)
    async with relay() as line:
        hub = Hub(folders[0], config=f'allowed_hosts = ["{line.host}"]\n{LIMITS}')
        async with hub:
            line.target = hub.url
            ledger = folders[1] / "ledger"
            machine = Machine(folders[1], "d-laptop", env={"DEMO_LEDGER": str(ledger)})
            await machine.join(hub, line.url)
            async with machine:
                await hub.until_device("d-laptop", online=True)
                await machine.sessions()  # a link that was used is good after a restart, too
                prompt = f"count {WITHOUT_END} {PIECE_MS}"
                streams = [await begin(hub, machine, prompt) for _ in range(STREAMS)]
                asking = await begin(hub, machine, "run")
                request = (await hub.wait_for(asking, PermissionRequested)).event
                assert isinstance(request, PermissionRequested)
                viewers = [Viewer(hub, session) for session in streams]
                try:
                    line.dice = dice
                    line.cut()  # the dice are for connections that follow
                    line.mend()
                    for which in order:
                        await line.until_cut()
                        await dice.choice(viewers).more(dice.randrange(1, 25))
                        none_has_ended(viewers)
                        await kill(which, hub, machine)
                    assert line.cuts >= len(order)
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
                    for session in streams:
                        stopped = await hub.post(f"/api/sessions/{session}/interrupt")
                        assert stopped.status_code == 200, stopped.text
                    for viewer in viewers:
                        await viewer.until_ended()
                    for viewer in viewers:
                        rows = await equal_logs(hub, machine, viewer.session)
                        same_as_seen(viewer, rows)
                        assert same_as_said(rows, ledger) > len(order)
                finally:
                    await closed(viewers)
                await equal_logs(hub, machine, asking)
                log = await hub.log(asking)
                assert sum(isinstance(row.event, PermissionAnswered) for row in log) == 1
                heard = [entry["stdin"] for entry in entries(ledger) if "stdin" in entry]
                answers = [one for one in heard if request.request_id in one and "control_response" in one]
                assert len(answers) == 1, "the agent saw the answer once"
