"""Notifications through a whole hub: a push service that decrypts, webhooks that fail, Deny by a token."""

import asyncio
import contextlib
import json
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.hub.running_hub import RunningHub, ask, running_hub, until
from tests.hub.scripted_device import append
from tests.notify.push_service import BrowserKeys, Receiver, receiver, verified
from tests.waiting import PATIENCE

from bascule.model.events import GuardAnswered, GuardAsked, PermissionAnswered
from bascule.model.settings import NotifySettings
from bascule.notify.web_push import unb64

pytestmark = pytest.mark.anyio

ROOT = "/api/notifications"


@contextlib.asynccontextmanager
async def told_hub(folder: Path, *services: Receiver, **settings: Any) -> AsyncIterator[RunningHub]:
    """A hub that tells at once, and tries again soon."""
    notify = NotifySettings(push_hosts=tuple(f"127.0.0.1:{one.port}" for one in services), **settings)
    async with running_hub(folder, notify=notify) as hub:
        hub.services.notifier.decider.grace = 0.0
        hub.services.notifier.ladder = (0.02, 0.02, 0.02)
        yield hub


async def subscribe(client: httpx.AsyncClient, service: Receiver, keys: BrowserKeys) -> str:
    body = {"endpoint": f"{service.url}/push/1", **keys.subscription}
    made = await client.post(f"{ROOT}/push", json=body)
    assert made.status_code == 200, made.text
    return made.json()["ownChannel"]


async def pushed(service: Receiver, keys: BrowserKeys) -> dict[str, Any]:
    request = await asyncio.wait_for(service.requests.get(), PATIENCE)
    return json.loads(keys.decrypt(request.body))["notification"]


async def channel_of(client: httpx.AsyncClient, channel_id: str) -> dict[str, Any]:
    channels = (await client.get(ROOT)).json()["channels"]
    return next(one for one in channels if one["id"] == channel_id)


@pytest.mark.row("X2")
async def test_a_request_is_pushed_to_a_browser_denied_from_there_and_replaced(tmp_path: Path) -> None:
    keys = BrowserKeys()
    async with (
        receiver() as service,
        told_hub(tmp_path, service) as hub,
        hub.client(hub.tokens["operator"]) as client,
    ):
        await subscribe(client, service, keys)
        await hub.session()
        await hub.ask_permission("s1")
        request = await asyncio.wait_for(service.requests.get(), PATIENCE)
        # Signed by the server's own key, and urgent
        token, _, key = request.headers["authorization"].removeprefix("vapid t=").partition(", k=")
        shown = (await client.get(ROOT)).json()
        assert key == shown["pushKey"]
        assert verified(token, unb64(key))["aud"] == service.url
        assert (request.headers["urgency"], request.headers["content-encoding"]) == ("high", "aes128gcm")
        # One declarative message, which opens with the browser's secrets
        message = json.loads(keys.decrypt(request.body))
        assert message["web_push"] == 8030
        notification = message["notification"]
        assert notification["navigate"] == f"{hub.url}/sessions/s1"
        assert [one["action"] for one in notification["actions"]] == ["open", "deny"]
        assert "Bash" not in notification["title"] + notification["body"]
        # Whoever has the token denies this request, and needs nothing else
        deny = notification["data"]["deny"]
        async with hub.client() as anybody:
            done = await anybody.post(f"{ROOT}/deny", json={"token": deny})
            assert done.status_code == 200, done.text
            settled = await pushed(service, keys)
            assert (settled["tag"], settled["silent"]) == (notification["tag"], True)
            assert settled["title"].startswith("Denied by operator")
            assert settled["actions"] == []
            # One use: the request is over, and the token with it
            again = await anybody.post(f"{ROOT}/deny", json={"token": deny})
            assert again.status_code == 409
            assert again.json()["error"]["code"] == "ALREADY_ANSWERED"


async def test_a_request_that_is_answered_elsewhere_replaces_its_notification(tmp_path: Path) -> None:
    keys = BrowserKeys()
    async with (
        receiver() as service,
        told_hub(tmp_path, service) as hub,
        hub.client(hub.tokens["owner"]) as client,
    ):
        await subscribe(client, service, keys)
        await hub.session()
        await hub.ask_permission("s1")
        first = await pushed(service, keys)
        await append(hub.store, "s1", PermissionAnswered("r1", "allow", "Mira"))
        second = await pushed(service, keys)
        assert (second["tag"], second["title"]) == (first["tag"], "Allowed by Mira")
        assert second["data"]["settled"] is True
        late = await client.post(f"{ROOT}/deny", json={"token": first["data"]["deny"]})
        assert late.status_code == 409


