"""Takes pictures of every screen, in both themes, on a desktop and a phone, into docs/screens.

`make screens` runs it; with ARGS="--into FOLDER list share" it takes only those two, into another folder. The
sessions in them are told by tests/web/lantern.py; the page, the hub and the browser are the real ones.
"""

import argparse
import asyncio
import datetime
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Browser, Page, ViewportSize
from playwright.async_api import Error as PlaywrightError
from tests.hub.running_hub import RunningHub
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, Tab, chromium, open_tab
from tests.web.lantern import finished_turn, lantern, once, tell, wants_command, wants_edit
from tests.web.screens.machine_scenes import MACHINE
from tests.web.screens.panel_scenes import MORE
from tests.web.screens.small_pictures import small

FOLDER = Path(__file__).parents[3] / "docs" / "screens"
Act = Callable[[Tab, RunningHub], Awaitable[None]]


async def settled(tab: Tab, milliseconds: int = 700) -> None:
    await tab.page.wait_for_timeout(milliseconds)


# How to get from a path to a screen


async def nothing(tab: Tab, hub: RunningHub) -> None:
    pass


async def command(tab: Tab, hub: RunningHub) -> None:
    """The whole of it: several sessions open, the changes beside, a request in front."""
    if tab.page.viewport_size != PHONE:
        for session in ("flaky", "rates", "uploads"):
            await tab.page.locator(f".session-row[data-key={session}]").click()
        await tab.page.keyboard.press("Control+j")
    await once(hub.store, "uploads", wants_command(), "r1")
    await tab.ask.wait_for()


async def diff(tab: Tab, hub: RunningHub) -> None:
    await once(hub.store, "uploads", wants_edit(), "r2")
    await tab.ask.wait_for()


async def calm(tab: Tab, hub: RunningHub) -> None:
    await tell(hub.store, "uploads", finished_turn())
    if not await tab.page.locator("#panel:visible").count() and tab.page.viewport_size == DESKTOP:
        await tab.page.keyboard.press("Control+j")


async def answers(tab: Tab, hub: RunningHub) -> None:
    await tab.ask.wait_for()
    await tab.ask.get_by_text("Carry the last rate").click()
    for name in ("Overview", "Pair page"):
        await tab.ask.get_by_text(name, exact=True).click()


async def inbox(tab: Tab, hub: RunningHub) -> None:
    await once(hub.store, "uploads", wants_command(), "r1")
    await once(hub.store, "uploads", wants_edit(), "r2")
    await settled(tab, 400)


async def start(tab: Tab, task: str, then: str) -> None:
    await tab.page.locator("#task").fill(task)
    await tab.page.locator(".start__go:enabled").click()
    await tab.page.locator(then).first.wait_for()


async def starting(tab: Tab, hub: RunningHub) -> None:
    await start(tab, "Uploads that lose their connection start from zero. Make them resume.", ".going")
    await tab.page.get_by_text("Waiting for its first response").wait_for()


async def failing(tab: Tab, hub: RunningHub) -> None:
    await start(tab, "Summarise last night's backup logs.", ".failure-card pre")


async def folder(tab: Tab, hub: RunningHub) -> None:
    await tab.page.locator(".k-folder").click()
    await tab.page.get_by_role("menuitem", name="Another folder…").click()
    await tab.page.get_by_label("Folder", exact=True).press_sequentially("/code/la")
    await tab.page.get_by_role("option").first.wait_for()


async def project(tab: Tab, hub: RunningHub) -> None:
    await tab.page.get_by_role("button", name="Add a project").click()
    await tab.page.get_by_label("Folder of the project").press_sequentially("/code/")
    await tab.page.get_by_role("option").first.wait_for()


async def palette(tab: Tab, hub: RunningHub) -> None:
    await hub.store.searchable()
    await tab.page.evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))")
    await tab.page.keyboard.type("re")
    await tab.page.get_by_role("group", name="Said in sessions").wait_for()


async def search(tab: Tab, hub: RunningHub) -> None:
    await hub.store.searchable()
    await tab.page.get_by_label("Search in all sessions").fill("re")
    await tab.page.locator(".search-hit").first.wait_for()


async def keys(tab: Tab, hub: RunningHub) -> None:
    await settled(tab, 300)
    await tab.page.evaluate("document.activeElement?.blur()")
    await tab.page.keyboard.press("?")


