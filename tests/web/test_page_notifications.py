"""Notifications in a browser: their settings, and what the worker shows, denies and closes."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, CDPSession, Page, Worker, expect
from tests.hub.running_hub import RunningHub, running_hub, until
from tests.hub.scripted_device import append
from tests.notify.push_service import BrowserKeys, Receiver, receiver
from tests.waiting import PATIENCE
from tests.web.axe import serious_on
from tests.web.chrome import DESKTOP, PHONE, needs_chromium, needs_whole_chromium, open_tab, whole_chromium

from bascule.model.events import PermissionAnswered
from bascule.model.settings import NotifySettings

pytestmark = [pytest.mark.anyio, needs_chromium]

SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
# The headless shell has no desktop to show notifications on and refuses the permission: the worker gets a
# desktop that holds them by their tags, as browsers do.
HELD = """() => {
  const desktop = (self.desktop = new Map());
  ServiceWorkerRegistration.prototype.showNotification = async (title, options) => {
    desktop.set(options.tag, { title, ...options, close: () => desktop.delete(options.tag) });
  };
  ServiceWorkerRegistration.prototype.getNotifications = async ({ tag } = {}) =>
    [...desktop.values()].filter((one) => !tag || one.tag === tag);
}"""
SHOWN = """() => [...self.desktop.values()].map(
  ({ title, tag, silent, actions }) =>
    ({ title, tag, silent, actions: (actions ?? []).map((one) => one.action) }))"""
PRESS = """async (action) => {
  const [notification] = self.desktop.values();
  const done = [];
  const event = Object.assign(new Event('notificationclick'), { action, notification });
  event.waitUntil = (work) => done.push(work);
  self.dispatchEvent(event);
  await Promise.all(done);
}"""
# What the browser itself shows.
REALLY_SHOWN = """async () => {
  const { registration = await navigator.serviceWorker.ready } = self;
  return (await registration.getNotifications()).map(({ title, body, tag, silent, actions, data }) =>
    ({ title, body, tag, silent, actions: actions.map((one) => one.action), data }));
}"""


async def deliver(cdp: CDPSession, registration: str, hub: RunningHub, message: bytes) -> None:
    """What the browser does with a message of the push service, once it has decrypted it."""
    await cdp.send(
        "ServiceWorker.deliverPushMessage",
        {"origin": hub.url, "registrationId": registration, "data": message.decode()},
    )


async def shown(worker: Worker | Page, wanted: Any, script: str = SHOWN) -> list[dict[str, Any]]:
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await worker.evaluate(script)
            if wanted(found):
                return found
            await asyncio.sleep(0.05)


async def pushed(service: Receiver, keys: BrowserKeys) -> bytes:
    return keys.decrypt((await asyncio.wait_for(service.requests.get(), PATIENCE)).body)


@contextlib.contextmanager
def delivered(
    cdp: CDPSession, registration: str, hub: RunningHub, service: Receiver, keys: BrowserKeys
) -> Iterator[None]:
    """Every message as it comes: one whose answer was late is sent again."""

    async def deliver_all() -> None:
        while True:
            await deliver(cdp, registration, hub, keys.decrypt((await service.requests.get()).body))

    task = asyncio.create_task(deliver_all(), name="push service")
    yield
    assert not task.done(), "the push service has stopped"
    task.cancel()


@contextlib.asynccontextmanager
async def pushing_hub(folder: Path, service: Receiver, keys: BrowserKeys) -> AsyncIterator[RunningHub]:
    """A hub with a session, that tells at once; the owner's browser is subscribed."""
    notify = NotifySettings(push_hosts=(f"127.0.0.1:{service.port}",))
    async with running_hub(folder, notify=notify) as hub, hub.client(hub.tokens["owner"]) as client:
        hub.services.notifier.decider.grace = 0.0
        body = {"endpoint": f"{service.url}/1", **keys.subscription}
        assert (await client.post("/api/notifications/push", json=body)).status_code == 200
        await hub.session()
        yield hub


async def registered(page: Page, hub: RunningHub) -> tuple[CDPSession, str]:
    """Wait for the page's worker; gives by what a message is delivered to it."""
    cdp = await page.context.new_cdp_session(page)
    found: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def note(event: dict[str, Any]) -> None:
        for one in event["registrations"]:
            if not found.done() and one["scopeURL"].startswith(hub.url):
                found.set_result(one["registrationId"])

    cdp.on("ServiceWorker.workerRegistrationUpdated", note)
    await cdp.send("ServiceWorker.enable")
    await page.wait_for_function("() => navigator.serviceWorker.controller !== null")
    return cdp, await asyncio.wait_for(found, PATIENCE)