@pytest.mark.row("X2", "R15")
async def test_an_agent_that_is_stopped_at_a_limit_is_pushed_and_replaced_once_the_owner_has_decided(
    tmp_path: Path,
) -> None:
    keys = BrowserKeys()
    async with (
        receiver() as service,
        told_hub(tmp_path, service) as hub,
        hub.client(hub.tokens["owner"]) as client,
    ):
        await subscribe(client, service, keys)
        await hub.session()
        text = "$2.05 of $2.00 are spent for this session: the limit is reached."
        await append(hub.store, "s1", GuardAsked("g1", "session_cents", text, 205, 200))
        request = await asyncio.wait_for(service.requests.get(), PATIENCE)
        assert (request.headers["urgency"], request.headers["ttl"]) == ("high", "86400")
        first = json.loads(keys.decrypt(request.body))["notification"]
        assert first["title"] == "s1: limit reached"
        assert "$" not in first["title"] + first["body"]
        # To raise a limit, open the session: nothing is decided from the notification
        assert "deny" not in first["data"]
        assert [one["action"] for one in first["actions"]] == ["open"]
        await append(hub.store, "s1", GuardAnswered("g1", "go_on", "Mira", 400))
        second = await pushed(service, keys)
        assert (second["tag"], second["title"]) == (first["tag"], "Continued by Mira")
        assert second["data"]["settled"] is True


async def test_a_viewers_browser_is_told_and_can_deny_nothing(tmp_path: Path) -> None:
    keys = BrowserKeys()
    async with (
        receiver() as service,
        told_hub(tmp_path, service) as hub,
        hub.client(hub.tokens["viewer"]) as client,
    ):
        channel = await subscribe(client, service, keys)
        # Its own subscription is all it sees, and all it may change
        assert [one["id"] for one in (await client.get(ROOT)).json()["channels"]] == [channel]
        assert (await client.post(f"{ROOT}/channels/desktop/test", json={})).status_code == 403
        assert (
            await client.post(f"{ROOT}/channels/{channel}", json={"kinds": ["approval"]})
        ).status_code == 200
        await hub.session()
        await hub.ask_permission("s1")
        notification = await pushed(service, keys)
        assert "deny" not in notification["data"]
        assert [one["action"] for one in notification["actions"]] == ["open"]


async def test_a_subscription_ends_with_410_and_with_its_grant(tmp_path: Path) -> None:
    async with (
        receiver() as service,
        told_hub(tmp_path, service) as hub,
        hub.client(hub.tokens["operator"]) as client,
        hub.client(hub.tokens["owner"]) as owner,
    ):
        channel = await subscribe(client, service, BrowserKeys())
        service.answers(410)
        tested = (await client.post(f"{ROOT}/channels/{channel}/test", json={})).json()
        assert tested["ok"] is False
        assert "410" in tested["message"]
        assert "ended its subscription" in tested["message"]
        assert (await client.get(ROOT)).json()["channels"] == []
        # Again, and found gone while a request is told
        await subscribe(client, service, BrowserKeys())
        await hub.session()
        await hub.ask_permission("s1")
        await until(lambda: not hub.services.notifier.book.now.channels)
        # Again, and revoked
        service.answers(201)
        await subscribe(client, service, BrowserKeys())
        assert (tmp_path / "notifications.json").read_bytes().count(b"p256dh") == 1
        await owner.request("DELETE", f"/api/grants/{hub.grant['operator'].id}", json={})
        assert b"p256dh" not in (tmp_path / "notifications.json").read_bytes()
        for name in ("notifications.json", "vapid.key", "deny.key"):
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


async def test_only_push_services_and_usable_keys_are_taken(tmp_path: Path) -> None:
    async with (
        receiver() as service,
        told_hub(tmp_path, service) as hub,
        hub.client(hub.tokens["owner"]) as client,
    ):
        good = BrowserKeys().subscription
        for wrong in (
            {"endpoint": "http://127.0.0.1:1/x", **good},
            {"endpoint": f"{service.url}/x", **good, "auth": "AAAA"},
        ):
            refused = await client.post(f"{ROOT}/push", json=wrong)
            assert refused.status_code == 400
            assert refused.json()["error"]["message"]


