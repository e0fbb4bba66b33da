"""Two machines at one hub: nothing of one is taken for the other's."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.homes import furnish
from tests.machines.machines import Hub, Machine, equal_logs
from tests.waiting import PATIENCE

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio


@pytest.fixture
async def machines(short_dir: Path, hub: Hub) -> AsyncIterator[tuple[Machine, Machine]]:
    async with AsyncExitStack() as closing:
        made: list[Machine] = []
        for name in ("one", "two"):
            folder = short_dir / name
            folder.mkdir(mode=0o700)
            machine = Machine(folder, f"d-{name}")
            furnish(machine.home, "claude")
            await machine.join(hub)
            await closing.enter_async_context(machine)
            await hub.until_device(f"d-{name}", online=True)
            made.append(machine)
        yield made[0], made[1]


async def start(hub: Hub, machine: Machine, prompt: str) -> str:
    body = {"agent": "demo", "cwd": str(machine.work), "prompt": prompt, "device": machine.device}
    answer = await hub.http.post("/api/sessions", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


async def found(hub: Hub, machine: Machine) -> list[dict[str, Any]]:
    async with asyncio.timeout(PATIENCE):
        while True:
            answer = await hub.http.get("/api/found-sessions", params={"device": machine.device})
            assert answer.status_code == 200, answer.text
            if listed := answer.json()["sessions"]:
                return listed
            await asyncio.sleep(0.05)


@pytest.mark.row("R3")
async def test_a_command_must_name_one_of_two_machines(hub: Hub, machines: tuple[Machine, Machine]) -> None:
    one, two = machines
    unnamed = await hub.http.post("/api/sessions", json={"agent": "demo", "cwd": str(one.work)})
    assert unnamed.status_code == 400
    assert "device" in unnamed.json()["error"]["message"]
    sessions = [await start(hub, machine, "count 3") for machine in machines]
    for machine, session in zip(machines, sessions, strict=True):
        await hub.wait_for(session, TurnEnded)
        await equal_logs(hub, machine, session)
    listed = {session["id"]: session["device"] for session in await hub.sessions()}
    assert listed == {sessions[0]: one.device, sessions[1]: two.device}
    assert [session["id"] for session in await two.sessions()] == [sessions[1]]


async def test_found_sessions_of_both_machines_stay_and_are_copied_when_opened(
    hub: Hub, machines: tuple[Machine, Machine]
) -> None:
    names: list[str] = []
    for machine in machines:
        (listed,) = await found(hub, machine)
        session = listed["sessionId"]
        assert (await hub.http.get(f"/api/sessions/{session}")).status_code == 404
        # Who has only a link to it does not know its machine.
        fetched = await hub.post(f"/api/found-sessions/{session}/fetch")
        assert fetched.status_code == 200, fetched.text
        await equal_logs(hub, machine, session)
        again = await hub.post(f"/api/found-sessions/{session}/fetch", device=machine.device)
        assert again.status_code == 200, again.text  # it is here already
        names.append(session)
    assert len(set(names)) == 2
    nowhere = await hub.post("/api/found-sessions/0000000000000000/fetch")
    assert (nowhere.status_code, nowhere.json()["error"]["code"]) == (404, "SESSION_NOT_FOUND")
    for machine, session in zip(machines, names, strict=True):
        await machine.stop()
        await machine.start()
        await hub.until_device(machine.device, online=True)
        await found(hub, machine)
        for name in names:
            assert (await hub.http.get(f"/api/sessions/{name}")).status_code == 200
        assert [one["sessionId"] for one in await found(hub, machine)] == [session]


async def test_a_search_finds_what_was_begun_on_both_machines_and_names_the_one_that_does_not_answer(
    hub: Hub, machines: tuple[Machine, Machine]
) -> None:
    one, two = machines
    listed = [(await found(hub, machine))[0] for machine in machines]

    async def search() -> dict[str, Any]:
        answer = await hub.http.get("/api/search", params={"q": listed[0]["title"]})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async with asyncio.timeout(PATIENCE):
        while True:  # the machines fill their index in the background
            answer = await search()
            places = {hit["sessionId"]: hit["device"] for hit in answer["hits"]}
            if len(places) == 2:
                break
            await asyncio.sleep(0.05)
    assert places == {listed[0]["sessionId"]: one.device, listed[1]["sessionId"]: two.device}
    assert answer["missing"] == []
    await two.kill()
    await hub.until_device(two.device, online=False)
    answer = await search()
    assert {hit["device"] for hit in answer["hits"]} == {one.device}
    assert [away["device"] for away in answer["missing"]] == [two.device]


@pytest.mark.row("R20")
async def test_the_panic_button_stops_both_at_once_and_one_that_is_away_when_it_is_back(
    hub: Hub, machines: tuple[Machine, Machine]
) -> None:
    one, two = machines
    sessions = [await start(hub, machine, "run") for machine in machines]
    for session in sessions:
        await hub.wait_for(session, lambda event: type(event).__name__ == "PermissionRequested")
    await two.kill()
    await hub.until_device(two.device, online=False)
    answer = (await hub.post("/api/kill-all")).json()
    outcomes = {each["device"]: each["outcome"] for each in answer["devices"]}
    assert outcomes == {one.device: "done", two.device: "waiting"}
    await hub.wait_for(sessions[0], lambda event: type(event).__name__ == "SessionEnded")
    await two.start()
    await hub.wait_for(sessions[1], lambda event: type(event).__name__ == "SessionEnded")
