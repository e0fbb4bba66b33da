"""One-time links: one browser, once, within ten minutes; what comes of it is a lasting grant."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.hub.running_hub import RunningHub, running_hub
from tests.hub.steady import Steady

from bascule.hub.door.hosts import Doorway
from bascule.hub.door.links import LIFETIME, REMEMBERED, WRONG_BURST
from bascule.hub.door.own_addresses import addresses_of
from bascule.model.errors import StorageFull
from bascule.model.settings import Settings

pytestmark = pytest.mark.anyio


@pytest.fixture
def steady() -> Steady:
    return Steady()


@pytest.fixture
async def hub(tmp_path: Path, steady: Steady) -> AsyncIterator[RunningHub]:
    async with running_hub(tmp_path, steady=steady) as made:
        yield made


async def make(hub: RunningHub, **body: Any) -> dict[str, Any]:
    async with hub.client(hub.tokens["owner"]) as owner:
        answer = await owner.post("/api/links", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()


async def redeem(hub: RunningHub, secret: str, **body: Any) -> tuple[int, dict[str, Any]]:
    async with hub.client() as stranger:
        answer = await stranger.post("/api/links/redeem", json={"secret": secret, **body})
        return answer.status_code, answer.json()


async def test_a_link_becomes_a_lasting_grant_with_the_role_that_its_maker_chose(hub: RunningHub) -> None:
    made = await make(hub, name="Ana's phone", role="viewer")
    assert made["link"] == f"{hub.url}/#pair={made['secret']}"
    assert made["expiresIn"] == LIFETIME
    status, got = await redeem(hub, made["secret"], name="Safari on iPhone")
    assert (status, got["name"], got["role"]) == (200, "Ana's phone", "viewer")
    async with hub.client(got["token"]) as phone, hub.client(hub.tokens["owner"]) as owner:
        assert (await phone.get("/api/sessions")).status_code == 200
        assert (await phone.get("/api/grants")).status_code == 403
        listed = (await owner.get("/api/grants")).json()["grants"]
    mine = next(one for one in listed if one["name"] == "Ana's phone")
    assert (mine["role"], mine["expiresAt"]) == ("viewer", None)
    # The secret of the link is no key itself, before or after.
    async with hub.client(made["secret"]) as guess:
        assert (await guess.get("/api/sessions")).status_code == 401


async def test_a_link_without_a_name_takes_the_browsers_own_and_is_for_an_operator(hub: RunningHub) -> None:
    names = ("Safari on iPhone", "\u202e\n", "")
    got = [(await redeem(hub, (await make(hub))["secret"], name=name))[1] for name in names]
    assert [one["name"] for one in got] == ["Safari on iPhone", "browser", "browser"]
    assert {one["role"] for one in got} == {"operator"}


async def test_a_link_lets_in_one_browser_alone_even_when_two_come_at_once(hub: RunningHub) -> None:
    secret = (await make(hub))["secret"]
    both = await asyncio.gather(redeem(hub, secret), redeem(hub, secret))
    assert sorted(status for status, _ in both) == [200, 410]
    status, late = await redeem(hub, secret)
    assert (status, late["error"]["code"]) == (410, "LINK_USED")
    assert "bascule pair" in late["error"]["message"]


async def test_a_link_is_over_after_ten_minutes_and_forgotten_after_a_day(
    hub: RunningHub, steady: Steady
) -> None:
    secret = (await make(hub))["secret"]
    steady.now += LIFETIME
    status, got = await redeem(hub, secret)
    assert (status, got["error"]["code"]) == (410, "LINK_EXPIRED")
    steady.now += REMEMBERED
    await make(hub)
    status, got = await redeem(hub, secret)
    assert (status, got["error"]["code"]) == (404, "LINK_NOT_FOUND")


async def test_wrong_links_are_throttled_and_a_right_one_is_not(hub: RunningHub) -> None:
    made = await make(hub)
    codes = [(await redeem(hub, f"guess-number-{n}"))[0] for n in range(WRONG_BURST + 2)]
    assert codes == [404] * WRONG_BURST + [429, 429]
    assert (await redeem(hub, made["secret"]))[0] == 200


async def test_a_link_that_a_full_disk_could_not_honour_still_works_afterwards(
    hub: RunningHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = (await make(hub))["secret"]

    async def full(*_: Any, **__: Any) -> Any:
        raise StorageFull("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(hub.grants, "create", full)
        assert (await redeem(hub, secret))[0] == 507
    assert (await redeem(hub, secret))[0] == 200


async def test_only_the_owner_makes_links_and_none_for_a_machine(hub: RunningHub) -> None:
    for who in ("operator", "viewer"):
        async with hub.client(hub.tokens[who]) as client:
            assert (await client.post("/api/links", json={})).status_code == 403
    async with hub.client(hub.tokens["owner"]) as owner:
        assert (await owner.post("/api/links", json={"role": "daemon"})).status_code == 400


def listed(interfaces: tuple[str, ...] = (), **more: Any) -> list[tuple[str, str]]:
    settings = Settings(data_dir="/d", config_dir="/c", port=3333, **more)
    return [(one.kind, one.url) for one in addresses_of(settings, Doorway(settings), lambda: interfaces)]


def test_the_addresses_are_those_that_it_listens_on_and_the_one_its_owner_named() -> None:
    assert listed() == [("loopback", "http://127.0.0.1:3333")]
    assert listed(public_url="https://b.example") == [
        ("public", "https://b.example"),
        ("loopback", "http://127.0.0.1:3333"),
    ]
    assert listed(host="192.0.2.7", tls_cert="c") == [("network", "https://192.0.2.7:3333")]
    cards = ("127.0.0.1", "192.0.2.7", "169.254.1.1", "::1", "2001:db8::7")
    assert listed(cards, host="0.0.0.0") == [
        ("network", "http://192.0.2.7:3333"),
        ("loopback", "http://127.0.0.1:3333"),
    ]
    assert listed(cards, host="::")[1] == ("network", "http://[2001:db8::7]:3333")
