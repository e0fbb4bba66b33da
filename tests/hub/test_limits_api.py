"""limits:show and limits:set: validated, the owner's alone, audited, told to every page."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.hub.running_hub import RunningHub, ask, running_hub
from tests.waiting import PATIENCE

from bascule.model.errors import LimitReached
from bascule.model.settings import Limits

pytestmark = pytest.mark.anyio


@pytest.mark.row("R15")
async def test_the_owner_changes_limits_while_the_server_runs(hub: RunningHub) -> None:
    async with hub.socket() as owner, hub.socket(hub.tokens["viewer"]) as viewer:
        changed = (await ask(owner, "limits:set", limits={"sessions": 12, "permission_seconds": 60}))["ok"]
        assert changed["limits"]["sessions"] == 12
        assert changed["configured"]["sessions"] == Limits().sessions
        assert changed["changed"] == ["permission_seconds", "sessions"]
        assert (await pushed(viewer, "limits:changed"))["limits"]["sessions"] == 12
        assert (await ask(owner, "settings:show"))["ok"]["limits"] == changed["limits"]
        assert (await ask(owner, "hello"))["ok"]["waits"]["permission"] == 60
        back = (await ask(owner, "limits:set", limits={"permission_seconds": None}))["ok"]
        assert back["changed"] == ["sessions"]
    async with hub.client(hub.tokens["owner"]) as client:
        records = (await client.get("/api/audit?limit=1000")).json()["records"]
    details = [one["entry"]["record"].get("detail", "") for one in records]
    assert [one for one in details if one.startswith("limits")] == [
        "limits: sessions 8 -> 12, permission_seconds 86400 -> 60",
        "limits: permission_seconds 60 -> 86400",
    ]


@pytest.mark.parametrize("wrong", [{"sesions": 1}, {"sessions": -1}, {"sessions": 1.5}, {"sessions": "many"}])
async def test_a_wrong_limit_is_refused_in_words_and_nothing_changes(
    hub: RunningHub, wrong: dict[str, Any]
) -> None:
    async with hub.client(hub.tokens["owner"]) as client:
        refused = await client.post("/api/limits", json={"limits": {"idle_seconds": 1, **wrong}})
        assert refused.status_code == 400
        assert refused.json()["error"]["message"]
        assert (await client.get("/api/limits")).json()["changed"] == []


@pytest.mark.parametrize(("role", "shown"), [("operator", 200), ("viewer", 403)])
async def test_only_an_owner_changes_limits(hub: RunningHub, role: str, shown: int) -> None:
    async with hub.client(hub.tokens[role]) as client:
        assert (await client.get("/api/limits")).status_code == shown
        assert (await client.post("/api/limits", json={"limits": {"sessions": 1}})).status_code == 403


async def test_no_limit_of_starts_per_minute_lets_every_start_through(tmp_path: Path) -> None:
    async with running_hub(tmp_path) as hub, hub.client(hub.tokens["owner"]) as client:
        await client.post("/api/limits", json={"limits": {"spawns_per_minute": 1}})
        body = {"agent": "scripted", "cwd": "/tmp"}
        assert [(await client.post("/api/sessions", json=body)).status_code for _ in range(2)] == [200, 429]
        await client.post("/api/limits", json={"limits": {"spawns_per_minute": 0}})
        assert {(await client.post("/api/sessions", json=body)).status_code for _ in range(10)} == {200}


async def test_a_refusal_s_offer_reaches_the_caller(hub: RunningHub) -> None:
    offer = {"sessionId": "s1", "title": "Old one", "idleSeconds": 90}
    hub.device.refuse = LimitReached("8 agents already work here.", limit="sessions", offer=offer)
    async with hub.client(hub.tokens["owner"]) as client:
        refused = await client.post("/api/sessions", json={"agent": "scripted", "cwd": "/tmp"})
    assert refused.status_code == 429
    assert refused.json()["error"]["offer"] == offer


async def pushed(socket: Any, kind: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            message = msgspec.json.decode(await socket.recv())
            if message.get("type") == kind:
                return message