@pytest.mark.row("X2")
async def test_webhooks_that_are_slow_failing_and_gone_hold_up_nothing_and_are_tried_again_and_said(
    tmp_path: Path,
) -> None:
    async with (
        receiver() as slow,
        receiver() as failing,
        receiver() as well,
        told_hub(tmp_path) as hub,
        hub.client(hub.tokens["owner"]) as client,
    ):
        slow.hold = asyncio.Event()
        failing.answers(503, "busy")
        async with receiver() as gone:
            urls = {"slow": slow.url, "failing": failing.url, "gone": gone.url, "well": well.url}
        ids: dict[str, str] = {}
        for name, url in urls.items():
            made = await client.post(
                f"{ROOT}/channels",
                json={"service": "webhook", "name": name, "url": url, "secret": "hush-little-secret"},
            )
            ids[name] = next(one["id"] for one in made.json()["channels"] if one["name"] == name)
            assert "hush-little-secret" not in made.text
        await hub.session()
        await hub.ask_permission("s1")
        got = (await asyncio.wait_for(well.requests.get(), PATIENCE)).json
        assert (got["kind"], got["state"], got["requestId"]) == ("approval", "open", "r1")
        for _ in range(4):
            await asyncio.wait_for(failing.requests.get(), PATIENCE)
        await until(lambda: hub.services.notifier.health(ids["gone"])[0].given_up > 0)
        await until(lambda: hub.services.notifier.health(ids["failing"])[0].given_up > 0)
        # While one hangs and two have failed, the session goes on and everything else is told
        await append(hub.store, "s1", PermissionAnswered("r1", "deny", "Mira"))
        assert (await asyncio.wait_for(well.requests.get(), PATIENCE)).json["title"] == "Denied by Mira"
        shown = {name: await channel_of(client, channel) for name, channel in ids.items()}
        assert shown["failing"]["problem"] == f"127.0.0.1:{failing.port} answered 503: busy"
        assert "nothing listens there" in shown["gone"]["problem"]
        assert shown["well"]["problem"] == ""
        assert shown["well"]["deliveredAt"] > shown["failing"]["failedAt"][:4]
        assert shown["slow"]["waiting"] > 0
        slow.hold.set()
        await until(lambda: hub.services.notifier.health(ids["slow"])[1] == 0)
        # Removed while it is retried: nothing is left of it
        await client.request("DELETE", f"{ROOT}/channels/{ids['failing']}", json={})
        assert all(one["name"] != "failing" for one in (await client.get(ROOT)).json()["channels"])


async def test_nothing_is_pushed_while_somebody_is_at_the_page(tmp_path: Path) -> None:
    keys = BrowserKeys()
    async with (
        receiver() as service,
        told_hub(tmp_path, service) as hub,
        hub.client(hub.tokens["owner"]) as client,
        hub.socket() as page,
    ):
        await subscribe(client, service, keys)
        await ask(page, "notifications:active", active=True)
        await hub.session()
        await hub.ask_permission("s1")
        await until(lambda: (hub.services.notifier.decider.next_due() or 0) > hub.services.steady())
        assert service.requests.empty()
        await append(hub.store, "s1", PermissionAnswered("r1", "deny", "Mira"))
        assert hub.services.notifier.decider.next_due() is None
        await page.close()
        await until(lambda: not hub.services.notifier.present.somebody)
        await hub.ask_permission("s1", "r2")
        assert (await pushed(service, keys))["tag"] == "request s1 r2"
        assert service.requests.empty()


async def test_quiet_hours_and_kinds_are_the_owners_and_audited(tmp_path: Path) -> None:
    async with told_hub(tmp_path) as hub:
        async with hub.client(hub.tokens["owner"]) as owner, hub.client(hub.tokens["operator"]) as operator:
            options = {"quietStart": "22:00", "quietEnd": "07:30", "finishedMinutes": 5}
            assert (await operator.post(ROOT, json=options)).status_code == 403
            shown = (await owner.post(ROOT, json=options)).json()
            assert (shown["quietStart"], shown["quietEnd"], shown["finishedMinutes"]) == ("22:00", "07:30", 5)
            assert hub.services.notifier.decider.finished_seconds == 300
            wrong = await owner.post(ROOT, json={**options, "quietEnd": "late"})
            assert wrong.status_code == 400
            records = (await owner.get("/api/audit?limit=1000")).json()["records"]
        details = [one["entry"]["record"].get("detail", "") for one in records]
        assert "notifications: quiet hours 22:00 to 07:30, turns from 5 minutes" in details


@pytest.mark.row("X2")
async def test_no_token_of_another_server_or_channel_denies_anything(tmp_path: Path) -> None:
    keys = BrowserKeys()
    async with (
        receiver() as service,
        told_hub(tmp_path, service) as hub,
        hub.client(hub.tokens["operator"]) as client,
        hub.client() as anybody,
    ):
        channel = await subscribe(client, service, keys)
        await hub.session()
        await hub.ask_permission("s1")
        deny = (await pushed(service, keys))["data"]["deny"]
        for wrong in ("x", deny[:-3], deny.partition(".")[0] + ".AAAA"):
            refused = await anybody.post(f"{ROOT}/deny", json={"token": wrong})
            assert refused.status_code == 400
        # The browser's subscription is gone: so is every token it was sent
        await client.request("DELETE", f"{ROOT}/channels/{channel}", json={})
        assert (await anybody.post(f"{ROOT}/deny", json={"token": deny})).status_code == 404
        request = await hub.store.request("s1", "r1")
        assert request is not None
        assert request.state == "open"
