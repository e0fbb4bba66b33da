"""The panel beside a session: a changed file keeps its name, and files are found by letters of their path."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub
from tests.parts import Part
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, SIZES, Tab, needs_chromium, open_tab
from tests.web.lantern import lantern
from tests.web.spills import spills
from tests.web.test_page_requests import begun

from bascule.model.events import AnyEvent, Diff, ToolChanged, ToolStarted, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

DEEP = "src/deeply/nested/very/long/path/for/testing/the/cut/of/folders"
LONG_NAME = "a_test_whose_name_says_all_that_it_shows_and_is_longer_than_the_panel_is_wide.py"
CUT = """(one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight
  || one.getBoundingClientRect().right > innerWidth"""


async def open_panel(tab: Tab, part: str, size: Any) -> None:
    """On a phone the panel takes the transcript's place."""
    if size is PHONE:
        await tab.page.locator("#mswitch").get_by_role("button", name=part).tap()
    else:
        await tab.page.get_by_role("button", name="Changes (Ctrl J)").click()
        await tab.page.locator("#panel .segments").get_by_role("button", name=part).first.click()


@SIZES
@pytest.mark.row("X9", "X13")
async def test_a_long_path_among_the_changes_keeps_its_file_name(
    hub: RunningHub, browser: Browser, sizes: Any, part: Part
) -> None:
    edits: list[AnyEvent] = []
    for n, name in enumerate(["settings.py", LONG_NAME]):
        path = f"/code/lantern/{DEEP}/{name}"
        diff = Diff(path, "@@ -1 +1 @@\n-a\n+b\n", 1, 1)
        edits += [ToolStarted(f"t{n}", "Edit", path, "edit"), ToolChanged(f"t{n}", "done", diffs=(diff,))]
    await begun(hub, *edits, TurnEnded("end_turn"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=sizes[0])
    await expect(tab.well.locator(".turn__foot")).to_contain_text("2 files")
    await open_panel(tab, "Changes", sizes[0])
    rows = tab.page.locator(".changed-file")
    names, folders = rows.locator(".changed-file__path b"), rows.locator(".changed-file__path bdi")
    for size in sizes:
        with part(f"{size['width']} wide"):
            await tab.page.set_viewport_size(size)
            await expect(names).to_have_text([LONG_NAME, "settings.py"])
            await expect(folders).to_have_text([f"{DEEP}/"] * 2)
            for n in (0, 1):
                assert not await names.nth(n).evaluate(CUT)
                # The numbers beside it are in sight, too, and the name does not run into the next row.
                assert not await rows.nth(n).evaluate(CUT)
            assert await folders.nth(1).evaluate(CUT), "there is room for all of it: the path is too short"
            assert await spills(tab.page) == []
    assert tab.errors == []


@pytest.mark.parametrize("size", [DESKTOP, LAPTOP, PHONE], ids=["1440x900", "1280x720", "390x844"])
@pytest.mark.row("X9")
async def test_letters_in_the_filter_find_files_of_the_whole_project(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/uploads", size=size)
        await tab.says("Parts are only")
        await open_panel(tab, "Files", size)
        panel = tab.page.locator("#panel")
        rows, field = panel.get_by_role("treeitem"), panel.get_by_label("Filter files")
        await expect(rows.first).to_have_text("api")
        await field.press_sequentially("upl.py")
        names = ["parts.py", "store.py", "service.py"]
        await expect(rows.locator("b")).to_have_text(names)
        await expect(rows.locator("small")).to_have_text(["lantern/upload/"] * 3)
        await field.press_sequentially("zzz")
        await expect(rows).to_have_count(0)
        await expect(panel).to_contain_text("No file matches.")
        await field.fill("prts")
        await expect(rows.locator("b")).to_have_text(["parts.py"])
        await rows.first.click()
        await expect(panel).to_contain_text("Which parts of an upload have arrived")
        # Emptied, the folders are back.
        await field.fill("")
        await expect(rows.first).to_have_text("api")
        assert tab.errors == []
