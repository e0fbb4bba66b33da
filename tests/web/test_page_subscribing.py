"""This browser's subscription to web push: the button, the keys, and an encrypted push that they open.

A browser without its maker's push service can't subscribe. Here `pushManager.subscribe` makes P-256 keys with
WebCrypto, as a browser does, and names the test's push service; all else is the page, the hub and the worker.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, expect
from tests.hub.running_hub import RunningHub, running_hub, until
from tests.notify.push_service import BrowserKeys, Receiver, receiver
from tests.notify.test_push_oracle import opened_by_the_oracle
from tests.waiting import PATIENCE
from tests.web.axe import serious_on
from tests.web.chrome import PHONE, Tab, needs_chromium, open_tab

from bascule.model.settings import NotifySettings
from bascule.notify.channels import Channel
from bascule.notify.web_push import b64, unb64

pytestmark = [pytest.mark.anyio, needs_chromium]

# `pushed` is what the test looks at: who was asked for what, and the secrets that stay in a browser.
BROWSER = """(endpoint) => {
  if (window !== top) return;
  const url = (bytes) =>
    btoa(String.fromCharCode(...new Uint8Array(bytes)))
      .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  const bytes = (text) =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
  const pushed = (window.pushed = { verdict: 'granted', answers: true, asked: [], ended: 0, current: null });
  const set = window.setTimeout;
  window.setTimeout = (work, ms, ...more) => set(work, pushed.soon && ms === 30_000 ? 0 : ms, ...more);
  Notification.requestPermission = async () => pushed.verdict;
  Object.defineProperty(Notification, 'permission', { get: () => 'default' });
  pushed.make = async (key) => {
    const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
    const auth = crypto.getRandomValues(new Uint8Array(16));
    const p256dh = await crypto.subtle.exportKey('raw', pair.publicKey);
    pushed.secrets = { d: (await crypto.subtle.exportKey('jwk', pair.privateKey)).d, auth: url(auth) };
    pushed.current = {
      options: { applicationServerKey: bytes(key).buffer },
      toJSON: () => ({ endpoint, keys: { p256dh: url(p256dh), auth: url(auth) } }),
      unsubscribe: async () => { pushed.ended += 1; pushed.current = null; return true; },
    };
    return pushed.current;
  };
  PushManager.prototype.getSubscription = async () => pushed.current;
  PushManager.prototype.subscribe = async (options) => {
    pushed.asked.push(options);
    if (!pushed.answers) return new Promise(() => {});
    return pushed.current ?? pushed.make(options.applicationServerKey);
  };
}"""


async def opened(browser: Browser, hub: RunningHub, service: Receiver, **options: Any) -> Tab:
    """The settings in a browser whose subscriptions lead to the test's service."""
    tab = await open_tab(browser, hub.url, None, service_workers="allow", **options)
    await tab.page.context.add_init_script(f"({BROWSER})({json.dumps(service.url + '/browser')})")
    await tab.go(f"/settings/notifications#token={hub.tokens['owner']}")
    return tab


async def keys_in(page: Page) -> BrowserKeys:
    secrets = await page.evaluate("() => window.pushed.secrets")
    return BrowserKeys(int.from_bytes(unb64(secrets["d"]), "big"), unb64(secrets["auth"]))


async def pushed(service: Receiver, keys: BrowserKeys) -> dict[str, Any]:
    """What the next push says, once the tests' own code and others' have opened it to the same bytes."""
    body = (await asyncio.wait_for(service.requests.get(), PATIENCE)).body
    plain = keys.decrypt(body)
    assert opened_by_the_oracle(body, keys) == plain
    return json.loads(plain)["notification"]


def hub_for(folder: Path, service: Receiver) -> Any:
    return running_hub(folder, notify=NotifySettings(push_hosts=(f"127.0.0.1:{service.port}",)))


def subscriptions(hub: RunningHub) -> list[Channel]:
    return [one for one in hub.services.notifier.book.now.channels if one.type == "push"]


def this_browser(page: Page) -> Locator:
    return page.get_by_role("region", name="This browser")


@pytest.mark.row("X2")
@pytest.mark.parametrize("size", [None, PHONE], ids=["desktop", "phone"])
async def test_the_button_subscribes_and_a_push_opens_with_the_keys_that_stayed_in_the_browser(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with receiver() as service, hub_for(tmp_path, service) as hub:
        hub.services.notifier.decider.grace = 0.0
        tab = await opened(browser, hub, service, **({"size": size} if size else {}))
        page, card = tab.page, this_browser(tab.page)
        await card.get_by_role("button", name="Turn on").click()
        await expect(card.locator(".channel")).to_have_count(1)
        [asked] = await page.evaluate("() => window.pushed.asked")
        async with hub.client(hub.tokens["owner"]) as client:
            key = (await client.get("/api/notifications")).json()["pushKey"]
        assert asked == {"userVisibleOnly": True, "applicationServerKey": key}
        assert [one.url for one in subscriptions(hub)] == [f"{service.url}/browser"]
        assert await serious_on(page) == []
        # By the button first, then by a request: each opens with this browser's keys, by others' code too.
        await card.get_by_role("button", name="Send a test").click()
        await expect(card.get_by_role("status")).to_contain_text("answered 201")
        keys = await keys_in(page)
        message = await pushed(service, keys)
        assert message["title"] == "A test from Bascule"
        await hub.session()
        await page.goto("about:blank")  # nothing is sent while somebody is at the page
        await until(lambda: not hub.services.notifier.present.somebody)
        await hub.ask_permission("s1")
        assert (await pushed(service, keys))["tag"] == "request s1 r1"
        assert tab.errors == []


@pytest.mark.row("X2")
async def test_turned_off_it_ends_on_both_sides_and_one_of_another_server_is_replaced(
    tmp_path: Path, browser: Browser
) -> None:
    async with receiver() as service, hub_for(tmp_path, service) as hub:
        tab = await opened(browser, hub, service)
        page, card = tab.page, this_browser(tab.page)
        await card.get_by_role("button", name="Turn on").click()
        await card.get_by_role("button", name="Turn off").click()
        await expect(card.get_by_role("button", name="Turn on")).to_be_enabled()
        assert await page.evaluate("() => window.pushed.ended") == 1
        assert subscriptions(hub) == []
        # The browser still has one that was made for another key: it would open nothing that comes from here.
        other = b64(BrowserKeys().public)
        await page.evaluate("key => window.pushed.make(key).then(() => {})", other)
        await card.get_by_role("button", name="Turn on").click()
        await expect(card.locator(".channel")).to_have_count(1)
        assert await page.evaluate("() => window.pushed.ended") == 2
        await card.get_by_role("button", name="Send a test").click()
        assert (await pushed(service, await keys_in(page)))["title"] == "A test from Bascule"
        assert tab.errors == []


async def test_a_browser_that_refuses_and_a_push_service_that_is_silent_are_said_in_words(
    tmp_path: Path, browser: Browser
) -> None:
    async with receiver() as service, hub_for(tmp_path, service) as hub:
        tab = await opened(browser, hub, service)
        page, card = tab.page, this_browser(tab.page)
        turn_on = card.get_by_role("button", name="Turn on")
        await page.evaluate("() => { window.pushed.verdict = 'default'; }")
        await turn_on.click()
        await tab.told("The browser did not allow notifications")
        silent = "{ verdict: 'granted', answers: false, soon: true }"  # and half a minute is over at once
        await page.evaluate(f"() => {{ Object.assign(window.pushed, {silent}); }}")
        await turn_on.click()
        await tab.told("push service does not answer")
        assert subscriptions(hub) == []
        assert tab.errors == []
