"""Menus, links, modes and paths: one thing floats at a time, and what is shown is what counts."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect
from tests.hub.running_hub import RunningHub, until
from tests.hub.scripted_device import append
from tests.parts import Part
from tests.web.axe import serious
from tests.web.chrome import LAPTOP, PHONE, SIZES, needs_chromium, open_tab
from tests.web.lantern import lantern, said, tell, tool
from tests.web.spills import spills
from tests.web.test_page_requests import begun, wants

from bascule.model.commands import SetMode, SetPermissionMode
from bascule.model.events import ModeChanged, PromptSent, SessionReady, SessionStarted
from bascule.store.base import Batch

pytestmark = [pytest.mark.anyio, needs_chromium]
DEEP = "src/deeply/nested/very/long/path/for/testing/the/cut/of/folders/settings.py"
# Where a note ends, and where the button that sends begins.
APART = """() => {
  const note = document.querySelector('.note')?.getBoundingClientRect();
  const send = document.querySelector('#composer .send')?.getBoundingClientRect();
  return note?.height && send?.height ? [note.bottom, send.top] : null;
}"""
CUT = "(one) => [one.scrollWidth > one.clientWidth, one.textContent]"


@pytest.mark.row("X13")
async def test_a_press_in_the_transcript_escape_and_another_screen_close_what_is_open(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/uploads", size=LAPTOP)
        page, floating = tab.page, tab.page.locator(".menu")
        await tab.says("Parts are only")
        openers = [
            page.locator(".k-mode:visible"),
            page.get_by_role("button", name="Share", exact=True),
            page.locator(".context-meter"),
        ]
        for opener in openers:
            await opener.click()
            await expect(floating).to_have_count(1)
            await tab.well.locator("body").click(position={"x": 20, "y": 200})
            await expect(floating).to_have_count(0)
            await opener.click()
            await expect(floating).to_have_count(1)
            await page.keyboard.press("Escape")
            await expect(floating).to_have_count(0)
            await expect(opener).to_be_focused()
        await openers[2].click()
        await tab.turn_to("/inbox")
        await expect(floating).to_have_count(0)
        assert tab.errors == []


@pytest.mark.row("A10", "X13")
async def test_a_link_opens_beside_itself_and_no_note_lies_over_send(
    hub: RunningHub, browser: Browser
) -> None:
    await begun(hub, *said("m1", "See [the page](https://example.com/a/long/way) and go on."))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=LAPTOP)
    link = tab.well.get_by_role("link", name="the page")
    await link.click()
    card = tab.page.get_by_role("dialog", name="Open this link?")
    await expect(card.locator("p")).to_have_text("https://example.com/a/long/way")
    at, near = await link.bounding_box(), await card.bounding_box()
    assert at
    assert near
    assert abs(near["y"] - at["y"]) < 60
    assert abs(near["x"] - at["x"]) < 200
    await tab.page.keyboard.press("Escape")
    await expect(card).to_have_count(0)
    await expect(tab.page.locator(".link-anchor")).to_have_count(0)
    # A note, when there is one, is nowhere near the button that sends.
    await tab.page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }"
    )
    await link.click()
    # The note is there for seconds only: it is measured when it comes.
    measured = asyncio.create_task(tab.page.wait_for_function(APART), name="measured")
    await card.get_by_role("button", name="Copy").click()
    note, send = await (await measured).json_value()
    assert note < send
    assert tab.errors == []


@SIZES
@pytest.mark.row("A10", "X13")
async def test_a_picture_from_elsewhere_is_opened_by_a_press_as_a_link_is(
    hub: RunningHub, browser: Browser, sizes: Any, part: Part
) -> None:
    pictures = (
        "![A lamp](https://far.example/lamp.png) [![badge](https://far.example/b.svg)](https://ci.example/)"
    )
    await begun(hub, *said("m1", f"See {pictures} ![local](lamp.png)"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=sizes[0])
    card = tab.page.get_by_role("dialog", name="Open this link?")
    lamp = tab.well.get_by_role("link", name="[A lamp: picture from far.example, not loaded]")
    press = Locator.tap if sizes[0] is PHONE else Locator.click
    await tab.page.context.route("https://far.example/**", lambda route: route.fulfill(body="a lamp"))
    for size in sizes:
        with part(f"{size['width']} wide"):
            await tab.page.set_viewport_size(size)
            await press(lamp)
            await expect(card.locator("p")).to_have_text("https://far.example/lamp.png")
            async with tab.page.context.expect_page() as opened:
                await press(card.get_by_role("button", name="Open"))
            await (await opened.value).wait_for_url("https://far.example/lamp.png")
            # One that is a link goes where the link goes; one of a file here goes nowhere.
            await press(tab.well.get_by_role("link", name="badge"))
            await expect(card.locator("p")).to_have_text("https://ci.example/")
            await expect(tab.well.locator("a.is-far")).to_have_count(1)
            await tab.page.keyboard.press("Escape")
            await expect(card).to_have_count(0)
    assert tab.errors == []
    assert tab.strangers == []


@pytest.mark.row("R9")
async def test_one_list_of_modes_and_the_chip_shows_the_one_that_counts(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/python310", size=LAPTOP)
        page, chip = tab.page, tab.page.locator(".k-mode:visible")
        items = page.get_by_role("menuitemradio")
        await expect(chip).to_contain_text("Ask first")
        await chip.click()
        labels = ["Plan", "Ask first", "Allow reading", "Allow all", "Deny all requests", "Accept edits"]
        texts = [text.split("\n")[0] for text in await items.all_inner_texts()]
        assert texts == labels
        # A mode answers what is asked, and nothing else.
        await expect(items.nth(4)).to_contain_text("Everything it asks for is denied.")
        await expect(items.nth(4)).to_contain_text("What it reads without asking is not.")
        await expect(page.locator(".menu [aria-checked=true]")).to_have_count(1)
        await items.nth(0).click()
        await until(lambda: any(isinstance(one, SetMode) for one in hub.device.commands))
        await tell(hub.store, "python310", [ModeChanged("plan")])
        await expect(chip).to_contain_text("Plan")
        # Whoever asks first again leaves the plan mode, too.
        await chip.click()
        await expect(page.locator(".menu [aria-checked=true]")).to_contain_text("Plan")
        await items.nth(1).click()
        await until(lambda: any(isinstance(one, SetPermissionMode) for one in hub.device.commands))
        assert [one.mode for one in hub.device.commands if isinstance(one, SetMode)] == ["plan", "default"]
        assert tab.errors == []


@SIZES
@pytest.mark.row("X13")
async def test_a_long_path_keeps_its_file_and_text_runs_as_it_is_written(
    hub: RunningHub, browser: Browser, sizes: Any, part: Part
) -> None:
    arabic = "# عنوان\n\nمرحبا بالعالم\n\n- بند\n\n> اقتباس\n\n| ملف |\n|--|\n| a.py |\n\nAnd English."
    done = tool("Read", "read", 1, "…", file_path=f"/code/lantern/{DEEP}")
    await begun(hub, *done, *said("m1", arabic), PromptSent("p2", "شكرا", "ana"))
    await append(hub.store, "s1", *said("m2", "Hello"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=sizes[0])
    name, column = tab.well.locator(".is-path b"), tab.well.locator("#col")
    await expect(name).to_be_visible()
    await tab.says("Hello")
    await tab.says("شكرا")
    directions = {
        # A list, a quote and a table run as their first words do: marks and first columns on the right.
        "rtl": [column.locator("h1, ul, li, blockquote, .data-table"), column.locator(".said").nth(1)],
        "ltr": [column.locator("p", has_text="English"), column.locator(".said").first],
    }
    for size in sizes:
        with part(f"the transcript, {size['width']} wide"):
            await tab.page.set_viewport_size(size)
            assert await name.evaluate(CUT) == [False, "settings.py"]
            assert not await column.evaluate("(one) => document.documentElement.scrollWidth > innerWidth")
            for way, elements in directions.items():
                for element in elements:
                    ways = "(all) => [...new Set(all.map((one) => getComputedStyle(one).direction))]"
                    assert await element.evaluate_all(ways) == [way]
    # In a request it wraps and is never cut; in the inbox the folder is cut.
    await append(
        hub.store, "s1", wants("r1", "Write", "edit", file_path=f"/code/lantern/{DEEP}", content="x")
    )
    where = tab.ask.locator(".request__meta.is-top > span").first
    for size in sizes:
        with part(f"a request, {size['width']} wide"):
            await tab.page.set_viewport_size(size)
            await expect(where).to_have_text(DEEP)
            assert await where.evaluate(CUT) == [False, DEEP]
            assert await spills(tab.page) == []
    await tab.turn_to("/inbox")
    row = tab.page.locator(".inbox-row .is-path")
    for size in sizes:
        with part(f"the inbox, {size['width']} wide"):
            await tab.page.set_viewport_size(size)
            await expect(row).to_have_text(DEEP)
            assert await row.locator("b").evaluate(CUT) == [False, "settings.py"]
            assert (await row.locator("span").evaluate(CUT))[0]
    assert tab.errors == []


@pytest.mark.row("X9")
async def test_letters_after_an_at_sign_find_files_of_the_whole_project(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/uploads", size=LAPTOP)
        message = tab.page.locator("#message")
        await tab.says("Parts are only")
        await message.click()
        await tab.page.keyboard.type("Look at @prts")
        await expect(tab.page.locator("#offers [role=option]")).to_have_text(["parts.pylantern/upload/"])
        await tab.page.keyboard.press("Enter")
        await expect(message).to_have_value("Look at @lantern/upload/parts.py ")
        assert tab.errors == []


@SIZES
@pytest.mark.row("C4", "X13")
async def test_the_menu_of_a_session_says_its_agent_model_start_and_id(
    hub: RunningHub, browser: Browser, sizes: Any, part: Part
) -> None:
    started = SessionStarted("scripted", "stream_json", "/code/lantern", "ana", model="opus-9")
    await hub.store.append(Batch("s1", 1, "2026-03-05T14:05:00.000Z", [started, SessionReady("abc")]))
    tab = await open_tab(
        browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=sizes[0], timezone_id="UTC"
    )
    facts = ["Scripted · opus-9", "Started by ana on Mar 5, 14:05", "s1"]
    about = tab.page.locator(".menu .menu__about p")
    more = tab.page.get_by_role("button", name="More", exact=True)
    for size in sizes:
        with part(f"{size['width']} wide"):
            await tab.page.set_viewport_size(size)
            await (more.tap() if sizes[0] is PHONE else more.click())
            await expect(about).to_have_text(facts)
            await about.last.scroll_into_view_if_needed()
            await expect(about.last).to_be_in_viewport()
            assert await serious(tab) == []
            await tab.page.keyboard.press("Escape")
            if sizes[0] is not PHONE:
                row = tab.page.locator(".session-row-wrap[data-key=s1]").first
                await row.hover()
                await row.get_by_role("button", name="More for").click()
                await expect(about).to_have_text(facts)
                await tab.page.keyboard.press("Escape")
            await expect(about).to_have_count(0)
    assert tab.errors == []


@SIZES
@pytest.mark.row("C4", "X13")
async def test_a_sessions_menu_takes_the_height_there_is(
    tmp_path: Path, browser: Browser, sizes: Any, part: Part
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/python310", size=sizes[0])
        menu = tab.page.get_by_role("menu")
        # Only what the screen has no room for is scrolled.
        room = (
            "(one) => [one.scrollHeight - one.clientHeight, innerHeight - one.getBoundingClientRect().bottom]"
        )
        for size in sizes:
            with part(f"{size['width']} wide"):
                await tab.page.set_viewport_size(size)
                await tab.page.locator("#sbar").get_by_role("button", name="More", exact=True).click()
                await expect(menu).to_be_in_viewport(ratio=1)
                await expect(menu.locator(".menu__about .mono")).to_be_in_viewport(ratio=1)
                hidden, below = await menu.evaluate(room)
                assert hidden <= 1 or below <= 12
                await tab.page.keyboard.press("Escape")
                await expect(menu).to_have_count(0)
        assert tab.errors == []


async def test_the_key_of_a_menus_item_stands_at_its_end_not_below(tmp_path: Path, browser: Browser) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/uploads", size=LAPTOP)
        await tab.says("Parts are only")
        await tab.page.locator("#session").get_by_role("button", name="More").click()
        item = tab.page.get_by_role("menuitem", name="Find in this conversation")
        await item.wait_for()
        assert await item.locator("kbd").count() == 1
        row, key = await item.bounding_box(), await item.locator("kbd").bounding_box()
        assert row
        assert key
        assert abs(row["y"] + row["height"] / 2 - key["y"] - key["height"] / 2) < 2
        assert row["x"] + row["width"] - key["x"] - key["width"] < 16
