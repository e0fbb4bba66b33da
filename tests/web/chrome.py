"""A real Chromium for tests, and the words the tests use for what is on the page."""

import contextlib
import shutil
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser, FrameLocator, Page, Request, ViewportSize, async_playwright, expect
from tests.waiting import PATIENCE_MS

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
CHROMIUM = next((found for found in map(shutil.which, NAMES) if found), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: sudo apt install chromium")
# The shell shows no notifications; the whole browser does, with or without a window.
WHOLE = next((found for found in map(shutil.which, NAMES[1:]) if found), None)
needs_whole_chromium = pytest.mark.skipif(
    WHOLE is None, reason="needs the whole Chromium, which shows notifications: sudo apt install chromium"
)

DESKTOP: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
LAPTOP: ViewportSize = {"width": 1280, "height": 720}
# To make a wide page narrower costs far less than to load another. A phone's has a finger, and is its own.
SIZES = pytest.mark.parametrize(
    "sizes", [(DESKTOP, LAPTOP), (PHONE,)], ids=["1440 and 1280 wide", "390 wide"]
)
TOWER = "tower.test"  # this machine, by a name that is not loopback's
# What the page says for a few seconds only, written down as it comes: a busy test may look too late.
PASSING = """() => {
  if (window !== top) return;
  const told = (window.told = new Set());
  const note = () => {
    const places = document.querySelectorAll('.banner, .note, .terminal-foot, .closed, #requests');
    for (const one of places) told.add(one.textContent);
  };
  new MutationObserver(note).observe(document, { subtree: true, childList: true, characterData: true });
}"""
TURN = "path => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')); }"
# Tests run as root in containers, where Chromium's own sandbox can't start. A page of a test lives for
# seconds: to compile it well costs a quarter of all it costs, and never pays.
FLAGS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--js-flags=--no-opt --no-maglev --single-threaded",
    f"--host-resolver-rules=MAP {TOWER} 127.0.0.1",
)
expect.set_options(timeout=PATIENCE_MS)


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    async with _launched(CHROMIUM) as browser:
        yield browser


@contextlib.asynccontextmanager
async def whole_chromium() -> AsyncIterator[Browser]:
    """One that shows notifications. With a kept profile it hands them to a desktop, and has none itself."""
    async with _launched(WHOLE) as browser:
        yield browser


@contextlib.asynccontextmanager
async def _launched(program: str | None) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


class Tab:
    """One page in a context of its own, with everything that went wrong in it."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.errors: list[str] = []
        self.strangers: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._look)

    def _look(self, request: Request) -> None:
        if not request.url.startswith((self.url, self.url.replace("http", "ws", 1), "data:", "blob:")):
            self.strangers.append(request.url)

    @property
    def well(self) -> FrameLocator:
        """The transcript in view."""
        return self.page.frame_locator("#well iframe:not(.away)")

    @property
    def ask(self) -> Any:
        return self.page.locator(".request")

    async def go(self, path: str = "/") -> None:
        await self.page.goto(self.url + path)

    async def turn_to(self, path: str) -> None:
        """Another place on the same page, which is not loaded again for it."""
        await self.page.evaluate(TURN, path)

    async def says(self, text: str) -> None:
        """Wait until the transcript holds the text."""
        await self.well.get_by_text(text).first.wait_for()

    async def told(self, pattern: str) -> None:
        """Wait until a banner, note, request, dock or terminal's foot says this, or has said it before."""
        holds = "pattern => [...window.told].some((one) => new RegExp(pattern).test(one))"
        await self.page.wait_for_function(holds, arg=pattern)

    async def press_soon(self, *keys: str, apart: float = 0.02) -> None:
        """Presses, each soon after the one before by the keyboard's clock, however long a busy test takes."""
        at = time.time()
        keyboard = await self.page.context.new_cdp_session(self.page)
        for number, key in enumerate(keys):
            for kind in ("rawKeyDown", "keyUp"):
                event = {"type": kind, "key": key, "code": key, "timestamp": at + number * apart}
                await keyboard.send("Input.dispatchKeyEvent", event)
        await keyboard.detach()

    async def press_twice(self, key: str) -> None:
        await self.press_soon(key, key, apart=0.2)

    async def allow(self) -> None:
        await self.page.locator(".request .is-primary:enabled").click()


async def open_tab(
    browser: Browser, url: str, token: str | None, *, path: str = "/", size: Any = DESKTOP, **options: Any
) -> Tab:
    phone = size is PHONE
    # What a browser keeps of the page is looked at where it is meant; elsewhere every file comes fresh.
    options.setdefault("service_workers", "block")
    # A dot that pulses is drawn sixty times a second by the processor; who tests motion asks for it.
    options.setdefault("reduced_motion", "reduce")
    context = await browser.new_context(viewport=size, has_touch=phone, is_mobile=phone, **options)
    await context.add_init_script(f"({PASSING})()")
    tab = Tab(await context.new_page(), url)
    await tab.go(f"{path}#token={token}" if token else path)
    return tab
