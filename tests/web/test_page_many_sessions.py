"""Two hundred sessions: a first page, true counts, more on demand, and every one found by its name."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, needs_chromium, open_tab
from tests.web.lantern import lantern

from bascule.model.events import SessionEnded, SessionStarted, TitleChanged
from bascule.store.base import Batch

pytestmark = [pytest.mark.anyio, needs_chromium]


@pytest.mark.parametrize("size", [DESKTOP, LAPTOP, PHONE], ids=["1440x900", "1280x720", "390x844"])
async def test_a_long_list_is_loaded_by_parts_and_counted_whole(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with lantern(tmp_path) as hub:
        for n in range(200):
            start = SessionStarted("demo", "stream_json", f"/old/f{n % 2}", "Mira")
            events = [start, TitleChanged(f"Chore number {n}"), SessionEnded("closed")]
            at = f"2020-01-01T{n // 60:02}:{n % 60:02}:00.000Z"
            await hub.store.append(Batch(f"old{n}", 1, at, events))
        await hub.store.searchable()
        # On a phone the list is a screen of its own.
        place = "/sessions" if size is PHONE else "/inbox"
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path=place, size=size)
        page = tab.page
        group = page.get_by_role("region", name="f0", exact=True)
        await expect(page.get_by_role("button", name="f0 100", exact=True)).to_be_visible()
        rows = group.locator(".session-row-wrap")
        await expect(rows).to_have_count(5)
        await group.get_by_role("button", name="Show 95 more").click()
        await expect(group.get_by_role("button", name="Show fewer")).to_be_visible()
        held = await rows.count()
        assert 5 < held < 50
        await group.get_by_role("button", name=f"Show {100 - held} more").click()
        await expect(rows).to_have_count(held + 50)
        await expect(rows.first).to_be_visible()
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        titles = await rows.locator(".session-row__title").all_text_contents()
        assert titles == [f"Chore number {n}" for n in range(198, -1, -2)][: held + 50]
        # One that becomes active comes to the top, and is counted once.
        late = [TitleChanged("Chore taken up")]
        await hub.store.append(Batch("old0", 4, "2020-01-02T00:00:00.000Z", late))
        await expect(rows.first.locator(".session-row__title")).to_have_text("Chore taken up")
        await expect(page.get_by_role("button", name="f0 100", exact=True)).to_be_visible()
        # One that is not loaded is found by its name.
        await page.get_by_role("button", name="Search or run a command").click()
        await page.keyboard.type("chore number 3")
        await expect(page.get_by_role("option", name="Chore number 3 ").first).to_be_visible()
        assert tab.errors == []
