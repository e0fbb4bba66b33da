"""The latest sessions on the start screen: one line each, which says each thing once."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.parts import Part
from tests.web.chrome import SIZES, needs_chromium, open_tab
from tests.web.lantern import lantern, tell

from bascule.model.events import AgentSpawned, SessionReady, SessionStarted, TitleChanged

pytestmark = [pytest.mark.anyio, needs_chromium]

LONG = "/code/" + "a-folder-with-a-name-that-somebody-meant-well-with-" * 4
# For each row: the lines its right column takes, and whether all of it lies within the row.
ROWS = """() => [...document.querySelectorAll('.recent button')].map((row) => {
  const small = row.querySelector('small');
  const range = document.createRange();
  range.selectNodeContents(small);
  const drawn = [...range.getClientRects()].filter((one) => one.width > 1);
  const tops = drawn.map((one) => one.top + one.height / 2);
  const [box, mine] = [row.getBoundingClientRect(), small.getBoundingClientRect()];
  const title = row.querySelector('.recent__title').getBoundingClientRect();
  return {
    lines: Math.max(...tops) - Math.min(...tops) < 8 ? 1 : 2,
    inside: mine.right <= box.right + 1 && box.right <= innerWidth && title.width > 60,
  };
})"""


@SIZES
@pytest.mark.row("C4")
async def test_a_recent_session_is_one_line_that_says_each_thing_once(
    tmp_path: Path, browser: Browser, sizes: Any, part: Part
) -> None:
    async with lantern(tmp_path, empty=True) as hub:
        for name, cwd in (("long", LONG), ("plain", "/code/lantern")):
            started = SessionStarted("claude-code", "stream_json", cwd, "Mira")
            title = TitleChanged(f"A title that goes on for as long as it may, {name}", "Mira")
            await tell(hub.store, name, [started, AgentSpawned(1, "c"), SessionReady("c"), title])
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], size=sizes[0])
        for size in sizes:
            with part(f"{size['width']} wide"):
                await tab.page.set_viewport_size(size)
                recent = tab.page.locator(".recent")
                await expect(recent.locator(".caption")).to_have_text("Recent")
                await expect(recent.locator("button")).to_have_count(2)
                # Of sessions on this very machine nothing says "Remote", and the dot has its one word.
                await expect(recent).not_to_contain_text(
                    re.compile(r"\b(remote|local|live)\b", re.IGNORECASE)
                )
                await expect(recent.locator("[data-key=long]")).to_have_count(1)
                row = recent.locator("[data-key=plain]")
                await expect(row.locator("small")).to_contain_text(
                    re.compile("^lantern · Claude Code · ready · ")
                )
                await expect(row.locator(".mark-label")).to_have_count(0)
                rows = await tab.page.evaluate(ROWS)
                assert rows == [{"lines": 1, "inside": True}] * 2, rows
        assert tab.errors == []
