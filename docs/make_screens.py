"""Takes pictures of every screen, in both themes and both sizes, into docs/screens (`make screens`).

The world in them is told by tests/web/lantern.py; the page, the hub and the browser are the real ones.
"""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Browser
from tests.hub.stage import Stage
from tests.web.chrome import DESKTOP, PHONE, Tab, chromium, open_tab
from tests.web.lantern import finished_turn, lantern, tell, wants_command, wants_edit

FOLDER = Path(__file__).parent / "screens"
Act = Callable[[Tab, Stage], Awaitable[None]]


async def settled(tab: Tab, milliseconds: int = 700) -> None:
    await tab.page.wait_for_timeout(milliseconds)


async def nothing(tab: Tab, world: Stage) -> None:
    pass


async def command(tab: Tab, world: Stage) -> None:
    await tell(world.store, "uploads", wants_command(), 12)
    await tab.ask.wait_for()


async def diff(tab: Tab, world: Stage) -> None:
    await tell(world.store, "uploads", wants_edit(), 4)
    await tab.ask.wait_for()


async def calm(tab: Tab, world: Stage) -> None:
    await tell(world.store, "uploads", finished_turn())
    if not await tab.page.locator("#panel:visible").count() and tab.page.viewport_size == DESKTOP:
        await tab.page.keyboard.press("Control+j")


async def answers(tab: Tab, world: Stage) -> None:
    await tab.ask.wait_for()
    await tab.ask.get_by_text("Carry the last rate").click()
    for name in ("Overview", "Pair page"):
        await tab.ask.get_by_text(name, exact=True).click()


async def inbox(tab: Tab, world: Stage) -> None:
    await tell(world.store, "uploads", [*wants_command(), *wants_edit()], 12)
    await settled(tab, 400)


async def starting(tab: Tab, world: Stage) -> None:
    await tab.page.locator("#task").fill(
        "Uploads that lose their connection start from zero. Make them resume."
    )
    await tab.page.locator(".go").click()
    await tab.page.get_by_text("Waiting for its first word").wait_for()


async def failing(tab: Tab, world: Stage) -> None:
    await tab.page.locator("#task").fill("Summarise last night's backup logs.")
    await tab.page.locator(".go").click()
    await tab.page.locator(".failc").wait_for()


async def palette(tab: Tab, world: Stage) -> None:
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type("re")


async def keys(tab: Tab, world: Stage) -> None:
    await settled(tab, 300)
    await tab.page.locator("body").click(position={"x": 5, "y": 400})
    await tab.page.keyboard.press("?")


async def lost(tab: Tab, world: Stage) -> None:
    await tab.says("Parts are only")
    await tab.page.route("**/api/tickets", lambda route: route.abort())
    world.hub.presence.shut_down()
    await tab.page.locator(".banner.warn").wait_for()
    await tab.page.locator("#message").fill("Then add a line to CHANGELOG under 2.5")


SCREENS: dict[str, tuple[str, str, Act]] = {
    "start": ("Mira", "/", nothing),
    "start-progress": ("Mira", "/", starting),
    "start-failed": ("Mira", "/", failing),
    "command": ("Mira", "/sessions/uploads", command),
    "edit": ("Mira", "/sessions/uploads", diff),
    "calm": ("Mira", "/sessions/uploads", calm),
    "question": ("Mira", "/sessions/rates", answers),
    "ended": ("Mira", "/sessions/changelog", nothing),
    "inbox": ("Mira", "/inbox", inbox),
    "list": ("Mira", "/sessions", nothing),
    "palette": ("Mira", "/", palette),
    "keys": ("Mira", "/", keys),
    "settings": ("Mira", "/settings/browsers", nothing),
    "settings-agents": ("Mira", "/settings/agents", nothing),
    "settings-audit": ("Mira", "/settings/audit", nothing),
    "viewer": ("viewer", "/sessions/uploads", nothing),
    "offline": ("Mira", "/sessions/uploads", lost),
    "locked": ("", "/", nothing),
    "empty": ("Mira", "/", nothing),
}


async def picture(browser: Browser, name: str, theme: str, size: dict[str, int], target: Path) -> None:
    who, path, act = SCREENS[name]
    folder = Path(tempfile.mkdtemp())
    try:
        async with lantern(folder, empty=name == "empty") as world:
            tab = await open_tab(
                browser, world.url, world.tokens.get(who), path=path, size=size, color_scheme=theme
            )
            await settled(tab, 900)
            await act(tab, world)
            await settled(tab)
            await tab.page.screenshot(path=target)
            await tab.page.context.close()
    finally:
        shutil.rmtree(folder)


async def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    wanted = sys.argv[1:] or list(SCREENS)
    async with chromium() as browser:
        for name in wanted:
            for theme in ("dark", "light"):
                for size in (DESKTOP, PHONE):
                    target = FOLDER / f"{name}-{theme}-{size['width']}.png"
                    await picture(browser, name, theme, size, target)


if __name__ == "__main__":
    asyncio.run(main())
