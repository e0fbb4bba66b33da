"""Two machines at one hub, and the line to one of them lets nothing pass; nobody knows that yet."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.daemon.homes import furnish
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.relay import Relay
from tests.machines.test_two_machines import found, start
from tests.waiting import PATIENCE, stretched, within

from bascule.keeper import procs
from bascule.model.events import AgentSpawned, PermissionRequested, SessionEnded

pytestmark = pytest.mark.anyio

ASKED = 1.0  # seconds that a machine has to answer a search
ANSWERED = 1.2  # until the search has its answer without it
GONE = 5.0  # until the agents of a machine that hears the panic button are gone


@pytest.fixture
async def machines(
    short_dir: Path, hub_behind_line: Hub, line: Relay
) -> AsyncIterator[tuple[Machine, Machine]]:
    """Only the second one's line is the relay."""
    async with AsyncExitStack() as closing:
        made: list[Machine] = []
        for name, url in (("one", hub_behind_line.url), ("two", line.url)):
            folder = short_dir / name
            folder.mkdir(mode=0o700)
            machine = Machine(folder, f"d-{name}")
            furnish(machine.home, "claude")
            await machine.join(hub_behind_line, url)
            await closing.enter_async_context(machine)
            await hub_behind_line.until_device(f"d-{name}", online=True)
            made.append(machine)
        yield made[0], made[1]


async def agent_of(machine: Machine, session: str) -> int:
    """The process that runs for a session."""
    spawned = (await machine.wait_for(session, AgentSpawned)).event
    assert isinstance(spawned, AgentSpawned)
    assert is_there(spawned.pid)
    return spawned.pid


def is_there(pid: int) -> bool:
    process = procs.read(pid)
    return process is not None and not process.zombie


async def until_gone(pid: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while is_there(pid):  # noqa: ASYNC110 - it is another machine's process
            await asyncio.sleep(0.02)


async def test_a_search_answers_in_time_and_names_the_machine_that_is_silent(
    hub_behind_line: Hub, line: Relay, machines: tuple[Machine, Machine]
) -> None:
    hub, (one, two) = hub_behind_line, machines
    title = (await found(hub, one))[0]["title"]
    await found(hub, two)
    async with asyncio.timeout(PATIENCE):
        while True:  # the machines fill their index in the background
            whole = (await hub.http.get("/api/search", params={"q": title})).json()
            if {hit["device"] for hit in whole["hits"]} == {one.device, two.device}:
                break
            await asyncio.sleep(0.05)
    assert whole["missing"] == []
    line.blackhole()
    with stretched() as busy:
        began = time.monotonic()
        answer = await hub.http.get("/api/search", params={"q": title})
        took = time.monotonic() - began
    # It was asked, since nobody knew that it would not answer. To wait takes no longer on a busy machine.
    assert ASKED <= took <= ASKED + (ANSWERED - ASKED) * max(busy)
    assert (await hub.devices())[two.device]["state"] == "online"
    assert {hit["device"] for hit in answer.json()["hits"]} == {one.device}
    assert [away["device"] for away in answer.json()["missing"]] == [two.device]


@pytest.mark.row("R20")
async def test_the_panic_button_ends_the_agents_that_hear_it_and_the_others_when_they_are_back(
    hub_behind_line: Hub, line: Relay, machines: tuple[Machine, Machine]
) -> None:
    hub, (one, two) = hub_behind_line, machines
    sessions = [await start(hub, machine, "run") for machine in machines]
    for session in sessions:
        await hub.wait_for(session, PermissionRequested)
    heard, deaf = [
        await agent_of(machine, session) for machine, session in zip(machines, sessions, strict=True)
    ]
    line.blackhole()
    pressed = asyncio.create_task(hub.post("/api/kill-all"))
    with within(GONE):
        await until_gone(heard)
    answer = (await pressed).json()
    outcomes = {each["device"]: each["outcome"] for each in answer["devices"]}
    assert outcomes == {one.device: "done", two.device: "waiting"}
    assert is_there(deaf)
    assert not any(session["phase"] == "ended" for session in await two.sessions())
    line.cut()  # what was under way is lost: it is told again
    line.mend()
    await until_gone(deaf)
    for machine, session in zip(machines, sessions, strict=True):
        await hub.wait_for(session, SessionEnded)
        await equal_logs(hub, machine, session)
