"""When room is scarce: a side-by-side diff takes it only while it is shown, and Send stays in its box."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.web.chrome import LAPTOP, needs_chromium, open_tab
from tests.web.lantern import lantern

pytestmark = [pytest.mark.anyio, needs_chromium]

INSIDE = """() => {
  const [send, box] = ['#composer .send', '#composer .composer'].map((one) => document.querySelector(one));
  const [a, b] = [send.getBoundingClientRect(), box.getBoundingClientRect()];
  return a.left >= b.left && a.right <= b.right && a.bottom <= b.bottom;
}"""


@pytest.mark.row("X9", "X13")
async def test_a_wide_diff_takes_its_room_only_while_it_is_shown_and_send_stays_in_its_box(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/uploads", size=LAPTOP)
        page, panel = tab.page, tab.page.locator("#panel")
        await tab.says("Parts are only")
        await page.get_by_role("button", name="Changes (Ctrl J)").click()
        await panel.locator(".changed-file").first.click()
        width = "document.getElementById('panel').getBoundingClientRect().width"
        narrow = await page.evaluate(width)
        await panel.get_by_role("button", name="Side by side").click()
        await page.wait_for_function(f"narrow => {width} > narrow + 100", arg=narrow)
        # With little room and no connection, the words about it push nothing out.
        assert await page.evaluate(INSIDE)
        hub.server.stop()
        await page.locator("#message").fill("and go on")
        await expect(page.locator("#banner")).to_be_visible()
        assert await page.evaluate(INSIDE)
        # The next session shows no diff, so its panel is as narrow as before.
        await tab.turn_to("/sessions/rates")
        await page.wait_for_function(f"narrow => {width} <= narrow", arg=narrow)
        assert tab.errors == []
