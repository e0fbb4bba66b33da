"""When room is scarce: a wide diff takes it only while it is shown; Send and the chosen tab stay in sight."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.web.chrome import DESKTOP, LAPTOP, needs_chromium, open_tab
from tests.web.lantern import begin, lantern, tell

from bascule.model.events import SessionStarted, TitleChanged

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
        await tell(hub.store, "quiet", begin("/code/lantern", "A quiet one"))
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/uploads", size=LAPTOP)
        page, panel = tab.page, tab.page.locator("#panel")
        await tab.says("Parts are only")
        await page.get_by_role("button", name="Changes (Ctrl J)").click()
        await panel.locator(".changed-file").first.click()
        width = "document.getElementById('panel').getBoundingClientRect().width"
        narrow = await page.evaluate(width)
        await panel.get_by_role("button", name="Side by side").click()
        await page.wait_for_function(f"narrow => {width} > narrow + 100", arg=narrow)
        # The next session shows no diff, so there is room for its chips, after a reload too.
        chips = [page.locator(f"#composer .{one}") for one in ("k-agent", "k-model")]
        for chip in chips:
            await expect(chip).to_be_hidden()
        await tab.turn_to("/sessions/quiet")
        await expect(page.locator(".session-bar__name h1")).to_have_text("A quiet one")
        for chip in chips:
            await expect(chip).to_be_visible()
        await page.reload()
        for chip in chips:
            await expect(chip).to_be_visible()
        await tab.turn_to("/sessions/uploads")
        await panel.locator(".changed-file").first.click()
        await page.wait_for_function(f"narrow => {width} > narrow + 100", arg=narrow)
        # With little room and no connection, the words about it push nothing out.
        assert await page.evaluate(INSIDE)
        hub.server.stop()
        await page.locator("#message").fill("and go on")
        await expect(page.locator("#banner")).to_be_visible()
        await expect(page.locator("#composer .hold")).to_be_visible()
        assert await page.evaluate(INSIDE)
        # The next session shows no diff, so its panel is as narrow as before.
        await tab.turn_to("/sessions/rates")
        await page.wait_for_function(f"narrow => {width} <= narrow", arg=narrow)
        assert tab.errors == []


# How wide the chosen tab is, and how much of its title can be read.
CHOSEN = """() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect();
  const [list, tab] = [box('.tab-list'), box('.session-tab.is-selected')];
  const whole = tab.left >= list.left - 1 && tab.right <= list.right + 1;
  return { width: tab.width, title: box('.is-selected .session-tab__title').width, whole };
}"""


@pytest.mark.parametrize("size", [DESKTOP, LAPTOP], ids=["1440x900", "1280x720"])
@pytest.mark.row("X13")
async def test_the_chosen_tab_keeps_its_title_and_stays_in_sight_however_many_there_are(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with lantern(tmp_path) as hub:
        tabs = [*(f"more{n}" for n in range(12)), "uploads"]
        for one in tabs[:-1]:
            started = SessionStarted("claude-code", "stream_json", "/code/lantern", "Mira")
            await tell(hub.store, one, [started, TitleChanged(f"One more session, {one}", "Mira")])
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], size=size)
        page, panel = tab.page, tab.page.locator("#panel")
        for one in tabs:
            await tab.turn_to(f"/sessions/{one}")
        await expect(page.locator(".session-tab")).to_have_count(len(tabs))
        await tab.says("Parts are only")
        await page.get_by_role("button", name="Changes (Ctrl J)").click()
        await panel.locator(".changed-file").first.click()
        await panel.get_by_role("button", name="Side by side").click()
        await page.wait_for_function(
            "() => document.querySelector('#panel').getBoundingClientRect().width > 500"
        )
        for one in ("uploads", tabs[0]):
            if one != "uploads":
                await tab.turn_to(f"/sessions/{one}")
            await expect(page.locator(f".session-tab.is-selected[data-key={one}]")).to_be_visible()
            await page.wait_for_function(f"() => ({CHOSEN})().whole")
            chosen = await page.evaluate(CHOSEN)
            assert chosen["width"] >= 120, chosen
            assert chosen["title"] >= 60, chosen
        assert tab.errors == []
