"""What searching shows: snippets with room, tools by what they did, each session once, and a way back."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.parts import Part
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, needs_chromium, open_tab
from tests.web.lantern import begin, lantern, said, tell, tool

from bascule.model.events import PromptSent, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

TITLE = "Heron counts for the whole estuary from the first of May to the end of August, by tide"
SNIPPET = "a bittern called twice from the far reeds"


@pytest.mark.row("X4", "X13", "C4")
async def test_a_snippet_has_its_own_line_a_tool_says_what_it_did_and_escape_leads_back(
    tmp_path: Path, browser: Browser, part: Part
) -> None:
    async with lantern(tmp_path) as hub:
        reads = tool("Read", "read", 1, "one\n", file_path="/code/homelab/notes/bittern.md")
        talk = [PromptSent("p1", "Count them", "Mira"), *reads, *said("m1", f"At dawn {SNIPPET}.")]
        await tell(hub.store, "birds", [*begin("/code/homelab", TITLE), *talk, TurnEnded("end_turn")], each=0)
        await hub.store.searchable()
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/inbox", size=LAPTOP)
        page = tab.page
        row = page.locator(".session-row[data-key=birds]")
        await expect(row).to_be_visible()
        with part("a row says its agent and model"):
            assert re.search(
                r"Claude Code · opus.* · birds$", await row.get_attribute("title") or "", re.I | re.M
            )
        for size in (DESKTOP, LAPTOP, PHONE):
            await page.set_viewport_size(size)
            await page.keyboard.press("Control+k")
            await page.keyboard.type("bittern called")
            with part(f"{size['width']} wide, what was said is whole and the title stands below it"):
                option = page.get_by_role("group", name="Said in sessions").get_by_role("option").first
                await expect(option.locator("mark")).to_have_text(["bittern", "called"])
                await expect(option).to_contain_text("Heron counts")
                words = await option.get_by_text("called").first.bounding_box()
                title = await option.get_by_text("Heron counts").bounding_box()
                assert words
                assert title
                assert title["y"] >= words["y"] + words["height"] - 1
                await expect(option).to_contain_text(SNIPPET)
            await page.keyboard.press("Escape")
        await page.set_viewport_size(LAPTOP)
        await page.keyboard.press("Control+k")
        await page.keyboard.type("heron counts")
        with part("what is listed by its name is not listed again for what was said in it"):
            named = page.get_by_role("group", name="Sessions", exact=True).get_by_role("option")
            await expect(named).to_have_count(1)
            await expect(page.get_by_role("group", name="Said in sessions")).to_have_count(0)
        # All results: a tool by what it did, without its JSON.
        await page.keyboard.press("Control+a")
        await page.keyboard.type("bittern")
        await page.keyboard.press("Tab")
        await expect(page).to_have_url(f"{hub.url}/search")
        with part("a tool says what it did, without its JSON"):
            hit = page.locator(".search-hit")
            await page.get_by_role("button", name="more in this session").click()
            await expect(hit).to_contain_text("Read /code/homelab/notes/bittern.md")
            await expect(hit).not_to_contain_text("file_path")
        with part("Escape empties the field, then leads back"):
            field = page.get_by_label("Search in all sessions")
            await field.focus()
            await page.keyboard.press("Escape")
            await expect(field).to_have_value("")
            await page.keyboard.press("Escape")
            await expect(page).to_have_url(f"{hub.url}/inbox")
        assert tab.errors == []
