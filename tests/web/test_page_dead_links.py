"""Links that no longer open: the page says what happened to this key, and gives no guest a command to run."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub
from tests.hub.scripted_device import append
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, Tab, needs_chromium, open_tab
from tests.web.spills import spills

from bascule.model.events import SessionReady

pytestmark = [pytest.mark.anyio, needs_chromium]

SIZES = pytest.mark.parametrize("size", [DESKTOP, LAPTOP, PHONE], ids=["1440x900", "1280x720", "390x844"])
COMMAND = "/opt/bascule/.venv/bin/bascule trust generate --role owner browser"


async def title(tab: Tab) -> str:
    await expect(tab.page.locator(".locked .copy-line, .locked form").first).to_be_visible()
    return await tab.page.locator("h1:visible").inner_text()


async def shared(hub: RunningHub, **more: Any) -> tuple[str, str]:
    """A link to a session, made by Mira; and its id."""
    await hub.session("s1")
    grant, secret = await hub.grants.create("guest", "viewer", session_id="s1", by="Mira", **more)
    return secret, grant.id


@SIZES
async def test_a_guest_is_told_who_stopped_sharing_and_never_a_command(
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    secret, grant = await shared(hub)
    tab = await open_tab(browser, hub.url, secret, path="/s", size=size)
    await expect(tab.page.locator("#guest")).to_contain_text("Mira shared this session with you.")
    await hub.grants.revoke(grant)
    await expect(tab.page.locator("h1:visible")).to_have_text("Mira stopped sharing this session")
    await expect(tab.page.locator(".locked")).not_to_contain_text("bascule")
    assert await serious(tab) == []
    again = await open_tab(browser, hub.url, secret, path="/s", size=size)
    await expect(again.page.locator("h1:visible")).to_have_text("Mira stopped sharing this session")
    await expect(again.page.locator(".locked")).not_to_contain_text("terminal")
    assert again.errors == []


@SIZES
async def test_an_ended_link_says_when_it_ended(hub: RunningHub, browser: Browser, size: Any) -> None:
    secret, _ = await shared(hub, expires_in=0.001)
    tab = await open_tab(browser, hub.url, secret, path="/s", size=size)
    await expect(tab.page.locator("h1:visible")).to_contain_text("This link ended today at ")
    await expect(tab.page.locator(".lead")).to_have_text("Ask Mira for a new one if you still need it.")
    await expect(tab.page.locator(".locked")).not_to_contain_text("bascule")
    assert await spills(tab.page) == []
    assert await serious(tab) == []


@SIZES
async def test_a_key_that_never_was_one_says_so_and_the_owner_gets_the_whole_command(
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    object.__setattr__(hub.services, "link_command", COMMAND)
    tab = await open_tab(browser, hub.url, "a-key-that-was-cut-o", size=size)
    await expect(tab.page.locator("h1:visible")).to_have_text("This link’s key is not right")
    await expect(tab.page.locator(".locked .copy-line")).to_contain_text(COMMAND)
    await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await tab.page.get_by_role("button", name="Copy the command").click()
    assert await tab.page.evaluate("navigator.clipboard.readText()") == COMMAND
    assert await spills(tab.page) == []
    guest = await open_tab(browser, hub.url, "a-key-that-was-cut-o", path="/s", size=size)
    await expect(guest.page.locator("h1:visible")).to_have_text("This link’s key is not right")
    await expect(guest.page.locator(".locked")).not_to_contain_text("bascule")
    nothing = await open_tab(browser, hub.url, None, path="/s", size=size)
    await expect(nothing.page.locator("h1:visible")).to_have_text("This link has no key")
    await expect(nothing.page.locator(".locked")).not_to_contain_text("bascule")
    for one in (guest, nothing):
        assert await spills(one.page) == []
        assert await serious(one) == []


@SIZES
async def test_a_browser_without_a_key_and_one_that_was_revoked_are_shown_the_way_in(
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    tab = await open_tab(browser, hub.url, None, size=size)
    await expect(tab.page.locator("h1:visible")).to_have_text("This browser is not trusted here")
    await expect(tab.page.locator(".locked .copy-line")).to_contain_text("bascule trust generate")
    assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await serious(tab) == []
    mine = await open_tab(browser, hub.url, hub.tokens["operator"], size=size)
    await expect(mine.page.locator("#task")).to_be_visible()
    await hub.grants.revoke(hub.grant["operator"].id)
    await expect(mine.page.locator("h1:visible")).to_have_text("This browser’s access was revoked")
    await expect(mine.page.locator(".locked .copy-line")).to_contain_text("bascule trust generate")


@pytest.mark.row("S01")
async def test_what_became_of_a_key_is_told_to_its_holder_alone(hub: RunningHub) -> None:
    secret, grant = await shared(hub)
    await hub.grants.revoke(grant)
    body = {"purpose": "socket"}
    async with hub.client(secret) as client:
        told = (await client.post("/api/tickets", json=body)).json()["error"]
    assert (told["code"], told["ended"]["reason"], told["ended"]["by"]) == (
        "UNAUTHENTICATED",
        "revoked",
        "Mira",
    )
    near = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    for guess in (near, secret[:-1], secret + "x", grant, "x" * 43, ""):
        async with hub.client(guess) as client:
            answer = await client.post("/api/tickets", json=body)
            assert answer.status_code == 401
            assert "ended" not in answer.json()["error"]
    # From elsewhere, or by another name, nobody learns where the program is.
    async with hub.client() as client:
        assert "command" in (await client.post("/api/tickets", json=body)).json()["error"]
        assert "command" not in (await client.get("/api/sessions")).json()["error"]


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["1280x720", "390x844"])
async def test_two_links_tell_apart_and_say_that_only_this_machine_opens_them(
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    await hub.session("s1")
    await append(hub.store, "s1", SessionReady())
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=size)
    if size is PHONE:
        await tab.page.get_by_role("button", name="More", exact=True).click()
        await tab.page.get_by_role("menuitem", name="Share").click()
    else:
        await tab.page.get_by_role("button", name="Share", exact=True).click()
    share = tab.page.locator(".share")
    await share.get_by_label("Who is it for?").fill("Jonas")
    await share.get_by_label("Your name, as they see it").fill("Mira")
    await share.get_by_role("button", name="Create a link").click()
    await expect(share).to_contain_text("Only this machine can open it.")
    await expect(share.locator(".qr-frame")).to_have_count(0)
    await expect(share).to_contain_text("bascule up --host")
    link = await share.locator(".copy-line span").first.inner_text()
    await expect(share.locator(".shares li")).to_contain_text("Jonas")
    await expect(share.locator(".shares li")).to_contain_text("never opened")
    guest = await open_tab(browser, hub.url, link.split("#token=")[1], path="/s")
    await expect(guest.page.locator("#guest")).to_contain_text("Mira shared this session with you.")
    grant, _ = await hub.grants.create("the review", "viewer", session_id="s1")
    await tab.page.keyboard.press("Escape")
    if size is PHONE:
        await tab.page.get_by_role("button", name="More", exact=True).click()
        await tab.page.get_by_role("menuitem", name="Share").click()
    else:
        await tab.page.get_by_role("button", name="Share", exact=True).click()
    rows = tab.page.locator(".shares li")
    await expect(rows).to_have_count(2)
    await expect(rows.nth(0)).to_contain_text("reading now")
    await expect(rows.nth(0)).to_contain_text("made ")
    await expect(rows.nth(1)).to_contain_text("the review")
    assert grant.name == "the review"
    assert await serious(tab) == []
