"""`bascule hub` with its store in PostgreSQL: a machine joins it, and nothing differs for those who look."""

import asyncio
import subprocess
from pathlib import Path

import pytest
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.test_hub_restored import link, opens, restores, said_to_a_page, until_restored
from tests.machines.test_joined_machine import start
from tests.store.postgres_server import Server, program

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


async def dumped(store: str, file: Path) -> None:
    command = [program("pg_dump"), "-Fc", "-n", "bascule", "-f", str(file), store]
    await asyncio.to_thread(subprocess.run, command, check=True)


async def restored(postgres: Server, file: Path) -> str:
    """The address of a new database that holds a dump."""
    store = await asyncio.to_thread(postgres.new_database)
    command = [program("pg_restore"), "--no-owner", "--no-privileges", "-d", store, str(file)]
    await asyncio.to_thread(subprocess.run, command, check=True)
    return store


@pytest.mark.row("X11", "REL-43")
async def test_an_older_dump_gets_everything_again_says_so_and_opens_no_revoked_grant(
    hub: Hub, laptop: Machine, postgres: Server, hub_env: dict[str, str], tmp_path: Path
) -> None:
    session = await start(hub, laptop, "count 2")
    first = await hub.wait_for(session, TurnEnded)
    _, kept = await link(hub, "kept")
    gone_id, gone = await link(hub, "gone")
    assert (await opens(hub, kept), await opens(hub, gone)) == (200, 200)
    before = await equal_logs(hub, laptop, session)
    await dumped(hub_env["BASCULE_STORE"], tmp_path / "hub.dump")  # while all of it runs

    await hub.send(session, "count 3")
    await hub.wait_for(session, TurnEnded, first.seq)
    rows = await equal_logs(hub, laptop, session)
    assert len(rows) > len(before)
    revoked = await hub.http.delete(f"/api/grants/{gone_id}")
    assert revoked.status_code == 200, revoked.text
    _, later = await link(hub, "later")
    await hub.kill()
    hub_env["BASCULE_STORE"] = await restored(postgres, tmp_path / "hub.dump")
    await hub.start()

    assert (await opens(hub, kept), await opens(hub, gone), await opens(hub, later)) == (200, 401, 401)
    told = await until_restored(hub)
    assert await equal_logs(hub, laptop, session) == rows
    (machine,) = told["machines"]
    assert (machine["device"], told["backupAt"]) == ("d-laptop", None)
    assert 0 < machine["rows"] <= len(rows) - len(before)  # the dump may hold some of them
    assert await said_to_a_page(hub) == told
    (reported,) = await restores(hub)
    assert f"{machine['rows']:,} rows of d-laptop" in reported
    (there,) = await restores(laptop)
    assert f"{machine['rows']:,} rows that it had are sent again" in there
    verdict = (await hub.http.get("/api/audit/verify")).json()
    assert verdict["ok"], verdict
    grants = (await hub.http.get("/api/grants")).json()["grants"]
    assert gone_id not in [one["id"] for one in grants]

    # It is in the database again, too: a node that never knew of it opens nothing.
    await hub.stop()
    (hub.data / "revoked-grants").unlink()
    await hub.start()
    assert await opens(hub, gone) == 401
