"""Who gets into the page and what it is served with: links, keys, policy and files."""

import pytest
from playwright.async_api import Browser, expect
from tests.hub.page_forms import script_of
from tests.hub.running_hub import RunningHub
from tests.waiting import within
from tests.web.chrome import needs_chromium, open_tab

from bascule.hub.page.web_files import page_files

pytestmark = [pytest.mark.anyio, needs_chromium]


@pytest.mark.row("S16", "C4")
async def test_the_secret_leaves_the_address_bar_and_the_query_is_ignored(
    hub: RunningHub, browser: Browser
) -> None:
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/?hub=wss://evil.example&token=other")
    await expect(tab.page.locator("#task")).to_be_visible()
    assert hub.tokens["owner"] not in tab.page.url
    assert tab.strangers == []
    assert await tab.page.evaluate("localStorage.getItem('bascule.key')") == hub.tokens["owner"]


async def test_a_browser_without_a_key_sees_only_how_to_get_one(hub: RunningHub, browser: Browser) -> None:
    tab = await open_tab(browser, hub.url, "wrong-key-entirely")
    await expect(tab.page.locator("h1:visible")).to_have_text("This link’s key is not right")
    await tab.page.get_by_label("Link or key").fill(f"{hub.url}/#token={hub.tokens['owner']}")
    await tab.page.get_by_role("button", name="Open").click()
    await expect(tab.page.locator("#task")).to_be_visible()


async def test_a_revoked_browser_is_closed_within_two_seconds(hub: RunningHub, browser: Browser) -> None:
    tab = await open_tab(browser, hub.url, hub.tokens["operator"])
    await expect(tab.page.locator("#task")).to_be_visible()
    with within(2):
        await hub.grants.revoke(hub.grant["operator"].id)
        await expect(tab.page.get_by_text("This browser’s access was revoked")).to_be_visible()


@pytest.mark.row("S51", "X6")
@pytest.mark.parametrize(
    "path", ["/", "/portlet", "/terminal", "/editor", "/library", "/sessions/x", "/settings/audit", "/inbox"]
)
async def test_every_page_carries_the_strict_policy(hub: RunningHub, path: str) -> None:
    async with hub.client() as client:
        answer = await client.get(path)
    policy = answer.headers["content-security-policy"]
    is_frame = path in ("/portlet", "/terminal", "/editor")
    framed = "frame-ancestors 'self'" if is_frame else "frame-ancestors 'none'"
    for part in (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        framed,
        "require-trusted-types-for 'script'",
    ):
        assert part in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-frame-options"] == ("SAMEORIGIN" if is_frame else "DENY")


@pytest.mark.parametrize(
    "name",
    [
        "css/../index.html",
        "css/%2e%2e%2findex.html",
        "shell/.stamp",
        "vendor/.stamp",
        "bundle/.stamp",
        "bundle/manifest.json",
        "js/types.d.ts",
        "x/y.js",
    ],
)
async def test_only_listed_files_are_served(hub: RunningHub, name: str) -> None:
    async with hub.client(hub.tokens["owner"]) as client:
        answer = await client.get(f"/assets/{name}")
    assert answer.status_code == 404


@pytest.mark.row("S02")
async def test_only_the_portlets_files_are_read_from_an_opaque_origin(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["owner"]) as client:
        address = f"/assets/{script_of(page_files(), 'portlet.html')}"
        file = await client.get(address, headers={"origin": "null"})
        assert (file.status_code, file.headers["access-control-allow-origin"]) == (200, "*")
        assert (await client.get(address, headers={"origin": "https://evil.example"})).status_code == 403
        for path in ("/", "/portlet", "/api/sessions", "/openapi.json"):
            answer = await client.get(path, headers={"origin": "null"})
            assert (answer.status_code, answer.content) == (403, b"")
        again = await client.get(address, headers={"if-none-match": file.headers["etag"]})
        assert again.status_code == 304
