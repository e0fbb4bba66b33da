"""Every screen can be used without eyes or mouse: axe finds nothing serious, keys do what they should."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.web.chrome import DESKTOP, PHONE, Tab, needs_chromium, open_tab
from tests.web.lantern import finished_turn, lantern, said, tell, wants_command

pytestmark = [pytest.mark.anyio, needs_chromium]

AXE = Path(__file__).parent.parent.parent / "web" / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: npm ci in web/")
RUN = """async () => (await axe.run(document, { iframes: false, resultTypes: ['violations'] })).violations
  .filter((one) => ['serious', 'critical'].includes(one.impact))
  .map((one) => one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | '))"""


async def findings(tab: Tab) -> list[str]:
    found: list[str] = []
    source = AXE.read_text()
    for frame in tab.page.frames:
        await frame.evaluate(source)
        found += [f"{frame.url.rsplit('/', 1)[-1] or 'page'}: {one}" for one in await frame.evaluate(RUN)]
    return found


@needs_axe
@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_axe_finds_nothing_serious_on_any_screen(
    tmp_path: Path, browser: Browser, theme: Any, size: Any
) -> None:
    async with lantern(tmp_path) as world:
        tab = await open_tab(browser, world.url, world.tokens["Mira"], size=size, color_scheme=theme)
        await expect(tab.page.locator("#task")).to_be_visible()
        found = await findings(tab)
        for path in ("/sessions/rates", "/inbox", "/settings/browsers", "/settings/audit", "/sessions"):
            await tab.go(path)
            await tab.page.wait_for_timeout(900)
            found += [f"{path} {one}" for one in await findings(tab)]
        await tell(world.store, "uploads", [*wants_command()])
        await tab.go("/sessions/uploads")
        await tab.ask.wait_for()
        await tab.page.wait_for_timeout(700)
        found += [f"command {one}" for one in await findings(tab)]
        await tell(world.store, "flaky", finished_turn())
        await tab.go("/sessions/flaky")
        await tab.says("Uploads now resume")
        await tab.page.keyboard.press("Control+k")
        found += [f"palette {one}" for one in await findings(tab)]
    assert found == [], "\n".join(found)


async def test_keys_reach_every_place_and_stay_out_of_text_fields(tmp_path: Path, browser: Browser) -> None:
    async with lantern(tmp_path) as world:
        tab = await open_tab(browser, world.url, world.tokens["Mira"], path="/sessions/python310")
        await tab.says("Removed the shims")
        keys = tab.page.keyboard
        await tab.page.locator("#message").focus()
        await keys.type("n?g")
        await expect(tab.page.locator("#message")).to_have_value("n?g")
        await keys.press("Control+b")
        await expect(tab.page.locator("#side")).to_be_hidden()
        await keys.press("Control+b")
        await keys.press("Control+j")
        await expect(tab.page.locator("#panel")).to_be_visible()
        await tab.page.locator(".sbar h1").evaluate("() => document.activeElement.blur()")
        await keys.press("g")
        await keys.press("i")
        await expect(tab.page.get_by_role("heading", name="Inbox")).to_be_visible()
        await keys.press("o")
        await expect(tab.page.locator(".who h1")).to_have_text("Rework the rate chart")
        await keys.press("Alt+1")
        await expect(tab.page.locator(".who h1")).to_have_text("Drop Python 3.10")
        await keys.press("Control+k")
        await keys.type("flaky")
        await keys.press("Enter")
        await expect(tab.page.locator(".who h1")).to_have_text("Find the flaky sync test")
        await keys.press("Alt+w")
        await expect(tab.page.get_by_role("tab")).to_have_count(2)
        await expect(tab.page).to_have_title("(1) Rework the rate chart · Bascule")


async def test_reduced_motion_keeps_the_guard_but_no_pulse(tmp_path: Path, browser: Browser) -> None:
    async with lantern(tmp_path) as world:
        tab = await open_tab(
            browser, world.url, world.tokens["Mira"], path="/sessions/uploads", reduced_motion="reduce"
        )
        await tab.says("Parts are only")
        pulse = "getComputedStyle(document.querySelector('.srow .dot-running'), '::after').animationName"
        assert await tab.page.evaluate(pulse) == "none"
        await tab.page.evaluate(
            """() => new MutationObserver(() => {
              const allow = document.querySelector('.ask .pri');
              if (allow && window.wasInert === undefined) window.wasInert = allow.disabled;
            }).observe(document.getElementById('asks'), { childList: true, subtree: true })"""
        )
        await tell(world.store, "uploads", [*wants_command()])
        await expect(tab.ask.locator(".pri")).to_be_enabled()
        assert await tab.page.evaluate("window.wasInert") is True


async def test_older_messages_load_on_the_way_up_and_the_reader_keeps_their_place(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as world:
        for block in range(10):
            texts = [one for n in range(40) for one in _answer(block * 40 + n)]
            await tell(world.store, "python310", texts, each=0)
        tab = await open_tab(browser, world.url, world.tokens["Mira"], path="/sessions/python310")
        await tab.says("answer number 399")
        frame = next(one for one in tab.page.frames if "/portlet" in one.url)
        assert await frame.evaluate("document.querySelectorAll('.blk').length") <= 62
        await frame.evaluate("scrollTo(0, 0)")
        await expect(tab.well.locator("#col").get_by_text("answer number 330", exact=True)).to_have_count(1)
        assert await frame.evaluate("scrollY") > 0, "the page jumped to the top when older entries came"
        await expect(tab.well.locator(".jump")).to_be_visible()
        await tell(world.store, "python310", _answer(400), each=0)
        await expect(tab.well.locator("#col").get_by_text("answer number 400", exact=True)).to_have_count(1)
        assert (
            not await tab.well.locator("#col")
            .get_by_text("answer number 400", exact=True)
            .evaluate("(one) => one.getBoundingClientRect().top < innerHeight")
        ), "a reader further up was pulled down"
        await tab.well.locator(".jump").click()
        await expect(
            tab.well.locator("#col").get_by_text("answer number 400", exact=True)
        ).to_be_in_viewport()
        await tab.page.keyboard.press("Control+f")
        await tab.page.get_by_label("Find in this conversation").fill("number 399")
        await expect(tab.page.locator(".findbar .hint")).to_have_text("1 of 1")


def _answer(n: int) -> list[Any]:
    return said(f"x{n}", f"answer number {n}")
