"""A hub whose database is replaced by an older copy while its machine lives: real processes."""

import asyncio
import json
import shutil
from typing import Any

import pytest
from tests.live import LiveServer
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.test_joined_machine import start
from tests.parts import Part
from tests.waiting import PATIENCE
from websockets.asyncio.client import connect

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio


@pytest.fixture
def hub_env() -> dict[str, str]:
    """SQLite, in every mode: the copy is one of a file."""
    return {}


async def link(hub: Hub, name: str) -> tuple[str, str]:
    """The id and the token of a new link for reading."""
    made = await hub.post("/api/grants", name=name, role="viewer")
    assert made.status_code == 200, made.text
    return made.json()["grant"]["id"], made.json()["token"]


async def opens(hub: Hub, token: str) -> int:
    answer = await hub.http.get("/api/sessions", headers={"authorization": f"Bearer {token}"})
    return answer.status_code


async def restores(server: LiveServer) -> list[str]:
    """What the audit log of a server says of restores."""
    answer = await server.http.get("/api/audit", params={"limit": 1000})
    records = [one["entry"]["record"] for one in answer.json()["records"]]
    return [one["detail"] for one in records if one["action"] == "restored"]


async def until_restored(hub: Hub) -> dict[str, Any]:
    """What people are told of the restore, once the machine has reported it."""
    async with asyncio.timeout(PATIENCE):
        while True:
            told = (await hub.http.get("/api/daemon/status")).json()["restored"]
            if told is not None and told["machines"]:
                return told
            await asyncio.sleep(0.02)


async def said_to_a_page(hub: Hub) -> dict[str, Any]:
    url, headers = hub.url.replace("http", "ws", 1) + "/ws", {"authorization": f"Bearer {hub.token}"}
    async with connect(url, additional_headers=headers, proxy=None) as socket:
        await socket.send(json.dumps({"id": 1, "type": "hello"}))
        async with asyncio.timeout(PATIENCE):
            while True:
                message = json.loads(await socket.recv())
                if message.get("id") == 1:
                    return message["ok"]["restored"]


@pytest.mark.row("REL-43")
async def test_an_older_copy_of_the_hub_gets_everything_again_says_so_and_opens_no_revoked_grant(
    hub: Hub, laptop: Machine, part: Part
) -> None:
    session = await start(hub, laptop, "count 2")
    first = await hub.wait_for(session, TurnEnded)
    kept_id, kept = await link(hub, "kept")
    gone_id, gone = await link(hub, "gone")
    assert (await opens(hub, kept), await opens(hub, gone)) == (200, 200)
    await equal_logs(hub, laptop, session)
    database, copy = hub.data / "bascule.db", hub.folder / "copy.db"
    await hub.stop()
    shutil.copy(database, copy)
    await hub.start()
    await hub.until_device("d-laptop", online=True)
    assert await until_quiet(hub) is None

    await hub.send(session, "count 3")
    await hub.wait_for(session, TurnEnded, first.seq)
    rows = await equal_logs(hub, laptop, session)
    revoked = await hub.http.delete(f"/api/grants/{gone_id}")
    assert revoked.status_code == 200, revoked.text
    assert await opens(hub, gone) == 401
    _, later = await link(hub, "later")
    await hub.kill()
    for one in (database, database.with_name("bascule.db-wal"), database.with_name("bascule.db-shm")):
        one.unlink(missing_ok=True)
    database.with_name("bascule.db.lock").unlink()
    shutil.copy(copy, database)
    await hub.start()

    assert (await opens(hub, kept), await opens(hub, gone), await opens(hub, later)) == (200, 401, 401)
    assert await equal_logs(hub, laptop, session) == rows
    told = await until_restored(hub)
    (machine,) = told["machines"]
    with part("a person is told what was restored"):
        assert (machine["device"], told["records"] > 0, told["backupAt"]) == ("d-laptop", True, None)
        assert machine["rows"] > 0
        assert await said_to_a_page(hub) == told
    with part("both audit logs say so"):
        own, reported = await restores(hub)
        assert "the audit log, at record" in own
        assert f"{machine['rows']:,} rows of d-laptop" in reported
        (there,) = await restores(laptop)
        assert f"{machine['rows']:,} rows that it had are sent again" in there
    with part("the revoked grant is not listed"):
        grants = (await hub.http.get("/api/grants")).json()["grants"]
        assert kept_id in [one["id"] for one in grants]
        assert gone_id not in [one["id"] for one in grants]
    with part("the audit log is whole"):
        verdict = (await hub.http.get("/api/audit/verify")).json()
        assert verdict["ok"], verdict

    await hub.stop()
    await hub.start()
    assert await opens(hub, gone) == 401
    assert len(await restores(hub)) == 2
    assert (hub.data / "revoked-grants").stat().st_mode & 0o777 == 0o600


async def until_quiet(hub: Hub) -> dict[str, Any] | None:
    """An ordinary restart is no restore."""
    return (await hub.http.get("/api/daemon/status")).json()["restored"]
