"""What axe finds serious in the shell; nothing where axe is not installed (`npm ci` in web/)."""

from pathlib import Path

from playwright.async_api import Page
from tests.web.chrome import Tab

AXE = Path(__file__).parent.parent.parent / "web" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => (await axe.run(document, {
    iframes: false, preload: false, resultTypes: ['violations'],
  })).violations
  .filter((one) => ['serious', 'critical'].includes(one.impact))
  .map((one) => one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | '))"""
# What fades in is measured at its end, not on its way.
STILL = """() => Promise.allSettled(document.getAnimations()
  .filter((one) => one.effect?.getComputedTiming().endTime !== Infinity).map((one) => one.finished))"""


async def serious(tab: Tab) -> list[str]:
    return await serious_on(tab.page)


async def serious_on(page: Page) -> list[str]:
    if not AXE.is_file():
        return []
    await page.evaluate(STILL)
    if not await page.evaluate("typeof axe === 'object'"):
        await page.evaluate(AXE.read_text())
    return await page.evaluate(RUN)
