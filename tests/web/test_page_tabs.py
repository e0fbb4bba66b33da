"""Tabs: opened once, switched with their place kept, closed to the neighbour, dragged, restored."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.parts import Part
from tests.waiting import stretched
from tests.web.chrome import needs_chromium, open_tab
from tests.web.lantern import lantern, said, tell

from bascule.model.events import AgentSpawned, SessionReady, SessionStarted

# What the page keeps, once it is so or a minute has passed: it is written a moment after it is drawn.
KEPT_IN_ORDER = """async (wanted) => {
  const kept = () => JSON.parse(localStorage.getItem('bascule.page')).tabs;
  for (let n = 0; n < 3000 && kept().join() !== wanted; n += 1) await new Promise((go) => setTimeout(go, 20));
  return kept();
}"""

pytestmark = [pytest.mark.anyio, needs_chromium]

# Presses a tab: the milliseconds until another frame was in view, two drawn frames later; null if none was.
SWITCH = """async (key) => {
  const began = performance.now();
  const shown = () => document.querySelector('#well iframe:not(.away)');
  const before = shown();
  document.querySelector(`.session-tab[data-key=${key}] [role=tab]`).click();
  for (let n = 0; n < 2; n++) await new Promise(requestAnimationFrame);
  return shown() !== null && shown() !== before ? performance.now() - began : null;
}"""


@pytest.mark.row(
    "TC-2.3b",
    "TC-4.1a",
    "TC-4.1b",
    "TC-4.2a",
    "TC-4.2b",
    "TC-4.3a",
    "TC-4.3b",
    "TC-4.4a",
    "TC-4.4b",
    "TC-4.4c",
    "TC-4.5a",
    "TC-4.5b",
    "TC-4.6a",
    "TC-4.6b",
    "TC-5.6a",
    "A6",
    "A11",
)
async def test_tabs_open_once_keep_their_scroll_and_come_back_in_order(
    tmp_path: Path, browser: Browser, part: Part
) -> None:
    async with lantern(tmp_path) as hub:
        long = [one for n in range(50) for one in said(f"x{n}", f"paragraph number {n}")]
        await tell(hub.store, "python310", long, each=0)
        started = SessionStarted("claude-code", "stream_json", "/code/lantern", "Mira")
        await tell(hub.store, "fresh", [started, AgentSpawned(1, "c"), SessionReady("c")])
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"])
        page = tab.page
        tabs, frames = page.locator("#tabs [role=tab]"), page.locator("#well iframe[title=Transcript]")
        row = lambda name: page.locator(f".session-row[data-key={name}]")  # noqa: E731
        selected = page.locator("[role=tab][aria-selected=true] .session-tab__title")
        # TC-4.1a, TC-4.5a: a tab with title, state and agent, and a frame of its own
        await row("python310").click()
        with part("a tab has a title, a state and an agent"):
            await expect(tabs).to_have_count(1)
            await expect(selected).to_have_text("Drop Python 3.10")
            await expect(tabs.first.locator(".agent-mark")).to_have_text("C")
            await expect(page.get_by_role("tab", name="Ready Claude Code: Drop Python 3.10")).to_be_visible()
        await tab.says("paragraph number 49")
        # TC-4.2a: the place in a transcript is kept
        shown = await page.locator("#well iframe:not(.away)").element_handle()
        frame = await shown.content_frame() if shown else None
        assert frame is not None
        await frame.evaluate("scrollTo(0, 400)")
        await frame.wait_for_function("scrollY === 400")
        # TC-4.1b, TC-4.5b: a second one, in front; without a title it is a new session
        await row("fresh").click()
        await expect(selected).to_have_text("New session")
        await row("flaky").click()
        await tab.says("Running the sync tests")
        await expect(tabs).to_have_count(3)
        opened = await frames.count()
        # TC-2.3b, TC-4.3a, TC-4.3b
        await row("python310").click()
        with part("a session that is open is not opened again"):
            await expect(selected).to_have_text("Drop Python 3.10")
            await expect(tabs).to_have_count(3)
            assert await frames.count() <= opened + 1  # one may be loading ahead
            assert await frame.evaluate("scrollY") == 400
        # TC-4.2b
        with part("in view two frames after the press, within 100 ms of a machine that has time for it"):
            with stretched() as busy:
                switches = [
                    await page.evaluate(SWITCH, key) for _ in range(5) for key in ("fresh", "python310")
                ]
            assert None not in switches
            assert min(switches) < 100 * max(busy)
            assert await page.evaluate("frame => !frame.classList.contains('away')", shown)
        # TC-4.6a: the third is dragged between the first and the second
        await page.locator(".session-tab[data-key=flaky]").drag_to(
            page.locator(".session-tab[data-key=fresh]"), target_position={"x": 8, "y": 12}
        )
        titles = page.locator(".session-tab .session-tab__title")
        order = ["Drop Python 3.10", "Find the flaky sync test", "New session"]
        await expect(titles).to_have_text(order)
        # TC-4.6b, TC-5.6a
        kept = await page.evaluate(KEPT_IN_ORDER, "python310,flaky,fresh")
        assert kept == ["python310", "flaky", "fresh"]
        await page.reload()
        with part("the order outlives a reload"):
            await expect(titles).to_have_text(order)
            await expect(selected).to_have_text("Drop Python 3.10")
        # Without a mouse's drag: the menu of a tab
        await page.locator(".session-tab[data-key=python310]").click(button="right")
        await page.get_by_role("menuitem", name="Move right").click()
        await expect(titles.nth(1)).to_have_text("Drop Python 3.10")
        # TC-4.4b: the one in front closes, its neighbour comes
        await page.locator(".session-tab.is-selected .icon-button").click()
        await expect(selected).to_have_text("New session")
        # TC-4.4a
        with part("a closed tab is not a session that is gone"):
            await expect(tabs).to_have_count(2)
            await expect(frames).to_have_count(2)
            await expect(row("python310")).to_be_visible()
        await page.keyboard.press("Alt+w")
        await expect(selected).to_have_text("Find the flaky sync test")
        # TC-4.4c
        with part("after the last one there is a way to begin"):
            await page.keyboard.press("Alt+w")
            await expect(tabs).to_have_count(0)
            await expect(page.get_by_role("heading", name="What should we work on?")).to_be_visible()
            assert page.url == f"{hub.url}/"
        assert tab.errors == []
