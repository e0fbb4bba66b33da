"""Links as QR codes, on a page opened by a name that other machines know: the code holds the link shown."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, expect
from tests.hub.running_hub import RunningHub, running_hub
from tests.hub.scripted_device import append
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, TOWER, needs_chromium, open_tab

from bascule.model.events import SessionReady

pytestmark = [pytest.mark.anyio, needs_chromium]

BORDER = 4
RUN = re.compile(r"M(\d+) (\d+)h(\d+)v1h-\d+z")


async def dots(code: Locator) -> list[str]:
    """What is drawn, read back as rows: `1` is dark."""
    side = int((await code.get_attribute("viewBox") or "").split()[2]) - 2 * BORDER
    rows = [["0"] * side for _ in range(side)]
    drawn = await code.locator("path").get_attribute("d") or ""
    assert RUN.sub("", drawn) == ""
    for x, y, length in RUN.findall(drawn):
        for n in range(int(length)):
            rows[int(y) - BORDER][int(x) - BORDER + n] = "1"
    return ["".join(row) for row in rows]


async def expected(hub: RunningHub, link: str) -> list[str]:
    async with hub.client(hub.tokens["owner"]) as client:
        return (await client.post("/api/qr", json={"text": link})).json()["rows"]


@pytest.mark.row("R12", "C4")
async def test_the_code_beside_a_link_is_that_link_and_fits_the_screen(
    tmp_path: Path, browser: Browser
) -> None:
    async with running_hub(tmp_path) as hub:
        hub.services.doors.tunnelled([f"{TOWER}:{hub.port}"])
        await hub.session("s1")
        await append(hub.store, "s1", SessionReady())
        url = f"http://{TOWER}:{hub.port}"
        tab = await open_tab(browser, url, hub.tokens["owner"], path="/settings/browsers")
        page = tab.page
        await page.get_by_label("Name").fill("Phone")
        await page.get_by_role("button", name="Create a link").click()
        body = page.locator(".settings-body")
        await expect(body).to_contain_text("Scan this with the phone")
        await expect(body).not_to_contain_text("Only this machine")
        for size in (DESKTOP, LAPTOP, PHONE):
            await page.set_viewport_size(size)
            box = await page.locator(".qr-code").bounding_box()
            assert box
            assert box["width"] >= 120
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= size["width"]
        link = await page.locator(".copy-line span").inner_text()
        assert link.startswith(f"{url}/#token=")
        assert await dots(page.locator(".qr-code")) == await expected(hub, link)
        # The same for one session, and what it opens is that session.
        await page.set_viewport_size(LAPTOP)
        await tab.turn_to("/sessions/s1")
        await page.get_by_role("button", name="Share", exact=True).click()
        share = page.locator(".share")
        await share.get_by_label("Who is it for?").fill("Jonas")
        await share.get_by_label("Your name, as they see it").fill("Mira")
        await share.get_by_role("button", name="Create a link").click()
        await expect(share.locator(".qr-code")).to_be_in_viewport(ratio=1)
        link = await share.locator(".copy-line span").first.inner_text()
        assert await dots(share.locator(".qr-code")) == await expected(hub, link)
        assert tab.errors == []
        # Once a link is put away its secret is nowhere on the page, nor is the key of this browser.
        await page.keyboard.press("Escape")
        await expect(share).to_have_count(0)
        shown = await page.content()
        assert link.split("#token=")[1] not in shown
        assert hub.tokens["owner"] not in shown
        guest = await open_tab(browser, url, None, path=link.removeprefix(url))
        await expect(guest.page.locator("#guest")).to_contain_text("Mira shared this session with you.")
