"""Links that no longer open: the page says what happened to this key, and gives no guest a command to run."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub
from tests.hub.scripted_device import append
from tests.parts import Part
from tests.web.axe import serious
from tests.web.chrome import LAPTOP, PHONE, SIZES, Tab, needs_chromium, open_tab
from tests.web.spills import spills

from bascule.model.events import SessionReady

pytestmark = [pytest.mark.anyio, needs_chromium]

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
    hub: RunningHub, browser: Browser, sizes: Any, part: Part
) -> None:
    secret, grant = await shared(hub)
    tab = await open_tab(browser, hub.url, secret, path="/s", size=sizes[0])
    await expect(tab.page.locator("#guest")).to_contain_text("Mira shared this session with you.")
    await hub.grants.revoke(grant)
    for size in sizes:
        with part(f"the page that was open, {size['width']} wide"):
            await tab.page.set_viewport_size(size)
            await expect(tab.page.locator("h1:visible")).to_have_text("Mira stopped sharing this session")
            await expect(tab.page.locator(".locked")).not_to_contain_text("bascule")
            assert await serious(tab) == []
    again = await open_tab(browser, hub.url, secret, path="/s", size=sizes[0])
    for size in sizes:
        with part(f"the link opened again, {size['width']} wide"):
            await again.page.set_viewport_size(size)
            await expect(again.page.locator("h1:visible")).to_have_text("Mira stopped sharing this session")
            await expect(again.page.locator(".locked")).not_to_contain_text("terminal")
    assert again.errors == []


@SIZES
async def test_an_ended_link_says_when_it_ended(
    hub: RunningHub, browser: Browser, sizes: Any, part: Part
) -> None:
    advice = "Ask Mira for a new one if you still need it."
    secret, _ = await shared(hub, expires_in=0.001)
    tab = await open_tab(browser, hub.url, secret, path="/s", size=sizes[0])
    for size in sizes:
        with part(f"{size['width']} wide"):
            await tab.page.set_viewport_size(size)
            await expect(tab.page.locator("h1:visible")).to_contain_text("This link ended today at ")
            await expect(tab.page.locator(".lead")).to_have_text(advice)
            await expect(tab.page.locator(".locked")).not_to_contain_text("bascule")
            assert await spills(tab.page) == []
            assert await serious(tab) == []


@SIZES
async def test_a_key_that_never_was_one_says_so_and_the_owner_gets_the_whole_command(
    hub: RunningHub, browser: Browser, sizes: Any, part: Part
) -> None:
    object.__setattr__(hub.services, "link_command", COMMAND)
    tab = await open_tab(browser, hub.url, "a-key-that-was-cut-o", size=sizes[0])
    copied = "words => navigator.clipboard.readText().then((text) => text === words)"
    await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for size in sizes:
        with part(f"the owner, {size['width']} wide"):
            await tab.page.set_viewport_size(size)
            await expect(tab.page.locator("h1:visible")).to_have_text("This link’s key is not right")
            await expect(tab.page.locator(".locked .copy-line")).to_contain_text(COMMAND)
            await tab.page.evaluate("navigator.clipboard.writeText('')")
            await tab.page.get_by_role("button", name="Copy the command").click()
            await tab.page.wait_for_function(copied, arg=COMMAND)
            assert await spills(tab.page) == []
    guest = await open_tab(browser, hub.url, "a-key-that-was-cut-o", path="/s", size=sizes[0])
    nothing = await open_tab(browser, hub.url, None, path="/s", size=sizes[0])
    for one, words in ((guest, "This link’s key is not right"), (nothing, "This link has no key")):
        for size in sizes:
            with part(f"{words}, {size['width']} wide"):
                await one.page.set_viewport_size(size)
                await expect(one.page.locator("h1:visible")).to_have_text(words)
                await expect(one.page.locator(".locked")).not_to_contain_text("bascule")
                assert await spills(one.page) == []
                assert await serious(one) == []


@SIZES
async def test_a_browser_without_a_key_and_one_that_was_revoked_are_shown_the_way_in(
    hub: RunningHub, browser: Browser, sizes: Any, part: Part
) -> None:
    tab = await open_tab(browser, hub.url, None, size=sizes[0])
    for size in sizes:
        with part(f"without a key, {size['width']} wide"):
            await tab.page.set_viewport_size(size)
            await expect(tab.page.locator("h1:visible")).to_have_text("This browser is not trusted here")
            await expect(tab.page.locator(".locked .copy-line")).to_contain_text("bascule trust generate")
            assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert await serious(tab) == []
    mine = await open_tab(browser, hub.url, hub.tokens["operator"], size=sizes[0])
    await expect(mine.page.locator("#task")).to_be_visible()
    await hub.grants.revoke(hub.grant["operator"].id)
    for size in sizes:
        with part(f"revoked, {size['width']} wide"):
            await mine.page.set_viewport_size(size)
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