@pytest.mark.row("X2")
@SIZES
async def test_the_worker_shows_a_request_denies_it_and_replaces_one_answered_elsewhere(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    keys = BrowserKeys()
    async with receiver() as service, pushing_hub(tmp_path, service, keys) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], size=size, service_workers="allow")
        page = tab.page
        cdp, registration = await registered(page, hub)
        worker = page.context.service_workers[0]
        await worker.evaluate(HELD)
        # Shown with Deny, and denied by it
        await hub.ask_permission("s1")
        await deliver(cdp, registration, hub, await pushed(service, keys))
        (first,) = await shown(worker, lambda all: len(all) == 1)
        assert first["title"] == "s1: needs approval"
        assert first["actions"] == ["open", "deny"]
        await worker.evaluate(PRESS, "deny")
        message = await pushed(service, keys)
        assert json.loads(message)["notification"]["title"].startswith("Denied by owner")
        (said,) = await shown(worker, lambda all: len(all) == 1)
        assert (said["title"], said["tag"], said["silent"]) == ("Denied", first["tag"], True)
        # The page is in view: what was answered closes
        await deliver(cdp, registration, hub, message)
        await shown(worker, lambda all: all == [])
        # Answered elsewhere while no page is in view: what was said takes its place
        await hub.ask_permission("s1", "r2")
        message = await pushed(service, keys)
        await deliver(cdp, registration, hub, message)
        await shown(worker, lambda all: [one["tag"] for one in all] == ["request s1 r2"])
        # A click opens the session in the page that is there, and takes the notification away
        await worker.evaluate(PRESS, "")
        await page.wait_for_url("**/sessions/s1")
        await shown(worker, lambda all: all == [])
        await append(hub.store, "s1", PermissionAnswered("r2", "allow", "Mira"))
        await worker.evaluate("() => { self.clients.matchAll = async () => []; }")
        await deliver(cdp, registration, hub, await pushed(service, keys))
        (replaced,) = await shown(worker, lambda all: all and all[0]["silent"])
        assert (replaced["title"], replaced["tag"]) == ("Allowed by Mira", "request s1 r2")
        assert tab.errors == []


@pytest.mark.row("X2")
@needs_whole_chromium
@SIZES
async def test_a_real_notification_is_shown_closed_once_answered_and_replaced_where_no_page_is_in_view(
    tmp_path: Path, size: Any
) -> None:
    keys = BrowserKeys()
    async with (
        receiver() as service,
        pushing_hub(tmp_path, service, keys) as hub,
        whole_chromium() as browser,
        contextlib.AsyncExitStack() as closing,
    ):
        options: dict[str, Any] = {"service_workers": "allow", "permissions": ["notifications"]}
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], size=size, **options)
        page = tab.page
        cdp, registration = await registered(page, hub)
        assert await page.evaluate("Notification.permission") == "granted"
        closing.enter_context(delivered(cdp, registration, hub, service, keys))
        await hub.ask_permission("s1")
        (first,) = await shown(page, lambda all: len(all) == 1, REALLY_SHOWN)
        assert (first["title"], first["tag"]) == ("s1: needs approval", "request s1 r1")
        assert (first["silent"], first["actions"]) == (False, ["open", "deny"])
        await append(hub.store, "s1", PermissionAnswered("r1", "deny", "Mira"))
        await shown(page, lambda all: all == [], REALLY_SHOWN)
        # Where no page is in view, what was answered takes its place
        await hub.ask_permission("s1", "r2")
        await shown(page, lambda all: [one["tag"] for one in all] == ["request s1 r2"], REALLY_SHOWN)
        worker = page.context.service_workers[0]
        await worker.evaluate("() => { self.clients.matchAll = async () => []; }")
        await append(hub.store, "s1", PermissionAnswered("r2", "allow", "Mira"))
        (replaced,) = await shown(page, lambda all: all and all[0]["silent"], REALLY_SHOWN)
        assert (replaced["title"], replaced["tag"]) == ("Allowed by Mira", "request s1 r2")
        assert tab.errors == []


@pytest.mark.parametrize("size", [None, PHONE], ids=["desktop", "phone"])
async def test_channels_are_added_tested_and_removed_in_the_settings(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with receiver() as far, running_hub(tmp_path) as hub:
        options = {"size": size} if size else {}
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/settings/notifications", **options)
        page = tab.page
        await page.get_by_role("button", name="Add a channel").click()
        form = page.get_by_role("form", name="Add a channel")
        await form.get_by_label("Name").fill("My phone")
        await form.get_by_label("Address").fill(far.url)
        await form.get_by_role("button", name="Add", exact=True).click()
        # Refused in words, and nothing that was typed is lost
        await expect(form.get_by_role("alert")).to_contain_text("ends with a topic")
        await expect(form.get_by_label("Name")).to_have_value("My phone")
        await form.get_by_label("Address").fill(f"{far.url}/topic")
        # Which kinds, and in which folders
        await form.get_by_label("Only in these folders").fill("/srv/shop, device-1:/srv/ana")
        for kind in ("Question", "Machine away"):
            await form.get_by_label(kind).uncheck()
        await form.get_by_label("Long turn finished").check()
        await form.get_by_label("Show commands").check()
        await form.get_by_role("button", name="Add", exact=True).click()
        row = page.locator(".channel", has_text="My phone")
        await expect(row).to_contain_text("Only in /srv/shop, /srv/ana")
        kept = next(one for one in hub.services.notifier.book.channels() if one.name == "My phone")
        assert set(kept.kinds) == {"approval", "ended", "limit", "finished"}
        assert kept.projects == ("device-1:/srv/shop", "device-1:/srv/ana")
        assert kept.show_commands
        await row.get_by_label("Limit near or reached").uncheck()
        await until(lambda: "limit" not in hub.services.notifier.book.find(kept.id).kinds)
        await expect(row.get_by_label("Limit near or reached")).not_to_be_checked()
        await row.get_by_role("button", name="Send a test").click()
        await expect(row.get_by_role("status")).to_contain_text("answered 201")
        await expect(row).to_contain_text("last delivered")
        assert (await far.requests.get()).json["title"] == "A test from Bascule"
        far.answers(403, "no such topic")
        await row.get_by_role("button", name="Send a test").click()
        await expect(row.get_by_role("status")).to_contain_text("answered 403: no such topic")
        await page.get_by_label("From").fill("22:00")
        await page.get_by_label("To", exact=True).fill("07:00")
        await page.get_by_role("button", name="Save").click()
        await until(lambda: hub.services.notifier.book.now.quiet.start == "22:00")
        assert await serious_on(page) == []
        await row.get_by_role("button", name="Remove").click()
        await expect(row).to_have_count(0)
        assert tab.errors == []
