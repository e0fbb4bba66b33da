"""Escape closes what floats above the page, wherever the focus is by then, and nothing else."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, expect
from tests.web.chrome import DESKTOP, PHONE, needs_chromium, open_tab
from tests.web.lantern import lantern

pytestmark = [pytest.mark.anyio, needs_chromium]
SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1440x900", "390x844"])


async def closed_by_escape(page: Page, opener: Locator, size: Any, *, focus: Locator | None = None) -> None:
    """Open it with a finger or the mouse, press Escape, and look that the place is still the same."""
    floating, place = page.locator(".menu"), page.url
    await (opener.tap() if size is PHONE else opener.click())
    await expect(floating).to_have_count(1)
    if focus is not None:
        await focus.focus()
        await expect(floating).to_have_count(1)
    await page.keyboard.press("Escape")
    await expect(floating).to_have_count(0)
    await expect(opener).to_be_focused()
    await expect(opener).not_to_have_attribute("aria-expanded", "true")
    assert page.url == place


@SIZES
@pytest.mark.row("X13")
async def test_in_a_session_it_closes_a_menu_or_a_card_and_leaves_the_rest_as_it_is(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/uploads", size=size)
        page, message = tab.page, tab.page.locator("#message")
        await tab.says("Parts are only")
        await message.fill("not sent yet")
        openers = [page.locator(".k-mode:visible"), page.get_by_role("button", name="More", exact=True)]
        if size is DESKTOP:  # on a phone it is among More
            openers.append(page.get_by_role("button", name="Share", exact=True))
        for opener in openers:
            await closed_by_escape(page, opener, size)
            # Also when the focus went back to the button, or into the message.
            await closed_by_escape(page, opener, size, focus=opener)
            await closed_by_escape(page, opener, size, focus=message)
        await expect(message).to_have_value("not sent yet")
        assert tab.errors == []


@SIZES
@pytest.mark.row("X13")
async def test_on_the_start_screen_it_closes_the_choice_and_keeps_the_task(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], size=size)
        page, task = tab.page, tab.page.locator("#task")
        await task.fill("Trim the wick")
        chip = page.locator(".screen-start .k-agent")
        await closed_by_escape(page, chip, size)
        await closed_by_escape(page, chip, size, focus=task)
        await expect(task).to_have_value("Trim the wick")
        assert tab.errors == []
