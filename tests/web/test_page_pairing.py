"""A one-time link in the browser: it opens the page once; afterwards it says in words why it does not."""

import asyncio

import pytest
from playwright.async_api import Browser, Route, expect
from tests.hub.running_hub import RunningHub, until
from tests.waiting import PATIENCE
from tests.web.axe import serious
from tests.web.chrome import PHONE, Tab, needs_chromium, open_tab

from bascule.hub.door.links import LIFETIME

pytestmark = [pytest.mark.anyio, needs_chromium]


def secret_of(hub: RunningHub, name: str = "", role: str = "operator") -> str:
    return hub.services.links.make(name, role, "owner")


async def open_link(browser: Browser, hub: RunningHub, secret: str) -> Tab:
    return await open_tab(browser, hub.url, None, path=f"/#pair={secret}", size=PHONE)


def names(hub: RunningHub) -> list[str]:
    return [grant.name for grant in hub.grants.list() if grant.name not in ("owner", "operator", "viewer")]


async def test_a_phone_enters_by_the_link_and_stays_in_without_it(hub: RunningHub, browser: Browser) -> None:
    secret = secret_of(hub)
    tab = await open_link(browser, hub, secret)
    await expect(tab.page.locator("#task")).to_be_visible()
    assert tab.page.url == f"{hub.url}/"
    await until(lambda: names(hub))  # one may type before the link is redeemed
    assert [name.startswith("Chrome on ") for name in names(hub)] == [True]
    kept = await tab.page.evaluate(
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.length])"
    )
    assert secret not in kept
    # Its own key has come, and is kept: the page is connected by it.
    await expect(tab.page.locator(".device-row")).to_be_attached()
    await tab.go("/")
    await expect(tab.page.locator("#task")).to_be_visible()
    assert tab.errors == []


async def test_a_used_link_says_so_and_names_the_command_for_a_new_one(
    hub: RunningHub, browser: Browser
) -> None:
    secret = secret_of(hub, "Ana's phone")
    await expect((await open_link(browser, hub, secret)).page.locator("#task")).to_be_visible()
    await until(lambda: names(hub))  # the page is drawn before the link is redeemed
    object.__setattr__(hub.services, "link_command", "/opt/bascule trust generate")
    late = await open_link(browser, hub, secret)
    await expect(late.page.locator("h1:visible")).to_have_text("This link has already been used")
    await expect(late.page.locator(".locked .copy-line")).to_contain_text("/opt/bascule trust generate")
    assert late.page.url == f"{hub.url}/"
    assert await serious(late) == []
    # To another machine the server names no path: the page has the command itself.
    object.__setattr__(hub.services, "link_command", "")
    elsewhere = await open_link(browser, hub, secret)
    await elsewhere.page.get_by_text("It is my machine").click()
    await expect(elsewhere.page.locator(".locked .copy-line")).to_have_text("bascule pair")
    assert names(hub) == ["Ana's phone"]


async def test_a_link_that_was_never_one_and_one_that_is_over_are_told_apart(
    hub: RunningHub, browser: Browser
) -> None:
    steady, over = hub.services.links._steady, secret_of(hub)
    hub.services.links._steady = lambda: steady() + LIFETIME
    for secret, words in (
        ("a-secret-that-nobody-made", "This link does not work"),
        (over, "This link has expired"),
    ):
        tab = await open_link(browser, hub, secret)
        await expect(tab.page.locator("h1:visible")).to_have_text(words)


async def test_a_dead_link_does_not_lock_out_a_browser_that_was_in(hub: RunningHub, browser: Browser) -> None:
    tab = await open_tab(browser, hub.url, hub.tokens["owner"])
    await expect(tab.page.locator("#task")).to_be_visible()
    await tab.go("/?x#pair=a-secret-that-nobody-made")
    await tab.told("You are still signed in as before")
    await expect(tab.page.locator("#task")).to_be_visible()


async def test_a_link_can_be_pasted_where_the_page_is_locked(hub: RunningHub, browser: Browser) -> None:
    tab = await open_tab(browser, hub.url, None)
    await tab.page.get_by_label("Link or key").fill(f"{hub.url}/#pair={secret_of(hub)}")
    await tab.page.get_by_role("button", name="Open").click()
    await expect(tab.page.locator("#task")).to_be_visible()


async def test_a_pasted_link_stays_in_its_field_while_the_page_learns_why_it_is_locked(
    hub: RunningHub, browser: Browser
) -> None:
    tab = await open_tab(browser, hub.url, hub.tokens["owner"])
    await expect(tab.page.locator("#task")).to_be_visible()
    held: asyncio.Queue[Route] = asyncio.Queue()
    await tab.page.route("**/api/tickets", held.put)
    await tab.page.evaluate("localStorage.clear()")
    await tab.page.reload()
    asked = await asyncio.wait_for(held.get(), PATIENCE)
    field = tab.page.get_by_label("Link or key")
    link = f"{hub.url}/#pair={secret_of(hub)}"
    await field.fill(link)
    button = tab.page.get_by_role("button", name="Open")
    await button.focus()
    await asked.continue_()
    await expect(tab.page.get_by_role("button", name="Copy the command")).to_be_visible()
    await expect(field).to_have_value(link)
    await expect(button).to_be_focused()  # what is typed next goes where one was