async def lost(tab: Tab, hub: RunningHub) -> None:
    await tab.says("Parts are only")
    await tab.page.route("**/api/tickets", lambda route: route.abort())
    hub.services.open_streams.shut_down()
    await tab.page.locator(".banner.warn").wait_for()
    await tab.page.locator("#message").fill("Then add a line to CHANGELOG under 2.5")


async def long_lost(tab: Tab, hub: RunningHub) -> None:
    await lost(tab, hub)
    later = datetime.datetime.now() + datetime.timedelta(seconds=122)
    await tab.page.clock.set_system_time(later)
    await tab.page.locator(".away.card").wait_for()


# One line for each screen: who looks, from where, and what they do there
SCREENS: dict[str, tuple[str, str, Act]] = {
    "start": ("Mira", "/", nothing),
    "start-folder": ("Mira", "/", folder),
    "start-progress": ("Mira", "/", starting),
    "start-failed": ("Mira", "/", failing),
    "calm": ("Mira", "/sessions/uploads", calm),
    "command": ("Mira", "/sessions/uploads", command),
    "edit": ("Mira", "/sessions/uploads", diff),
    "question": ("Mira", "/sessions/rates", answers),
    "ended": ("Mira", "/sessions/changelog", nothing),
    "inbox": ("Mira", "/inbox", inbox),
    "list": ("Mira", "/sessions", nothing),
    "project-add": ("Mira", "/sessions", project),
    "search": ("Mira", "/search", search),
    "palette": ("Mira", "/", palette),
    "keys": ("Mira", "/", keys),
    "settings": ("Mira", "/settings/browsers", nothing),
    "settings-general": ("Mira", "/settings/general", nothing),
    "settings-devices": ("Mira", "/settings/devices", nothing),
    "settings-agents": ("Mira", "/settings/agents", nothing),
    "settings-audit": ("Mira", "/settings/audit", nothing),
    "viewer": ("viewer", "/sessions/uploads", nothing),
    "offline": ("Mira", "/sessions/uploads", lost),
    "offline-long": ("Mira", "/sessions/uploads", long_lost),
    "locked": ("", "/", nothing),
    "empty": ("Mira", "/", nothing),
    **MORE,
    **MACHINE,
}
# The screens of a fresh machine: agents, and nothing else yet.
EMPTY = frozenset({"empty"})


# Where a short screen decides whether what matters is in sight: these on a laptop, too.
SHORT = frozenset({"empty", "start", "command", "terminal"})


# At the same time: most of the time goes by waiting for the page to settle.
LANES = 3


async def pictures(browser: Browser, packer: Page, name: str, size: ViewportSize, into: Path) -> None:
    """One screen at one size, in both themes: a hub of its own, reached once."""
    who, path, act = SCREENS[name]
    folder = Path(tempfile.mkdtemp())
    try:
        async with lantern(folder, empty=name in EMPTY) as hub:
            token = hub.tokens.get(who)
            tab = await open_tab(browser, hub.url, token, path=path, size=size, color_scheme="dark")
            await settled(tab, 900)
            await act(tab, hub)
            await tab.page.mouse.move(0, 0)  # where it lights nothing up
            for theme in ("dark", "light"):
                await tab.page.emulate_media(color_scheme=theme)
                await settled(tab)
                taken = await small(packer, await tab.page.screenshot())
                (into / f"{name}-{theme}-{size['width']}.png").write_bytes(taken)
            await tab.page.context.close()
    finally:
        shutil.rmtree(folder)


async def main() -> None:
    asked = argparse.ArgumentParser(description="Take pictures of the page's screens.")
    asked.add_argument("names", nargs="*", metavar="NAME", help="the screens; all without")
    asked.add_argument("--into", type=Path, default=FOLDER, help="the folder (docs/screens)")
    given = asked.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    lanes = asyncio.Semaphore(LANES)

    failed: list[str] = []

    async def take(browser: Browser, packer: Page, name: str, size: ViewportSize) -> None:
        async with lanes:
            try:
                await pictures(browser, packer, name, size, given.into)
            except PlaywrightError as error:  # the others are still worth taking
                failed.append(f"{name} at {size['width']}: {error.message}")

    async with chromium() as browser, asyncio.TaskGroup() as group:
        packer = await browser.new_page()
        for name in given.names or SCREENS:
            for size in (DESKTOP, *([LAPTOP] if name in SHORT else []), PHONE):
                group.create_task(take(browser, packer, name, size))
    if failed:
        sys.exit("Not taken:\n" + "\n".join(failed))


if __name__ == "__main__":
    asyncio.run(main())
