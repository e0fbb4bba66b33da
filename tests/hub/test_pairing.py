"""Pairing: a machine waits under a code until the owner lets it in; its grant opens its own line alone."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.hub.running_hub import RunningHub, ask, running_hub
from tests.hub.steady import Steady

from bascule.hub.door.pairings import LIFETIME, MAX_PER_ADDRESS
from bascule.link.frames import AnyFrame, DaemonConnected
from bascule.link.machine import ListAgents
from bascule.model.commands import Actor
from bascule.model.errors import DeviceOffline

pytestmark = pytest.mark.anyio

ATTIC = {"device": "d-attic", "name": "attic", "user": "ana", "version": "1.0", "agents": ["codex"]}


@pytest.fixture
def steady() -> Steady:
    return Steady()


@pytest.fixture
async def hub(tmp_path: Path, steady: Steady) -> AsyncIterator[RunningHub]:
    async with running_hub(tmp_path, steady=steady) as made:
        yield made


@pytest.mark.row("R1", "S38")
async def test_a_machine_joins_once_the_owner_has_seen_its_code(hub: RunningHub) -> None:
    async with hub.client() as machine, hub.client(hub.tokens["owner"]) as owner:
        asked = (await machine.post("/api/pairings", json=ATTIC)).json()
        waiting = (await owner.get("/api/pairings")).json()["pairings"]
        assert [(one["code"], one["name"], one["user"], one["address"]) for one in waiting] == [
            (asked["code"], "attic", "ana", "127.0.0.1")
        ]
        poll = {"secret": asked["secret"]}
        assert (await machine.post("/api/pairings/poll", json=poll)).json()["state"] == "waiting"
        answer = f"/api/pairings/{waiting[0]['id']}/answer"
        wrong = await owner.post(answer, json={"code": "BBBB-BBBB", "allow": True})
        assert wrong.json()["error"]["code"] == "PAIRING_NOT_FOUND"
        await owner.post(answer, json={"code": asked["code"], "allow": True})
        got = (await machine.post("/api/pairings/poll", json=poll)).json()
        assert (got["state"], got["by"]) == ("allowed", "owner")
        again = await machine.post("/api/pairings/poll", json=poll)
        assert again.status_code == 404
        grants = (await owner.get("/api/grants")).json()["grants"]
        mine = next(one for one in grants if one["device"] == "d-attic")
        assert (mine["role"], mine["expiresAt"]) == ("daemon", None)
    async with hub.client(got["token"]) as machine:
        assert (await machine.get("/api/sessions")).status_code == 403
        assert (await machine.get("/api/pairings")).status_code == 403


@pytest.mark.row("R1")
async def test_a_poll_that_waits_is_answered_when_the_owner_decides(hub: RunningHub) -> None:
    async with hub.client() as machine, hub.socket() as page:
        asked = (await machine.post("/api/pairings", json=ATTIC)).json()
        poll = {"secret": asked["secret"], "wait": 25}
        waits = asyncio.create_task(machine.post("/api/pairings/poll", json=poll))
        listed = (await ask(page, "pairings:list"))["ok"]["pairings"]
        named = {"pairingId": listed[0]["id"], "code": asked["code"]}
        await ask(page, "pairings:answer", 2, **named, allow=False)
        assert (await waits).json()["state"] == "denied"
        assert (await ask(page, "pairings:list", 3))["ok"]["pairings"] == []


@pytest.mark.row("R1")
async def test_a_machine_that_was_installed_anew_takes_the_place_of_what_it_was(hub: RunningHub) -> None:
    old = hub.services.switchboard.attach(list[AnyFrame]().append, close=list[str]().append)
    old.receive(DaemonConnected("d-old", "attic", "1"))
    async with hub.client() as machine, hub.client(hub.tokens["owner"]) as owner:
        made = await owner.post("/api/grants", json={"name": "attic", "role": "daemon", "device": "d-old"})
        asked = (await machine.post("/api/pairings", json=ATTIC)).json()
        (waiting,) = (await owner.get("/api/pairings")).json()["pairings"]
        answer = f"/api/pairings/{waiting['id']}/answer"
        allowed = {"code": asked["code"], "allow": True}
        for device, words in (("d-old", "is connected"), ("d-never", "There is no device")):
            refused = await owner.post(answer, json={**allowed, "replaces": device})
            assert words in refused.json()["error"]["message"]
        old.closed()
        await owner.post(answer, json={**allowed, "replaces": "d-old"})
        polled = await machine.post("/api/pairings/poll", json={"secret": asked["secret"]})
        assert polled.json()["state"] == "allowed"
        grants = (await owner.get("/api/grants")).json()["grants"]
        assert made.status_code == 200
        assert "d-old" not in [one["device"] for one in grants]
        devices = (await owner.get("/api/daemon/status")).json()["devices"]
        assert "d-old" not in [one["device"] for one in devices]
    with pytest.raises(
        DeviceOffline, match=r"attic was replaced by another machine\. Its sessions stay here"
    ):
        await hub.services.switchboard.ask("d-old", ListAgents(), Actor("ana"))


async def test_joining_again_replaces_the_machines_grant(hub: RunningHub) -> None:
    async with hub.client() as machine, hub.client(hub.tokens["owner"]) as owner:
        for known in (False, True):
            asked = (await machine.post("/api/pairings", json=ATTIC)).json()
            waiting = (await owner.get("/api/pairings")).json()["pairings"]
            assert [one["known"] for one in waiting] == [known]
            named = {"code": asked["code"], "allow": True}
            await owner.post(f"/api/pairings/{waiting[0]['id']}/answer", json=named)
            await machine.post("/api/pairings/poll", json={"secret": asked["secret"]})
        grants = (await owner.get("/api/grants")).json()["grants"]
        assert [one["device"] for one in grants if one["device"]] == ["d-attic"]


@pytest.mark.row("S38")
async def test_a_request_to_join_ends_after_ten_minutes(hub: RunningHub, steady: Steady) -> None:
    async with hub.client() as machine, hub.client(hub.tokens["owner"]) as owner:
        asked = (await machine.post("/api/pairings", json=ATTIC)).json()
        assert LIFETIME <= 600
        steady.now += LIFETIME + 1
        assert (await owner.get("/api/pairings")).json()["pairings"] == []
        gone = await machine.post("/api/pairings/poll", json={"secret": asked["secret"]})
        assert gone.json()["error"]["code"] == "PAIRING_NOT_FOUND"


async def test_strangers_cannot_fill_the_list_of_machines_that_wait(hub: RunningHub) -> None:
    async with hub.client() as machine, hub.client(hub.tokens["owner"]) as owner:
        codes: list[int] = []
        for n in range(MAX_PER_ADDRESS + 5):
            one = await machine.post("/api/pairings", json={**ATTIC, "device": f"d-{n}"})
            codes.append(one.status_code)
        assert codes[:MAX_PER_ADDRESS] == [200] * MAX_PER_ADDRESS
        assert set(codes[MAX_PER_ADDRESS:]) == {429}
        assert len((await owner.get("/api/pairings")).json()["pairings"]) == MAX_PER_ADDRESS


@pytest.mark.row("S38")
async def test_only_the_owner_lets_machines_in(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["operator"]) as operator:
        assert (await operator.get("/api/pairings")).status_code == 403
        body = {"code": "BBBB-BBBB", "allow": True}
        assert (await operator.post("/api/pairings/x/answer", json=body)).status_code == 403
    async with hub.client(hub.tokens["owner"]) as owner:
        unbound = await owner.post("/api/grants", json={"name": "any", "role": "daemon"})
        assert unbound.status_code == 400
        foreign = await owner.post("/api/grants", json={"name": "any", "role": "viewer", "device": "d"})
        assert foreign.status_code == 400
