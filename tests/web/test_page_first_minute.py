"""The first minute: something to do is in sight, any first words start a session, and typing goes on."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from tests.live import LiveServer
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, needs_chromium, open_tab

from bascule.model.events import TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

SIZES = pytest.mark.parametrize("size", [DESKTOP, LAPTOP, PHONE], ids=["desktop", "laptop", "phone"])
DEFAULTS = "# no limit is set here\n"
FOCUSED = "document.activeElement.id"


async def in_sight(page: Page, *selectors: str) -> list[str]:
    """Those of them that are not wholly on the screen, nor behind the bar at its foot."""
    bar = await page.locator("#bnav").bounding_box()
    foot = bar["y"] if bar else page.viewport_size["height"] if page.viewport_size else 0
    missing: list[str] = []
    for selector in selectors:
        box = await page.locator(selector).first.bounding_box()
        if box is None or box["y"] < 0 or box["y"] + box["height"] > foot:
            missing.append(selector)
    return missing


FOCUSED_AFTER_CLICK = """async button => {
  button.focus();
  button.click();
  await null;
  return document.activeElement.id;
}"""

START_AND_SEARCH = """area => {
  const press = more =>
    area.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...more }));
  press({ key: 'Enter' });
  press({ key: 'k', ctrlKey: true });
}"""


@pytest.mark.row("R7", "X13")
@SIZES
async def test_a_newcomer_sees_the_composer_the_demo_and_how_to_install_the_others(
    short_dir: Path, browser: Browser, size: Any
) -> None:
    async with LiveServer(short_dir) as server:
        tab = await open_tab(browser, server.url, server.token, size=size)
        page = tab.page
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        try_it = page.get_by_role("button", name="Try it")
        await expect(try_it).to_be_visible()
        more = page.locator(".installable summary")
        await expect(more).to_contain_text("more agents can be installed")
        places = "#task", ".start__go", ".agent-list li button", ".installable summary"
        assert await in_sight(page, *places) == []
        assert await serious(tab) == []
        # The task field is first, and has the focus where that brings up no keyboard.
        if size is not PHONE:
            await expect(page.locator("#task")).to_be_focused()
        # How to install one, ready to be pasted. The button itself says that it is copied.
        codex = page.locator(".installable li[data-key=codex]")
        await expect(codex).to_be_hidden()
        await more.click()
        await expect(codex.locator("code")).to_have_text("npm install -g @openai/codex")
        copy = codex.get_by_role("button", name="Copy the command that installs Codex")
        await copy.click()
        await expect(copy).to_have_attribute("data-copied", "")
        await expect(page.locator(".note")).to_have_count(0)
        assert await page.evaluate("navigator.clipboard.readText()") == "npm install -g @openai/codex"
        # One press, and it works.
        await try_it.click()
        await tab.says("Show me around")
        assert "/sessions/" in page.url
        if size is not PHONE:
            await expect(page.locator("#message, #requests .question")).to_be_focused()
        assert tab.errors == []


@pytest.mark.row("R7", "R8", "X13")
@pytest.mark.parametrize("size", [DESKTOP, LAPTOP], ids=["desktop", "laptop"])
async def test_any_first_words_start_a_session_and_typing_goes_on_where_one_is(
    short_dir: Path, browser: Browser, size: Any
) -> None:
    async with LiveServer(short_dir) as server:
        tab = await open_tab(browser, server.url, server.token, size=size)
        page, keys, task = tab.page, tab.page.keyboard, tab.page.locator("#task")
        await expect(page.get_by_role("button", name="Try it")).to_be_visible()
        # Pressed while there already: letters go into the field, none of them is a shortcut.
        new = page.get_by_role("button", name="New session N")
        # The next key may come at once, and finds the field focused.
        assert await new.evaluate(FOCUSED_AFTER_CLICK) == "task"
        await new.click()
        await keys.type("think")
        await expect(task).to_have_value("think")
        await task.fill("hi")
        await task.press("Shift+Enter")
        await keys.type("you")
        await expect(task).to_have_value("hi\nyou")
        await task.fill("hello")
        await task.press("Enter")
        await tab.says("hello")
        await expect(page.locator("#message")).to_be_focused()
        await keys.type("never mind")
        await expect(page.locator("#message")).to_have_value("never mind")
        # Letters amid others are typing, also where no field has the focus; N alone is a shortcut.
        await page.evaluate("document.activeElement.blur()")
        await tab.press_soon(*"and on")
        assert "/sessions/" in page.url
        await page.wait_for_function(
            "began => performance.now() - began > 2100", arg=await page.evaluate("performance.now()")
        )
        await keys.press("n")
        await expect(task).to_be_focused()
        assert tab.errors == []


@pytest.mark.row("R7", "R8", "X13")
async def test_on_a_phone_any_first_words_start_a_session_and_the_keyboard_comes_only_where_one_taps(
    short_dir: Path, browser: Browser
) -> None:
    async with LiveServer(short_dir) as server:
        tab = await open_tab(browser, server.url, server.token, size=PHONE)
        page, keys, task = tab.page, tab.page.keyboard, tab.page.locator("#task")
        await expect(page.get_by_role("button", name="Try it")).to_be_visible()
        assert await page.evaluate(FOCUSED) != "task"
        await page.locator("#bnav").get_by_role("button", name="New").tap()
        await expect(task).to_be_visible()
        assert await page.evaluate(FOCUSED) != "task"
        await task.tap()
        await expect(task).to_be_focused()
        await keys.type("think")
        await expect(task).to_have_value("think")
        await page.locator(".start__go").tap()
        await tab.says("I have thought")
        # The answer is in sight, not behind a keyboard.
        message = page.locator("#message")
        await expect(message).to_be_visible()
        assert await page.evaluate(FOCUSED) != "message"
        assert await in_sight(page, "#message", "#composer .send") == []
        await message.tap()
        await keys.type("never mind")
        await expect(message).to_have_value("never mind")
        assert tab.errors == []


@pytest.mark.row("R7", "R15", "X13")
@SIZES
async def test_beside_three_idle_sessions_a_fourth_starts_and_works_with_the_limits_as_they_come(
    short_dir: Path, browser: Browser, size: Any
) -> None:
    async with LiveServer(short_dir, config=DEFAULTS) as server:
        idle = [await server.create(f"think about {n}") for n in range(3)]
        for session in idle:
            await server.wait_for(session, TurnEnded)
        tab = await open_tab(browser, server.url, server.token, size=size)
        page, task = tab.page, tab.page.locator("#task")
        await expect(page.locator(".k-agent")).to_contain_text("Demo")
        await (task.tap() if size is PHONE else task.click())
        await page.keyboard.type("think once more")
        await (page.locator(".start__go").tap() if size is PHONE else page.keyboard.press("Enter"))
        await tab.says("I have thought")
        await expect(page.locator(".pill")).to_have_text("Ready")
        fourth = page.url.rsplit("/", 1)[-1]
        assert fourth not in idle
        # Nobody was ended for it.
        listed = (await server.http.get("/api/sessions")).json()["sessions"]
        assert {one["session_id"]: one["phase"] for one in listed} == dict.fromkeys(
            [*idle, fourth], "waiting"
        )
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert tab.errors == []


@pytest.mark.row("R7", "X13")
async def test_a_session_that_begins_leaves_the_search_that_was_opened_meanwhile_alone(
    short_dir: Path, browser: Browser
) -> None:
    async with LiveServer(short_dir) as server:
        tab = await open_tab(browser, server.url, server.token, size=LAPTOP)
        task = tab.page.locator("#task")
        await expect(tab.page.get_by_role("button", name="Try it")).to_be_visible()
        await task.fill("hello")
        await task.evaluate(START_AND_SEARCH)
        await tab.page.wait_for_url("**/sessions/*")
        await tab.says("hello")
        await expect(tab.page.get_by_role("combobox", name="Search or run a command")).to_be_focused()
        assert tab.errors == []
