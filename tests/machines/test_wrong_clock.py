"""A machine whose clock was set back by 26 hours between two connections."""

import asyncio
from pathlib import Path

import pytest
from tests.machines.clock_shift import moved
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.test_joined_machine import start

from bascule.model.events import PermissionAnswered, PermissionRequested, TurnEnded

pytestmark = pytest.mark.anyio

BACK = -26 * 3600


@pytest.mark.row("REL-25")
async def test_a_machine_whose_clock_was_set_back_is_online_and_nothing_ends_or_jumps_in_the_list(
    hub: Hub, laptop: Machine, short_dir: Path
) -> None:
    older = await start(hub, laptop, "count 1")
    await hub.wait_for(older, TurnEnded)
    asking = await start(hub, laptop, "run")
    asked = (await hub.wait_for(asking, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    await laptop.sessions()  # a link that was used is good after a restart, too
    epoch = (await hub.devices())["d-laptop"]["epoch"]
    await laptop.kill()
    laptop.env |= await asyncio.to_thread(moved, short_dir, BACK)
    await laptop.start()
    status = await hub.until_device("d-laptop", online=True)
    assert status["epoch"] > epoch
    assert abs(status["skewMs"] / 1000 - BACK) < 60
    newest = await start(hub, laptop, "count 1")
    await hub.wait_for(newest, TurnEnded)
    assert (await hub.sessions())[0]["id"] == newest
    answer = await hub.post(
        f"/api/sessions/{asking}/permissions",
        requestId=asked.request_id,
        decision="allow",
        inputSha256=asked.input_sha256,
    )
    assert answer.status_code == 200, answer.text
    fact = (await hub.wait_for(asking, PermissionAnswered)).event
    assert isinstance(fact, PermissionAnswered)
    assert fact.by == "owner"  # no deadline answered it
    for session in (older, asking, newest):
        await equal_logs(hub, laptop, session)
