"""What is offered while one types: commands after a slash, folders in a path, and what a folder holds."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub
from tests.hub.scripted_device import ANSWERS, append
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, needs_chromium, open_tab
from tests.web.lantern import lantern
from tests.web.test_page_requests import begun

from bascule.link.files import FindFiles, FoundFiles
from bascule.model.events import CommandsChanged, Diff, SlashCommand, ToolChanged, ToolStarted, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

SIZES = (DESKTOP, LAPTOP, PHONE)
LONG = "Investigates a question with several searches, reads what it finds, compares it and writes a report."
# In one go, as fast as no answer can come.
TYPED_AND_TAB = """(field, text) => {
  field.value = text;
  field.dispatchEvent(new InputEvent('input', {bubbles: true}));
  field.dispatchEvent(new KeyboardEvent('keydown', {key: 'Tab', bubbles: true, cancelable: true}));
}"""
IS_CUT = "(one) => one.scrollWidth > one.clientWidth + 1 || one.getClientRects().length > 1"


async def test_a_command_keeps_its_name_on_one_line_and_the_chosen_one_is_described_whole(
    hub: RunningHub, browser: Browser
) -> None:
    commands = (SlashCommand("compact", "Shorter"), SlashCommand("deep-research:everything-there-is", LONG))
    await begun(hub, CommandsChanged(commands), TurnEnded("end_turn"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    page = tab.page
    await tab.says("Hello")
    options = page.locator("#offers [role=option]")
    for size in SIZES:
        await page.set_viewport_size(size)
        await page.locator("#message").fill("")
        await page.locator("#message").press_sequentially("/")
        await expect(options).to_have_count(2)
        await page.keyboard.press("ArrowDown")
        chosen = options.nth(1)
        await expect(chosen).to_have_attribute("aria-selected", "true")
        assert not await chosen.locator("b").evaluate(IS_CUT)
        name, note = await chosen.locator("b").bounding_box(), await chosen.locator("small").bounding_box()
        assert name
        assert note
        assert note["y"] >= name["y"] + name["height"] - 1
        assert not await chosen.locator("small").evaluate("(one) => one.scrollHeight > one.clientHeight + 1")
        await expect(chosen).to_be_in_viewport(ratio=1)
        await page.keyboard.press("Escape")
    assert tab.errors == []


@pytest.mark.row("A4")
async def test_a_folder_is_completed_while_one_types_and_says_what_it_holds(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/inbox")
        page = tab.page
        await page.get_by_role("button", name="Add a project").click()
        field, form = page.locator("#side .folder-field input"), page.locator("#side .folder-field")
        await field.click()
        await field.press_sequentially("/code/lant")
        await expect(form.get_by_role("option")).to_have_text(["/code/lantern", "/code/lantern-docs"])
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await expect(field).to_have_value("/code/lantern/")
        await page.keyboard.press("Tab")
        verdict = form.locator(".folder-field__ok")
        await expect(verdict).to_have_text("git, 1,204 files")
        await expect(verdict).to_be_in_viewport(ratio=1)
        await field.fill("/code/lantern-docs")
        await page.keyboard.press("Tab")
        await expect(verdict).to_have_text("can be used")
        # The only offer is for what stood there before: Tab does not put it in place of what was typed since.
        await field.fill("/code/lantern-doc")
        await expect(form.get_by_role("option")).to_have_text(["/code/lantern-docs"])
        await field.evaluate(TYPED_AND_TAB, "/code/nothing")
        await expect(field).to_have_value("/code/nothing")
        await page.keyboard.press("Tab")
        await expect(form.locator(".error-message")).to_contain_text("There is no folder /code/nothing.")
        await expect(verdict).to_be_hidden()
        assert tab.errors == []


@pytest.mark.row("X9")
async def test_a_plan_that_the_agent_keeps_for_itself_is_no_change_of_the_project(
    hub: RunningHub, browser: Browser
) -> None:
    await begun(hub)
    for n, path in enumerate(["/code/lantern/wick.py", "/srv/ana/.claude/plans/trim.md"]):
        started = ToolStarted(f"t{n}", "Edit", path, "edit")
        diff = Diff(path, "@@ -1 +1 @@\n-a\n+b\n", 1, 1)
        await append(hub.store, "s1", started, ToolChanged(f"t{n}", "done", diffs=(diff,)))
    await append(hub.store, "s1", TurnEnded("end_turn"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    await expect(tab.well.locator(".turn__foot")).to_contain_text("1 file")
    await tab.page.get_by_role("button", name="Changes (Ctrl J)").click()
    await expect(tab.page.locator(".changed-file")).to_have_text([re.compile("wick.py")])
    assert tab.errors == []


async def test_a_file_that_no_longer_fits_is_not_offered_while_better_ones_are_looked_for(
    hub: RunningHub, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begun(hub, TurnEnded("end_turn"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    await tab.says("Hello")
    field, options = tab.page.locator("#message"), tab.page.locator("#offers [role=option] b")
    monkeypatch.setitem(ANSWERS, FindFiles, lambda _: FoundFiles(["passwd", "src/main.py"]))
    await field.click()
    await field.press_sequentially("See @s")
    await expect(options).to_have_text(["passwd", "main.py"])
    hub.device.mute = True
    await field.press("r")
    await expect(options).to_have_text(["main.py"])
    await field.press("Enter")
    await expect(field).to_have_value("See @src/main.py ")
    assert tab.errors == []
