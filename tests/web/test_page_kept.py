"""What a browser keeps of the page, where the page connects to, and that logging out leaves nothing."""

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.web.chrome import Tab, needs_chromium, open_tab
from tests.web.lantern import lantern

from bascule.hub.page.web_files import page_files

pytestmark = [pytest.mark.anyio, needs_chromium]

CACHED = """async () => {
  const found = [];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      found.push([new URL(request.url).pathname, await (await cache.match(request)).text()]);
    }
  }
  return found;
}"""
# What the page took is put aside once it is loaded; a cache has no event to wait for.
KEPT = """async () => {
  const cache = await caches.open('bascule-shell');
  while (!(await cache.keys()).some(({ url }) => url.endsWith('.js'))) {
    await new Promise((done) => setTimeout(done, 20));
  }
}"""
STORED = "() => Object.entries({ ...localStorage, ...sessionStorage })"


@pytest.mark.row("S63", "X13")
async def test_only_the_empty_page_is_kept_and_logging_out_leaves_nothing(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        token = hub.tokens["Mira"]
        tab = await open_tab(browser, hub.url, token, path="/sessions/python310", service_workers="allow")
        page = tab.page
        await tab.says("Removed the shims")
        await page.evaluate(KEPT)
        await page.reload()
        await page.wait_for_function("() => navigator.serviceWorker.controller !== null")
        await tab.says("Removed the shims")
        await page.locator("#message").fill("a private draft")
        await page.goto(f"{hub.url}/inbox")
        await expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        # Installable, and kept: the page itself, its files; no word of anybody, no key
        manifest = await page.evaluate("() => fetch('/manifest.webmanifest').then((one) => one.json())")
        assert manifest["start_url"] == "/"
        assert {icon["sizes"] for icon in manifest["icons"]} == {"any", "192x192", "512x512"}
        kept = await page.evaluate(CACHED)
        paths = {path for path, _ in kept}
        assert "/" in paths
        named = page_files().documents["index.html"].body.decode()
        assert set(re.findall(r'"(/assets/[^"]+\.(?:js|css))"', named)) <= paths
        assert {path for path in paths if not path.startswith(f"/assets/{page_files().version}/")} <= {
            "/",
            "/manifest.webmanifest",
        }
        text = json.dumps(kept)
        for secret in (token, "Removed the shims", "Drop Python", "private draft", "lantern/compat"):
            assert secret not in text
        # The server is away: the page opens, says so, and holds its tabs
        await page.context.route("**/api/tickets", lambda route: route.abort())
        await page.context.set_offline(True)
        await page.goto(f"{hub.url}/inbox")
        await expect(page.locator(".banner.warn")).to_contain_text("Lost the server")
        await page.context.set_offline(False)
        await page.context.unroute("**/api/tickets")
        await page.evaluate("dispatchEvent(new Event('online'))")
        await expect(page.locator(".session-row[data-key=python310]")).to_be_visible()
        # Logged out: nothing is stored, cached or in view, also one step back and for the next person
        await page.keyboard.press("Control+k")
        await page.keyboard.type("log out")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="This browser is not trusted here")).to_be_visible()
        await nothing_left(tab)
        await page.go_back()
        await expect(page.get_by_role("heading", name="This browser is not trusted here")).to_be_visible()
        await nothing_left(tab)
        second = await page.context.new_page()
        await second.goto(f"{hub.url}/sessions/python310#token={hub.tokens['viewer']}")
        await expect(second.locator(".banner")).to_contain_text("You’re following live.")
        assert "private draft" not in str(await second.evaluate(STORED))


async def nothing_left(tab: Tab) -> None:
    stored = await tab.page.evaluate(STORED)
    assert "private draft" not in str(stored)
    assert not [name for name, _ in stored if name in ("bascule.key", "bascule.draft.python310")]
    shown = "".join([await frame.content() for frame in tab.page.frames])
    for words in ("Drop Python", "Removed the shims"):
        assert words not in shown


@pytest.mark.row("S16")
async def test_an_address_can_neither_name_another_server_nor_lock_a_browser_out(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        sockets: list[str] = []
        tab = await open_tab(browser, hub.url, None)
        tab.page.on("websocket", lambda socket: sockets.append(socket.url))
        page = tab.page
        await expect(page.get_by_role("heading", name="This browser is not trusted here")).to_be_visible()
        # Words in the address are no key and no server
        mira = hub.tokens["Mira"]
        await page.goto(f"{hub.url}/?hub=wss://evil.example&token={mira}&server=evil.example#hub=evil")
        await expect(page.get_by_role("heading", name="This browser is not trusted here")).to_be_visible()
        assert page.url == f"{hub.url}/"
        # A key is taken from its one place, and leaves the address bar
        await page.goto(f"{hub.url}/inbox?hub=wss://evil.example#token={mira}")
        await expect(page.get_by_role("button", name="lantern 4")).to_be_visible()
        assert page.url == f"{hub.url}/inbox"
        assert mira not in await page.evaluate(
            "JSON.stringify(history.state) + document.referrer + location.href"
        )
        # A link that opens nothing changes nothing for one who is in
        await page.goto(f"{hub.url}/#token=not-a-key-of-ours-at-all")
        await tab.told("That link no longer works. You are still signed in as before.")
        await expect(page.get_by_role("button", name="lantern 4")).to_be_visible()
        assert sockets
        assert all(url.startswith(hub.url.replace("http", "ws", 1) + "/ws?ticket=") for url in sockets)
        assert tab.strangers == []
        # Whoever is sent away while they look keeps nothing of it on the page
        await page.goto(f"{hub.url}/sessions/python310")
        await tab.says("Removed the shims")
        await hub.grants.revoke(hub.grant["Mira"].id, by="owner")
        await expect(page.get_by_role("heading", name="This browser’s access was revoked")).to_be_visible()
        await expect(page.locator(".session-row")).to_have_count(0)
        assert "Removed the shims" not in "".join([await frame.content() for frame in page.frames])
        # And a pasted key that opens nothing is told so
        await page.get_by_label("Link or key").fill("not-a-key-either")
        await page.get_by_role("button", name="Open").click()
        await expect(page.get_by_role("alert")).to_contain_text("That key does not work here.")
