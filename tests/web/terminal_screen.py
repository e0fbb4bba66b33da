"""A terminal of the page, as a person sees and types into it."""

import asyncio
import re

from playwright.async_api import FrameLocator, Locator, expect
from tests.waiting import PATIENCE
from tests.web.chrome import Tab


class Screen:
    """A terminal on a page, as a person has it before them."""

    def __init__(self, tab: Tab, place: str = "#terminal") -> None:
        self.tab, self.place = tab, place
        self.element: Locator = tab.page.locator(f"{place} .term-frame")
        self.frame: FrameLocator = tab.page.frame_locator(f"{place} .term-frame")
        self.rows: Locator = self.frame.locator(".xterm-rows")
        self.lines: Locator = self.rows.locator("> div")
        self.foot: Locator = tab.page.locator(f"{place} .terminal-foot")

    async def shows(self, text: str) -> None:
        await expect(self.rows).to_contain_text(text)

    async def prompts(self) -> None:
        await expect(self.rows).to_have_text(re.compile(r"[$#]\s*$"))

    async def height(self) -> int:
        """Rows, once the terminal has the size that its foot says."""
        size = re.compile(r"^\d+ × \d+$")
        await expect(self.foot.locator(".whose")).to_have_text(size)
        rows = int((await self.foot.locator(".whose").inner_text()).split(" × ")[1])
        await expect(self.lines).to_have_count(rows)
        return rows

    async def type(self, text: str) -> None:
        await self.element.click()
        await expect(self.element).to_be_focused()
        await self.tab.page.keyboard.type(text)

    async def at(self, text: str) -> tuple[float, float]:
        """The middle of a piece of text on the screen."""
        words = self.frame.locator(".xterm-rows span", has_text=text).last
        async with asyncio.timeout(PATIENCE):
            while (box := await words.bounding_box()) is None:  # just drawn anew
                await words.wait_for()
        return box["x"] + min(box["width"], 7 * len(text)) / 2, box["y"] + box["height"] / 2
