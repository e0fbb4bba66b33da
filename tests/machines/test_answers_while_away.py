"""Answers given while a machine is away that must not be applied when it is back: real processes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.machines.machines import Hub, Machine, asking_laptop, equal_logs
from tests.machines.test_machine_away import ledger, newest_answer, start
from tests.waiting import PATIENCE

from bascule.model.events import PermissionRequested, TurnEnded

pytestmark = [pytest.mark.anyio, pytest.mark.row("R11")]

ALLOW_WAITS = 2  # seconds, instead of ten minutes


@pytest.fixture
def hub_env(hub_env: dict[str, str]) -> dict[str, str]:
    return {**hub_env, "BASCULE_ALLOW_WAITS_SECONDS": str(ALLOW_WAITS)}


@pytest.fixture
async def laptop(short_dir: Path, hub: Hub) -> AsyncIterator[Machine]:
    async with asking_laptop(short_dir / "l", hub) as made:
        yield made


async def asked_before_it_left(hub: Hub, laptop: Machine) -> tuple[str, PermissionRequested]:
    session = await start(hub, laptop, "asks", "go")
    asked = (await hub.wait_for(session, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    await equal_logs(hub, laptop, session)
    await laptop.kill()
    await hub.until_device("d-laptop", online=False)
    return session, asked


async def answer(
    at: httpx.AsyncClient, session: str, asked: PermissionRequested, decision: str
) -> httpx.Response:
    body = {"requestId": asked.request_id, "decision": decision, "inputSha256": asked.input_sha256}
    return await at.post(f"/api/sessions/{session}/permissions", json=body)


async def denied_at_last(hub: Hub, laptop: Machine, session: str, asked: PermissionRequested) -> None:
    """The machine is back, and the request is open as before: the agent hears this answer, and no other."""
    await laptop.start()
    await hub.until_device("d-laptop", online=True)
    open_requests = (await hub.http.get("/api/requests")).json()["requests"]
    assert [one["request_id"] for one in open_requests] == [asked.request_id]
    assert (await answer(hub.http, session, asked, "deny")).status_code == 200
    await hub.wait_for(session, TurnEnded)
    told = [one["answer"]["response"]["behavior"] for one in ledger(laptop, "asked") if "answer" in one]
    assert told == ["deny"]
    await equal_logs(hub, laptop, session)


async def browser(hub: Hub, name: str) -> tuple[httpx.AsyncClient, dict[str, Any]]:
    made = await hub.post("/api/grants", name=name, role="operator")
    assert made.status_code == 200, made.text
    headers = {"authorization": f"Bearer {made.json()['token']}"}
    client = httpx.AsyncClient(
        base_url=hub.url, headers=headers, trust_env=False, timeout=PATIENCE, verify=False
    )
    return client, made.json()


async def test_an_allow_that_waited_too_long_is_not_applied_when_the_machine_is_back(
    hub: Hub, laptop: Machine
) -> None:
    session, asked = await asked_before_it_left(hub, laptop)
    assert (await answer(hub.http, session, asked, "allow")).json()["waits"] is True
    expired = await newest_answer(hub, "expired")
    assert expired["outcome"].startswith("It was not applied")
    await denied_at_last(hub, laptop, session, asked)


async def test_of_two_browsers_one_answer_waits_and_it_is_not_applied_once_its_grant_is_revoked(
    hub: Hub, laptop: Machine
) -> None:
    session, asked = await asked_before_it_left(hub, laptop)
    browsers = [await browser(hub, name) for name in ("phone", "tablet")]
    given = await asyncio.gather(*(answer(client, session, asked, "deny") for client, _ in browsers))
    assert sorted(one.status_code for one in given) == [200, 409]
    first, second = (0, 1) if given[0].status_code == 200 else (1, 0)
    assert given[first].json()["waits"] is True
    assert given[second].json()["error"]["code"] == "ALREADY_ANSWERED"
    revoked = await hub.http.delete(f"/api/grants/{browsers[first][1]['grant']['id']}")
    assert revoked.status_code == 200, revoked.text
    assert "no longer holds" in (await newest_answer(hub, "revoked"))["outcome"]
    for client, _ in browsers:
        await client.aclose()
    await denied_at_last(hub, laptop, session, asked)
