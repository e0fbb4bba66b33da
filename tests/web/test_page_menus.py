"""Menus, links, modes and paths: one thing floats at a time, and what is shown is what counts."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect
from tests.hub.running_hub import RunningHub, until
from tests.hub.scripted_device import append
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, needs_chromium, open_tab
from tests.web.lantern import lantern, said, tell, tool
from tests.web.spills import spills
from tests.web.test_page_requests import begun, wants

from bascule.model.commands import SetMode, SetPermissionMode
from bascule.model.events import ModeChanged, PromptSent, SessionReady, SessionStarted
from bascule.store.base import Batch

pytestmark = [pytest.mark.anyio, needs_chromium]
DEEP = "src/deeply/nested/very/long/path/for/testing/the/cut/of/folders/settings.py"
SIZES = pytest.mark.parametrize("size", [DESKTOP, LAPTOP, PHONE], ids=["desktop", "laptop", "phone"])
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
    await card.get_by_role("button", name="Copy").click()
    note = await tab.page.locator(".note").bounding_box()
    send = await tab.page.get_by_role("button", name="Send", exact=True).bounding_box()
    assert note
    assert send
    assert note["y"] + note["height"] < send["y"]
    assert tab.errors == []


@SIZES
@pytest.mark.row("A10", "X13")
async def test_a_picture_from_elsewhere_is_opened_by_a_press_as_a_link_is(
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    pictures = (
        "![A lamp](https://far.example/lamp.png) [![badge](https://far.example/b.svg)](https://ci.example/)"
    )
    await begun(hub, *said("m1", f"See {pictures} ![local](lamp.png)"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=size)
    card = tab.page.get_by_role("dialog", name="Open this link?")
    lamp = tab.well.get_by_role("link", name="[A lamp: picture from far.example, not loaded]")
    press = Locator.tap if size is PHONE else Locator.click
    await press(lamp)
    await expect(card.locator("p")).to_have_text("https://far.example/lamp.png")
    await tab.page.context.route("https://far.example/**", lambda route: route.fulfill(body="a lamp"))
    async with tab.page.context.expect_page() as opened:
        await press(card.get_by_role("button", name="Open"))
    assert (await opened.value).url == "https://far.example/lamp.png"
    # One that is a link goes where the link goes; one of a file here goes nowhere.
    await press(tab.well.get_by_role("link", name="badge"))
    await expect(card.locator("p")).to_have_text("https://ci.example/")
    await expect(tab.well.locator("a.is-far")).to_have_count(1)
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
        labels = ["Plan", "Ask first", "Allow reading", "Allow all", "Deny everything", "Accept edits"]
        texts = [text.split("\n")[0] for text in await items.all_inner_texts()]
        assert texts == labels
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
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    arabic = "# عنوان\n\nمرحبا بالعالم\n\n- بند\n\n> اقتباس\n\n| ملف |\n|--|\n| a.py |\n\nAnd English."
    done = tool("Read", "read", 1, "…", file_path=f"/code/lantern/{DEEP}")
    await begun(hub, *done, *said("m1", arabic), PromptSent("p2", "شكرا", "ana"))
    await append(hub.store, "s1", *said("m2", "Hello"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=size)
    name, column = tab.well.locator(".is-path b"), tab.well.locator("#col")
    await expect(name).to_be_visible()
    assert await name.evaluate(CUT) == [False, "settings.py"]
    assert not await column.evaluate("(one) => document.documentElement.scrollWidth > innerWidth")
    directions = {
        # A list, a quote and a table run as their first words do: marks and first columns on the right.
        "rtl": [column.locator("h1, ul, li, blockquote, .data-table"), column.locator(".said").nth(1)],
        "ltr": [column.locator("p", has_text="English"), column.locator(".said").first],
    }
    for way, elements in directions.items():
        for element in elements:
            ways = "(all) => [...new Set(all.map((one) => getComputedStyle(one).direction))]"
            assert await element.evaluate_all(ways) == [way]
    # In a request it wraps and is never cut; in the inbox the folder is cut.
    await append(
        hub.store, "s1", wants("r1", "Write", "edit", file_path=f"/code/lantern/{DEEP}", content="x")
    )
    where = tab.ask.locator(".request__meta.is-top > span").first
    await expect(where).to_have_text(DEEP)
    assert await where.evaluate(CUT) == [False, DEEP]
    assert await spills(tab.page) == []
    await tab.turn_to("/inbox")
    row = tab.page.locator(".inbox-row .is-path")
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
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    started = SessionStarted("scripted", "stream_json", "/code/lantern", "ana", model="opus-9")
    await hub.store.append(Batch("s1", 1, "2026-03-05T14:05:00.000Z", [started, SessionReady("abc")]))
    tab = await open_tab(
        browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=size, timezone_id="UTC"
    )
    facts = ["Scripted · opus-9", "Started by ana on Mar 5, 14:05", "s1"]
    about = tab.page.locator(".menu .menu__about p")
    more = tab.page.get_by_role("button", name="More", exact=True)
    await (more.tap() if size is PHONE else more.click())
    await expect(about).to_have_text(facts)
    await about.last.scroll_into_view_if_needed()
    await expect(about.last).to_be_in_viewport()
    assert await serious(tab) == []
    await tab.page.keyboard.press("Escape")
    if size is not PHONE:
        row = tab.page.locator(".session-row-wrap[data-key=s1]").first
        await row.hover()
        await row.get_by_role("button", name="More for").click()
        await expect(about).to_have_text(facts)
    assert tab.errors == []
