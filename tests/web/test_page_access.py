"""Every screen can be used without eyes or mouse: axe finds nothing serious, keys do what they should."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, Tab, needs_chromium, open_tab
from tests.web.lantern import lantern, said, tell, wants_command
from tests.web.screens.make_screens import EMPTY, nothing
from tests.web.screens.make_screens import SCREENS as PICTURED
from tests.web.spills import spills

from bascule.model.events import PermissionWithdrawn

pytestmark = [pytest.mark.anyio, needs_chromium]


async def limit_edited(tab: Tab, hub: RunningHub) -> None:
    await tab.page.get_by_role("button", name="Change: Agents working at once").click()


# Those of which there are pictures, and a few more.
SCREENS = {
    **PICTURED,
    "settings-limit-edited": ("Mira", "/settings/limits", limit_edited),
    "settings-notifications": ("Mira", "/settings/notifications", nothing),
    "library": ("Mira", "/library", nothing),
}
AXE = Path(__file__).parent.parent.parent / "web" / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: npm ci in web/")
RUN = """async (without) => (await axe.run({ include: [['html']], exclude: without }, {
    iframes: false, preload: false, resultTypes: ['violations'],
  })).violations
  .filter((one) => ['serious', 'critical'].includes(one.impact))
  .map((one) => one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | '))"""
# The same on every screen: looked at on these alone.
SIDEBAR = ["#side", ".bottom-bar"]
SIDEBAR_SCREENS = ("start", "list", "project-add", "empty")


async def findings(tab: Tab, without: list[str], look: str, seen: set[tuple[str, str]]) -> list[str]:
    """What axe says of the page and of the transcript in view, where that was not seen just so before."""
    shown = await tab.page.locator("#well iframe:not(.away):visible").all()
    frames = [tab.page.main_frame]
    for one in shown:
        handle = await one.element_handle()
        frame = await handle.content_frame() if handle else None
        if frame is None:
            continue
        shape = (look, await frame.evaluate("document.body.innerHTML"))
        if shape not in seen:
            seen.add(shape)
            frames.append(frame)
    found: list[str] = []
    for frame in frames:
        if not await frame.evaluate("typeof axe === 'object'"):
            await frame.evaluate(AXE.read_text())
        found += [f"{frame.url.rsplit('/', 1)[-1]}: {one}" for one in await frame.evaluate(RUN, without)]
    return found


SMALL = """() => {
  const seen = { opacityProperty: true, visibilityProperty: true };
  return [...document.querySelectorAll('button, input, select, textarea, summary, a[href], [role=option]')]
    // Line numbers stand as close as the lines of code they belong to.
    .filter((one) => one.checkVisibility(seen) && !one.closest('.skip, .line-number, [inert]'))
    .map((one) => [one, one.getBoundingClientRect()])
    .filter(([one, box]) => box.width > 0 && box.height > 0 && box.right > 0)
    .filter(([one, box]) => box.height < 43.5 || box.width < 43.5)
    .map(([one, box]) => `${one.outerHTML.slice(0, 99)}: ${Math.round(box.width)}×${Math.round(box.height)}`);
}"""
WIDER = "document.documentElement.scrollWidth > innerWidth"
HEADINGS = "[...document.querySelectorAll('h1')].filter((one) => one.checkVisibility()).length"
# Each screen in both sizes and both themes; every second one the other way round.
LOOKS = ((("dark", DESKTOP), ("light", PHONE)), (("light", DESKTOP), ("dark", PHONE)))


async def look_over(
    tab: Tab, name: str, without: list[str], looks: Any, seen: set[tuple[str, str]]
) -> list[str]:
    found: list[str] = []
    for theme, size in looks:
        await tab.page.emulate_media(color_scheme=theme)
        await tab.page.set_viewport_size(size)
        look = f"{theme} {size['width']}"
        where = f"{name} {look}"
        found += [f"{where} {one}" for one in await findings(tab, without, look, seen)]
        if await tab.page.evaluate(HEADINGS) > 1:
            found.append(f"{where} has two first headings")
        if size is PHONE:
            found += [f"{where} is small: {one}" for one in await tab.page.evaluate(SMALL)]
            if await tab.page.evaluate(WIDER):
                found.append(f"{where} is wider than the phone")
    for size in (DESKTOP, LAPTOP, PHONE):
        await tab.page.set_viewport_size(size)
        found += [f"{name} {size['width']} {one}" for one in await spills(tab.page)]
    return found


SETTINGS = [name for name, (_, path, _) in SCREENS.items() if path.startswith("/settings")]
# Loading the page takes longer than looking at it: where one screen leaves nothing behind that the next would
# meet, one page shows them in turn, reached as a person would. What is in no walk has a page of its own.
WALKS = {
    "around": (
        *("start", "list", "search", "inbox", "question", "ended", "compare-list", "palette", "keys"),
        *("start-failed", "project-add", "library"),
    ),
    "session": ("command", "edit", "plan", "hidden", "calm", "files", "remark", "changes", "share"),
    "machine": (
        *("start-folder", "terminal", "terminal-split", "compare", "compare-diff", "found"),
        "start-progress",
    ),
}
ALONE = [name for name in SCREENS if not any(name in walk for walk in (*WALKS.values(), SETTINGS))]


async def walk_on(tab: Tab, hub: RunningHub, path: str) -> None:
    """To another screen of the same page, with nothing asked, in front of it or beside it."""
    for one in await hub.store.open_requests():
        if one.session_id == "uploads":
            await tell(hub.store, one.session_id, [PermissionWithdrawn(one.request_id, "cancelled")])
            await expect(tab.page.locator(f"[data-key='uploads/{one.request_id}']")).to_have_count(0)
    await tab.page.set_viewport_size({"width": DESKTOP["width"], "height": DESKTOP["height"]})
    await tab.page.keyboard.press("Escape")
    if await tab.page.locator("#panel:visible").count():
        await tab.page.keyboard.press("Control+j")
        await expect(tab.page.locator("#panel")).to_be_hidden()
    await tab.turn_to(path)


async def opened(browser: Browser, hub: RunningHub, name: str, theme: Any) -> Tab:
    who, path, _ = SCREENS[name]
    # Still, so that no colour is seen on its way to another one.
    tab = await open_tab(
        browser, hub.url, hub.tokens.get(who), path=path, color_scheme=theme, reduced_motion="reduce"
    )
    await tab.page.locator("#tabs, .locked").first.wait_for(state="attached")
    await expect(tab.page.locator(".device-row, .locked").first).to_be_visible()
    return tab


@pytest.mark.row("R24")
@needs_axe
async def test_axe_finds_nothing_serious_in_any_part_of_the_settings(
    tmp_path: Path, browser: Browser
) -> None:
    found: list[str] = []
    seen: set[tuple[str, str]] = set()
    async with lantern(tmp_path) as hub:
        tab = await open_tab(
            browser, hub.url, hub.tokens["Mira"], path="/settings/general", reduced_motion="reduce"
        )
        for number, name in enumerate(SETTINGS):
            _, path, act = SCREENS[name]
            await walk_on(tab, hub, path)
            await tab.page.locator(f".settings-body[data-key={path.rsplit('/', 1)[1]}]").wait_for()
            await act(tab, hub)
            found += await look_over(tab, name, SIDEBAR, LOOKS[number % 2], seen)
        assert tab.errors == []
    assert found == [], "\n".join(found)


@pytest.mark.row("R24", "X13")
@needs_axe
@pytest.mark.parametrize("walk", WALKS)
async def test_axe_finds_nothing_serious_on_any_screen_and_no_phone_meets_a_small_target(
    tmp_path: Path, browser: Browser, walk: str
) -> None:
    """Each screen is reached once, then seen both ways."""
    found: list[str] = []
    seen: set[tuple[str, str]] = set()
    first, *others = WALKS[walk]
    async with lantern(tmp_path) as hub:
        tab = await opened(browser, hub, first, LOOKS[0][0][0])
        for number, name in enumerate((first, *others)):
            _, path, act = SCREENS[name]
            if number > 0:
                await walk_on(tab, hub, path)
            await act(tab, hub)
            without = [] if name in SIDEBAR_SCREENS else SIDEBAR
            found += await look_over(tab, name, without, LOOKS[number % 2], seen)
            assert tab.errors == [], name
    assert found == [], "\n".join(found)


@pytest.mark.row("R24", "X13")
@needs_axe
@pytest.mark.parametrize("name", ALONE)
async def test_axe_finds_nothing_serious_on_a_screen_that_needs_a_page_of_its_own(
    tmp_path: Path, browser: Browser, name: str
) -> None:
    async with lantern(tmp_path, empty=name in EMPTY) as hub:
        looks = LOOKS[ALONE.index(name) % 2]
        tab = await opened(browser, hub, name, looks[0][0])
        await SCREENS[name][2](tab, hub)
        found = await look_over(tab, name, [] if name in SIDEBAR_SCREENS else SIDEBAR, looks, set())
        assert tab.errors == []
    assert found == [], "\n".join(found)


@pytest.mark.row("R24", "X13")
def test_every_screen_is_looked_at() -> None:
    walked = [name for walk in WALKS.values() for name in walk]
    assert sorted([*walked, *SETTINGS, *ALONE]) == sorted(SCREENS)


@pytest.mark.row("R24")
async def test_on_a_phone_there_is_one_column_and_every_target_is_44_px(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        await hub.store.searchable()
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions", size=PHONE)
        page = tab.page
        small: list[str] = []

        async def look(name: str) -> None:
            small.extend(f"{name}: {one}" for one in await page.evaluate(SMALL))
            assert not await page.evaluate(WIDER), f"{name} is wider than the phone"

        bar = page.get_by_role("navigation", name="Screens")
        await expect(page.locator(".session-row").first).to_be_visible()
        await look("list")
        await page.get_by_role("button", name="Add a project").click()
        await page.get_by_label("Folder of the project").fill("/code/")
        await expect(page.get_by_role("option").first).to_be_visible()
        await look("project")
        await page.locator("#side .folder-field").get_by_role("button", name="Cancel").click()
        # The menu of a row, without a right button: a long press
        await page.locator(".session-row[data-key=python310]").dispatch_event(
            "contextmenu", {"bubbles": True}
        )
        await expect(page.get_by_role("menuitem", name="Archive")).to_be_visible()
        await look("menu")
        await page.keyboard.press("Escape")
        await page.locator(".searchbox").click()
        await page.get_by_label("Search or run a command").fill("shims")
        await expect(page.get_by_role("group", name="Said in sessions")).to_be_visible()
        await look("palette")
        await page.get_by_role("button", name="all results").click()
        await expect(page.locator(".search-hit")).to_have_count(1)
        await look("search")
        await bar.get_by_role("button", name="New").click()
        await expect(page.get_by_label("Task")).to_be_visible()
        await look("start")
        await page.get_by_label("Task").fill("Summarise the backup logs")
        await page.locator(".start__go").click()
        await expect(page.locator(".failure-card pre")).to_be_visible()
        await look("start-failed")
        await bar.get_by_role("button", name="Inbox").click()
        await expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        await bar.get_by_role("button", name="Sessions").click()
        await page.locator(".session-row[data-key=python310]").click()
        await tab.says("Removed the shims")
        # A session has no bottom bar; its field is at the bottom, and text there is never below 16 px
        await expect(bar).to_be_hidden()
        assert await page.locator("#message").evaluate("(one) => getComputedStyle(one).fontSize") == "16px"
        assert not await page.evaluate(WIDER)
        assert small == [], "\n".join(small)


@pytest.mark.row("X13")
async def test_it_works_at_twice_the_size_in_forced_colours_and_by_keyboard_alone(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        # Twice the size on a 1280 px screen is half the room
        half = {"width": 640, "height": 400}
        zoomed = await open_tab(
            browser,
            hub.url,
            hub.tokens["Mira"],
            path="/sessions/python310",
            size=half,
            device_scale_factor=2,
        )
        await zoomed.says("Removed the shims")
        await expect(zoomed.page.locator("#message")).to_be_in_viewport()
        for path in ("/", "/search", "/settings/browsers", "/sessions"):
            await zoomed.turn_to(path)
            await expect(zoomed.page.get_by_role("navigation", name="Screens")).to_be_visible()
            assert not await zoomed.page.evaluate(WIDER), path
        await zoomed.page.context.close()
        tab = await open_tab(
            browser, hub.url, hub.tokens["Mira"], path="/sessions/python310", forced_colors="active"
        )
        page, keys = tab.page, tab.page.keyboard
        await tab.says("Removed the shims")
        # What has the focus is seen without a shadow; what is chosen without a tint
        await page.locator(".searchbox").focus()
        await keys.press("Tab")
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert await page.evaluate(outline) == "solid"
        assert (
            await page.locator(".session-row.is-selected").evaluate(
                "(one) => getComputedStyle(one).outlineStyle"
            )
            == "solid"
        )
        # The first thing a keyboard meets leads to the composer
        first = "document.querySelector('a[href], button, input, textarea, [tabindex]').className"
        assert await page.evaluate(first) == "skip"
        await page.locator(".skip").press("Enter")
        await expect(page.locator("#message")).to_be_focused()
        # Sidebar, tabs, session bar, well, composer: in that order
        parts = ["side", "tabs", "sbar", "well", "away", "requests", "queue", "composer", "panel"]
        selector = ", ".join(f"#{one}" for one in parts)
        found = await page.locator(selector).evaluate_all("(all) => all.map((one) => one.id)")
        assert found == parts
        assert await page.locator("[tabindex]:not([tabindex='0']):not([tabindex='-1'])").count() == 0
        # The palette gives the focus back to where it came from
        await keys.press("Control+k")
        await expect(page.get_by_role("combobox", name="Search or run a command")).to_be_focused()
        await keys.press("Escape")
        await expect(page.locator("#message")).to_be_focused()
        # Counted in the title and in the icon
        await expect(page).to_have_title("(1) Drop Python 3.10 · Bascule")
        assert (await page.locator("link[rel=icon]").get_attribute("href") or "").startswith("data:image/png")


@pytest.mark.row("A6", "X13")
async def test_keys_reach_every_place_and_stay_out_of_text_fields(tmp_path: Path, browser: Browser) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/python310")
        await tab.says("Removed the shims")
        keys = tab.page.keyboard
        await tab.page.locator("#message").click()
        await keys.type("n?g")
        await expect(tab.page.locator("#message")).to_have_value("n?g")
        await keys.press("Control+b")
        await expect(tab.page.locator("#side")).to_be_hidden()
        await keys.press("Control+b")
        await keys.press("Control+j")
        await expect(tab.page.locator("#panel")).to_be_visible()
        await tab.page.locator(".session-bar h1").evaluate("() => document.activeElement.blur()")
        # A letter soon after others is typing, wherever the focus went.
        await tab.page.wait_for_function(
            "began => performance.now() - began > 2100", arg=await tab.page.evaluate("performance.now()")
        )
        await tab.press_soon("g", "i")
        await expect(tab.page.get_by_role("heading", name="Inbox")).to_be_visible()
        await keys.press("o")
        await expect(tab.page.locator(".session-bar__name h1")).to_have_text("Rework the rate chart")
        await keys.press("Alt+1")
        await expect(tab.page.locator(".session-bar__name h1")).to_have_text("Drop Python 3.10")
        await keys.press("Control+k")
        await keys.type("flaky")
        await keys.press("Enter")
        await expect(tab.page.locator(".session-bar__name h1")).to_have_text("Find the flaky sync test")
        await keys.press("Alt+w")
        await expect(tab.page.locator("#tabs [role=tab]")).to_have_count(2)
        await expect(tab.page).to_have_title("(1) Rework the rate chart · Bascule")


@pytest.mark.row("X13")
async def test_reduced_motion_keeps_the_guard_but_no_pulse(tmp_path: Path, browser: Browser) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(
            browser, hub.url, hub.tokens["Mira"], path="/sessions/uploads", reduced_motion="reduce"
        )
        await tab.says("Parts are only")
        await tab.page.locator(".session-row .status-dot-running").first.wait_for(state="attached")
        dot = "document.querySelector('.session-row .status-dot-running')"
        pulse = f"getComputedStyle({dot}, '::after').animationName"
        assert await tab.page.evaluate(pulse) == "none"
        await tab.page.evaluate(
            """() => new MutationObserver(() => {
              const allow = document.querySelector('.request .is-primary');
              if (allow && window.wasInert === undefined) window.wasInert = allow.disabled;
            }).observe(document.getElementById('requests'), { childList: true, subtree: true })"""
        )
        await tell(hub.store, "uploads", [*wants_command()])
        await expect(tab.ask.locator(".is-primary")).to_be_enabled()
        assert await tab.page.evaluate("window.wasInert") is True


@pytest.mark.row("A7", "X5")
async def test_older_messages_load_on_the_way_up_and_the_reader_keeps_their_place(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        for block in range(10):
            texts = [one for n in range(40) for one in _answer(block * 40 + n)]
            await tell(hub.store, "python310", texts, each=0)
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/python310")
        await tab.says("answer number 399")
        frame = next(one for one in tab.page.frames if "/portlet" in one.url)
        assert await frame.evaluate("document.querySelectorAll('.block').length") <= 62
        # The parts around it are drawn, and the frame has its size: one that changes follows the end.
        await expect(tab.page.locator("#message")).to_be_visible()
        await frame.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(done), 50))")
        await frame.evaluate("scrollTo(0, 0)")
        await expect(tab.well.locator("#col").get_by_text("answer number 330", exact=True)).to_have_count(1)
        assert await frame.evaluate("scrollY") > 0, "the page jumped to the top when older entries came"
        await expect(tab.well.locator(".jump")).to_be_visible()
        await tell(hub.store, "python310", _answer(400), each=0)
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
        await expect(tab.page.locator(".find-bar .hint")).to_have_text("1 of 1")


def _answer(n: int) -> list[Any]:
    return said(f"x{n}", f"answer number {n}")
