"""Several hub nodes on one PostgreSQL, and machines that have joined: real processes, killed and started again."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.machines.machines import Hub, Machine, equal_logs
from tests.store.postgres_server import Server

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(postgres: Server) -> str:
    return await asyncio.to_thread(postgres.new_database)


@pytest.fixture
async def nodes(short_dir: Path, store: str) -> AsyncIterator[list[Hub]]:
    made: list[Hub] = []
    for name in "ab":
        (short_dir / name).mkdir(mode=0o700)
        made.append(Hub(short_dir / name, env={"BASCULE_STORE": store}))
        await made[-1].start()
    yield made
    for node in made:
        await node.stop()


@pytest.mark.row("X11")
async def test_any_node_serves_any_browser_and_any_machine(nodes: list[Hub], short_dir: Path) -> None:
    a, b = nodes
    (short_dir / "l").mkdir(mode=0o700)
    laptop = Machine(short_dir / "l", "d-laptop", env={"SHELL": "/bin/sh"})
    await laptop.join(b)
    async with laptop:
        await b.until_device("d-laptop", online=True)
        await a.until_device("d-laptop", online=True)
        body = {"agent": "demo", "cwd": str(laptop.work), "prompt": "count 5", "device": laptop.device}
        made = await a.http.post("/api/sessions", json=body)
        assert made.status_code == 200, made.text
        session = made.json()["id"]
        await a.wait_for(session, TurnEnded)
        await equal_logs(a, laptop, session)
        await equal_logs(b, laptop, session)
