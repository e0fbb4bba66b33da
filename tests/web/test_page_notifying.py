"""Desktop notifications of the page: for requests that open while nobody looks, and for nothing else."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub
from tests.hub.scripted_device import append
from tests.web.axe import serious
from tests.web.chrome import PHONE, needs_chromium, open_tab
from tests.web.test_page_requests import begun, wants

from bascule.model.events import GuardAnswered, GuardAsked, PermissionAnswered, TitleChanged

pytestmark = [pytest.mark.anyio, needs_chromium]

# A stand-in for the browser's own, which headless browsers do not show; and a page that can be put aside.
STAND_IN = """() => {
  window.shown = [];
  window.Notification = class {
    static permission = 'default';
    static requestPermission = async () => (this.permission = window.verdict);
    constructor(title, options) {
      Object.assign(this, { title, ...options, closed: false });
      window.shown.push(this);
    }
    close() { this.closed = true; }
  };
  window.verdict = 'granted';
  window.aside = false;
  Object.defineProperty(document, 'hidden', { get: () => window.aside });
}"""
SHOWN = "() => window.shown.map(({ title, body, tag, closed }) => ({ title, body, tag, closed }))"


async def test_a_request_that_opens_behind_ones_back_is_announced_once_and_taken_back(
    hub: RunningHub, browser: Browser
) -> None:
    await begun(hub, TitleChanged("Trim the wick", "ana"), wants("r0", "Bash", "execute", command="early"))
    await begun(hub, TitleChanged("Noisy", "ana"), session="s2")
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/settings/general")
    page = tab.page
    await page.context.add_init_script(f"({STAND_IN})()")
    await page.reload()
    choice = page.get_by_role("radiogroup", name="Notifications")
    await choice.get_by_role("radio", name="On").click()
    await expect(choice.get_by_role("radio", name="On")).to_be_checked()
    assert await serious(tab) == []
    # One session is muted by its menu.
    await page.locator(".session-row[data-key=s2]").click(button="right")
    await page.get_by_role("menuitem", name="Mute notifications").click()

    async def shown(count: int) -> list[dict[str, Any]]:
        await page.wait_for_function("n => window.shown.length >= n", arg=count)
        return await page.evaluate(SHOWN)

    # While somebody looks there is none; nor for the muted one.
    await append(hub.store, "s1", wants("r1", "Bash", "execute", command="make test"))
    await expect(page).to_have_title("(2) Bascule")
    await page.evaluate("window.aside = true")
    await append(hub.store, "s2", wants("r2", "Bash", "execute", command="noise"))
    await append(hub.store, "s1", wants("r3", "Bash", "execute", command="secret --token abc"))
    [one] = await shown(1)
    assert one == {
        "title": "Scripted asks for permission",
        "body": "Trim the wick · lantern",
        "tag": "request s1/r3",
        "closed": False,
    }
    # Answered elsewhere, it goes.
    await append(hub.store, "s1", PermissionAnswered("r3", "deny", "ana"))
    await page.wait_for_function("() => window.shown[0].closed")
    # A press leads to the session.
    await append(hub.store, "s1", wants("r4", "Bash", "execute", command="ls"))
    await shown(2)
    await page.evaluate("window.shown[1].onclick()")
    await expect(page).to_have_url(f"{hub.url}/sessions/s1")
    # Kept by this browser; switched off, it is silent.
    await page.reload()
    await tab.turn_to("/settings/general")
    await expect(choice.get_by_role("radio", name="On")).to_be_checked()
    await choice.get_by_role("radio", name="Off").click()
    await page.evaluate("window.aside = true")
    await append(hub.store, "s1", wants("r5", "Bash", "execute", command="ls"))
    await expect(page).to_have_title("(5) Bascule")
    assert await page.evaluate("window.shown.length") == 0
    # A browser that refuses, and one that has none, say so.
    await page.evaluate("window.verdict = 'denied'")
    await choice.get_by_role("radio", name="On").click()
    await expect(page.locator(".settings-body")).to_contain_text("This browser blocks them for this address.")
    await expect(choice.get_by_role("radio", name="Off")).to_be_checked()
    await page.set_viewport_size(PHONE)
    assert await serious(tab) == []
    assert tab.errors == []


async def test_what_a_guard_rail_asks_is_announced_too(hub: RunningHub, browser: Browser) -> None:
    await begun(hub, TitleChanged("Trim the wick", "ana"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/settings/general")
    page = tab.page
    await page.context.add_init_script(f"({STAND_IN})()")
    await page.reload()
    await expect(page.locator(".session-row[data-key=s1]")).to_be_visible()  # what comes from here on is news
    await page.get_by_role("radiogroup", name="Notifications").get_by_role("radio", name="On").click()
    await expect(page.get_by_role("radio", name="On")).to_be_checked()
    await page.evaluate("window.aside = true")
    await append(hub.store, "s1", GuardAsked("g1", "session_cents", "It has spent $2.05 of $2.00.", 205, 200))
    await page.wait_for_function("() => window.shown.length > 0")
    await expect(page).to_have_title("(1) Bascule")
    (one,) = await page.evaluate(SHOWN)
    assert one == {
        "title": "Scripted: Limit reached",
        "body": "Trim the wick · lantern",
        "tag": "request s1/g1",
        "closed": False,
    }
    await append(hub.store, "s1", GuardAnswered("g1", "go_on", "ana", 400))
    await page.wait_for_function("() => window.shown[0].closed")
    await expect(page).to_have_title("Bascule")
    assert tab.errors == []
