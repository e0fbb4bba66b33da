"""Many sessions on two machines, and many viewers of one hub who come and go: each sees every row once."""

import asyncio
import hashlib
import os
import resource
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import pytest
from tests.machines.machines import Hub, Machine, digest, equal_logs
from tests.machines.scale import scaled
from tests.waiting import MUCH_PATIENCE

pytestmark = pytest.mark.anyio

MACHINES = 2
SESSIONS = scaled(6, 200)
VIEWERS = scaled(15, 500)
PIECES = scaled(40, 400)
MILLISECONDS = scaled(25, 200)  # between two pieces of one session
AT_ONCE = 50  # viewers who connect together


@pytest.fixture
async def machines(short_dir: Path, hub: Hub) -> AsyncIterator[list[Machine]]:
    async with AsyncExitStack() as closing:
        made: list[Machine] = []
        for number in range(MACHINES):
            folder = short_dir / f"m{number}"
            folder.mkdir(mode=0o700)
            machine = Machine(folder, f"d-m{number}")
            await machine.join(hub)
            await closing.enter_async_context(machine)
            await hub.until_device(machine.device, online=True)
            made.append(machine)
        yield made


async def view(hub: Hub, session: str, leaves_after: int | None, room: asyncio.Semaphore) -> tuple[int, str]:
    """Read to the end of the turn, for some with a break: how many rows came, and a sum of all of them."""
    whole, count = hashlib.sha256(), 0
    while True:
        async with room:
            rows = hub.follow_bytes(session, count)
            first = await anext(rows)
        async with aclosing(rows):
            row = first
            while True:
                whole.update(row + b"\n")
                count += 1
                if b'"turn_ended"' in row:
                    return count, whole.hexdigest()
                if count == leaves_after:
                    break
                row = await anext(rows)


@pytest.mark.row("REL-27")
async def test_every_viewer_of_many_sessions_on_two_machines_sees_every_row_once(
    hub: Hub, machines: list[Machine]
) -> None:
    homes: dict[str, Machine] = {}
    for number in range(SESSIONS):
        machine = machines[number % MACHINES]
        body = {"agent": "demo", "cwd": str(machine.work), "device": machine.device}
        answer = await hub.post("/api/sessions", **body)
        assert answer.status_code == 200, answer.text
        homes[answer.json()["id"]] = machine
    sessions = list(homes)
    await hub.until_here(*sessions)

    room = asyncio.Semaphore(AT_ONCE)
    watched = [sessions[number % SESSIONS] for number in range(VIEWERS)]
    # Every third one leaves in the middle, and comes back for what follows the last row it saw.
    breaks = [PIECES // 2 if number % 3 == 0 else None for number in range(VIEWERS)]
    viewing = [
        asyncio.create_task(view(hub, session, leaves, room))
        for session, leaves in zip(watched, breaks, strict=True)
    ]
    for session in sessions:
        await hub.send(session, f"count {PIECES} {MILLISECONDS}")
    async with asyncio.timeout(MUCH_PATIENCE):
        await asyncio.wait(viewing, return_when=asyncio.FIRST_COMPLETED)
        files = {server: len(os.listdir(f"/proc/{server.pid}/fd")) for server in (hub, *machines)}
        seen = await asyncio.gather(*viewing)

    for server, count in files.items():
        assert count < 0.7 * resource.prlimit(server.pid, resource.RLIMIT_NOFILE)[0]
    logs = {session: await equal_logs(hub, machine, session) for session, machine in homes.items()}
    for session, (count, whole) in zip(watched, seen, strict=True):
        assert count > PIECES // 2
        assert whole == digest(logs[session][:count])
