"""`bascule hub` with its store in PostgreSQL: a machine joins it, and nothing differs for those who look."""

import asyncio

import pytest
from tests.machines.machines import Hub, Machine, equal_logs
from tests.store.postgres_server import Server

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio


@pytest.fixture
async def hub_env(postgres: Server) -> dict[str, str]:
    return {"BASCULE_STORE": await asyncio.to_thread(postgres.new_database)}


@pytest.mark.row("X11")
async def test_a_machine_is_driven_through_a_hub_on_postgres_which_keeps_all_when_it_is_killed(
    hub: Hub, laptop: Machine, postgres: Server, hub_env: dict[str, str]
) -> None:
    body = {"agent": "demo", "cwd": str(laptop.work), "prompt": "count 5", "device": laptop.device}
    made = await hub.http.post("/api/sessions", json=body)
    assert made.status_code == 200, made.text
    session = made.json()["id"]
    await hub.wait_for(session, TurnEnded)
    rows = await equal_logs(hub, laptop, session)
    assert not (hub.data / "bascule.db").exists()
    await hub.kill()
    store = hub_env.pop("BASCULE_STORE")  # the next start is told on the command line
    await hub.start("--store", store)
    await hub.until_device(laptop.device, online=True)
    assert (await equal_logs(hub, laptop, session))[: len(rows)] == rows
    stored = await asyncio.to_thread(postgres.run, "SELECT count(*) FROM bascule.events", url=store)
    assert int(str(stored[0][0][0])) >= len(rows)
