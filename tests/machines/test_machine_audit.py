"""The audit log of another machine: copied to the hub, verified there, and what tampering with it shows."""

import asyncio
import sqlite3
import sys
from typing import Any

import httpx
import pytest
from tests.machines.machines import Hub, Machine
from tests.machines.test_joined_machine import start
from tests.parts import Part
from tests.waiting import PATIENCE

from bascule.model.events import PermissionRequested, TurnEnded
from bascule.store.audit import FIRST, chained

pytestmark = pytest.mark.anyio

COPY = {"device": "d-laptop"}


async def lines(server: Hub | Machine, **params: Any) -> list[dict[str, Any]]:
    answer = await server.http.get("/api/audit", params={"limit": 1000, **params})
    assert answer.status_code == 200, answer.text
    return answer.json()["records"]


async def verdict(server: Hub | Machine, **params: Any) -> dict[str, Any]:
    answer = await server.http.get("/api/audit/verify", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def equal_chains(hub: Hub, laptop: Machine) -> list[dict[str, Any]]:
    """Wait until the hub has all that the machine has written; every record must be the same."""
    async with asyncio.timeout(PATIENCE):
        while True:
            own, copied = await lines(laptop), await lines(hub, **COPY)
            if len(copied) >= len(own):
                assert copied[: len(own)] == own
                return copied
            await asyncio.sleep(0.02)


async def until_broken(hub: Hub) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while not (found := await verdict(hub, **COPY))["problem"]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return found


def edit(laptop: Machine, change: str, *, rechained: bool = False) -> None:
    """What somebody does who may write to the machine's database."""
    with sqlite3.connect(laptop.data / "bascule.db") as connection:
        connection.execute("DROP TRIGGER IF EXISTS audit_is_never_changed")
        connection.execute(change)
        if rechained:
            before, n = FIRST, 0
            for n, body in connection.execute("SELECT n, body FROM audit ORDER BY n").fetchall():
                own = chained(before, body)
                connection.execute("UPDATE audit SET prev_hash = ?, hash = ? WHERE n = ?", (before, own, n))
                before = own
            head = f"{n} {before}".encode()
            connection.execute("UPDATE meta SET value = ? WHERE name = 'audit_head'", (head,))


async def bascule(server: Hub | Machine, *words: str) -> tuple[int, str]:
    """The command line at a server's machine: its exit code and all it said."""
    command = [sys.executable, "-m", "bascule", *words, "--data", str(server.data)]
    process = await asyncio.create_subprocess_exec(
        *command,
        env=server._environment(),  # pyright: ignore[reportPrivateUsage]
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    return process.returncode or 0, said.decode()


@pytest.mark.row("R16")
async def test_who_answered_at_the_hub_is_in_the_machines_audit_log_and_in_its_copy(
    hub: Hub, laptop: Machine, part: Part
) -> None:
    made = (await hub.post("/api/grants", name="ana", role="owner")).json()
    session = await start(hub, laptop, "run")
    request = (await hub.wait_for(session, PermissionRequested)).event
    assert isinstance(request, PermissionRequested)
    async with httpx.AsyncClient(base_url=hub.url, trust_env=False, timeout=PATIENCE) as ana:
        answer = await ana.post(
            f"/api/sessions/{session}/permissions",
            json={"requestId": request.request_id, "decision": "allow"},
            headers={"authorization": f"Bearer {made['token']}", "user-agent": "ana's browser"},
        )
    assert answer.status_code == 200, answer.text
    await hub.wait_for(session, TurnEnded)
    copied = [one["entry"]["record"] for one in await equal_chains(hub, laptop)]
    allowed = next(one for one in copied if one.get("decision") == "allow" and one["action"] == "permission")
    with part("the record says who it was, and from where"):
        assert allowed["actor"] == "ana"
        assert allowed["grant_id"] == made["grant"]["id"]
        assert allowed["address"] == "127.0.0.1"
        assert allowed["user_agent"] == "ana's browser"
        assert allowed["request_id"] == request.request_id
    assert (await verdict(hub, **COPY))["ok"]
    with part("the hub's own log has the grant, not what was done on the machine"):
        own = [one["entry"]["record"]["action"] for one in await lines(hub)]
        assert "grant" in own
        assert "permission" not in own
    with part("the copy is counted, and an unknown machine has none"):
        copies = (await verdict(hub))["copies"]
        assert [(one["device"], one["chain"], one["count"]) for one in copies] == [
            ("d-laptop", 1, len(copied))
        ]
        assert (await hub.http.get("/api/audit", params={"device": "d-nobody"})).status_code == 404
    with part("the copy is listed, exported and verified by commands"):
        code, said = await bascule(hub, "audit", "list", "--device", "d-laptop")
        assert code == 0
        assert "ana" in said
        name = (await hub.devices())["d-laptop"]["name"]
        code, said = await bascule(hub, "audit", "export", "--device", name)
        assert (code, len(said.splitlines())) == (0, len(copied))
        code, said = await bascule(hub, "audit", "verify", "--device", "d-laptop")
        assert (code, said.split()[0]) == (0, "ok:")


@pytest.mark.row("R16")
async def test_what_was_done_while_the_hub_was_away_is_in_its_copy_afterwards(
    hub: Hub, laptop: Machine
) -> None:
    session = await start(hub, laptop, "count 3")
    first = await hub.wait_for(session, TurnEnded)
    before = await equal_chains(hub, laptop)
    await hub.kill()
    await laptop.send(session, "count 2")
    await laptop.wait_for(session, TurnEnded, first.seq)
    await hub.start()
    await hub.until_device("d-laptop", online=True)
    after = await equal_chains(hub, laptop)
    assert after[: len(before)] == before
    assert len(after) > len(before)
    found = await verdict(hub, **COPY)
    assert (found["ok"], len(found["copies"])) == (True, 1)


@pytest.mark.row("R16", "S49")
async def test_a_record_changed_on_the_machine_before_it_was_copied_is_said_at_the_hub(
    hub: Hub, laptop: Machine
) -> None:
    session = await start(hub, laptop, "count 3")
    first = await hub.wait_for(session, TurnEnded)
    copied = len(await equal_chains(hub, laptop))
    await hub.kill()
    await laptop.send(session, "count 2")
    await laptop.wait_for(session, TurnEnded, first.seq)
    assert await laptop.stop() == 0
    bad = copied + 1
    edit(laptop, f"UPDATE audit SET body = CAST(replace(body, 'owner', 'ownez') AS BLOB) WHERE n = {bad}")
    await laptop.start()
    await hub.start()
    found = await until_broken(hub)
    assert (found["ok"], found["count"], found["bad"]) == (False, copied, bad)
    assert "changed after it was written" in found["problem"]
    assert [one["brokenAt"] for one in (await verdict(hub))["copies"]] == [bad]
    assert len(await lines(hub, **COPY)) == copied
    assert not (await verdict(laptop))["ok"]
    code, said = await bascule(hub, "audit", "verify", "--device", "d-laptop")
    assert code != 0
    assert f"broken at record {bad}" in said
    # Everything else goes on.
    await hub.send(session, "count 2")
    assert (await hub.devices())["d-laptop"]["online"]


@pytest.mark.row("R16", "S49")
async def test_a_log_rewritten_on_the_machine_does_not_replace_the_copy(hub: Hub, laptop: Machine) -> None:
    session = await start(hub, laptop, "count 3")
    await hub.wait_for(session, TurnEnded)
    before = await equal_chains(hub, laptop)
    bad = next(one["entry"]["n"] for one in before if one["entry"]["record"].get("session_id") == session)
    assert await laptop.stop() == 0
    await hub.until_device("d-laptop", online=False)
    before = await lines(hub, **COPY)
    change = f"UPDATE audit SET body = CAST(replace(body, '{session}', 'another') AS BLOB) WHERE n = {bad}"
    edit(laptop, change, rechained=True)
    await laptop.start()
    await hub.until_device("d-laptop", online=True)
    assert (await verdict(laptop))["ok"]  # the machine alone can't tell
    await until_second_chain(hub)
    await equal_chains(hub, laptop)
    assert await lines(hub, **COPY, chain=1) == before
    copies = (await verdict(hub, **COPY))["copies"]
    assert [(one["chain"], one["current"], one["differsAt"]) for one in copies] == [
        (1, False, bad),
        (2, True, None),
    ]
    code, said = await bascule(hub, "audit", "verify", "--device", "d-laptop")
    assert code == 0
    assert f"differs from record {bad} on" in said


async def until_second_chain(hub: Hub) -> None:
    async with asyncio.timeout(PATIENCE):
        while len((await verdict(hub, **COPY))["copies"]) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
