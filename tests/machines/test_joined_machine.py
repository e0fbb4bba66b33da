"""A machine that has joined a hub, in real processes: sessions started, answered and watched from the hub."""

import asyncio
import signal

import pytest
from tests.machines.machines import Hub, Machine, equal_logs

from bascule.model.events import PermissionRequested, TurnEnded

pytestmark = pytest.mark.anyio


async def start(hub: Hub, laptop: Machine, prompt: str) -> str:
    body = {"agent": "demo", "cwd": str(laptop.work), "prompt": prompt, "device": "d-laptop"}
    answer = await hub.http.post("/api/sessions", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


@pytest.mark.row("R1", "R2")
async def test_a_session_on_another_machine_is_started_and_watched_at_the_hub(
    hub: Hub, laptop: Machine
) -> None:
    session = await start(hub, laptop, "count 3")
    await hub.wait_for(session, TurnEnded)
    rows = await equal_logs(hub, laptop, session)
    assert len(rows) > 3
    listed = {one["id"]: one for one in await hub.sessions()}
    assert listed[session]["device"] == "d-laptop"


@pytest.mark.row("R2")
async def test_a_request_is_answered_at_the_hub_and_the_tool_runs_on_the_machine(
    hub: Hub, laptop: Machine
) -> None:
    session = await start(hub, laptop, "run")
    asked = await hub.wait_for(session, PermissionRequested)
    assert isinstance(asked.event, PermissionRequested)
    request = asked.event
    answer = await hub.post(
        f"/api/sessions/{session}/permissions",
        requestId=request.request_id,
        decision="allow",
        inputSha256=request.input_sha256,
    )
    assert answer.status_code == 200, answer.text
    await hub.wait_for(session, TurnEnded)
    await equal_logs(hub, laptop, session)


@pytest.mark.row("R2")
async def test_what_happens_while_the_hub_is_away_is_there_when_it_is_back(hub: Hub, laptop: Machine) -> None:
    session = await start(hub, laptop, "count 3")
    first = await hub.wait_for(session, TurnEnded)
    await hub.kill()
    await laptop.send(session, "count 2")
    await laptop.wait_for(session, TurnEnded, first.seq)
    await hub.start()
    await hub.until_device("d-laptop", online=True)
    await hub.wait_for(session, TurnEnded, first.seq)
    await equal_logs(hub, laptop, session)


@pytest.mark.row("R2", "R3")
async def test_a_machine_that_was_killed_is_away_and_its_sessions_stay_readable(
    hub: Hub, laptop: Machine
) -> None:
    session = await start(hub, laptop, "count 3")
    await hub.wait_for(session, TurnEnded)
    before = await equal_logs(hub, laptop, session)
    await laptop.kill()
    await hub.until_device("d-laptop", online=False)
    answer = await hub.post(f"/api/sessions/{session}/send", text="are you there")
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "DEVICE_OFFLINE"
    assert len((await hub.http.get(f"/api/sessions/{session}/events")).json()["events"]) == len(before)
    await laptop.start()
    await hub.until_device("d-laptop", online=True)
    await hub.send(session, "count 4")
    await hub.wait_for(session, TurnEnded, len(before))
    await equal_logs(hub, laptop, session)


@pytest.mark.row("R3")
async def test_a_machine_that_stands_still_holds_up_nobody_at_its_hub(hub: Hub, laptop: Machine) -> None:
    session = await start(hub, laptop, "count 1")
    first = await hub.wait_for(session, TurnEnded)
    assert laptop.process is not None
    laptop.process.send_signal(signal.SIGSTOP)
    try:
        # More than the sockets between them hold.
        words = [hub.post(f"/api/sessions/{session}/send", text="x" * 1_000_000) for _ in range(8)]
        sending = [asyncio.create_task(one) for one in words]
        for _ in range(20):
            assert (await hub.http.get("/api/sessions")).status_code == 200
    finally:
        laptop.process.send_signal(signal.SIGCONT)
    assert [(await one).status_code for one in sending] == [200] * 8
    await hub.wait_for(session, TurnEnded, first.seq)
