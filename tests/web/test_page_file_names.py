"""Files with names that every JavaScript object inherits, in a real git project: in Files and in Changes."""

import re

import pytest
from playwright.async_api import Browser, expect
from tests.daemon.repositories import git
from tests.live import LiveServer
from tests.web.chrome import DESKTOP, needs_chromium, open_tab
from tests.web.pollution import assert_unpolluted
from tests.web.test_page_panel import open_panel

pytestmark = [pytest.mark.anyio, needs_chromium]

FILES = ("__proto__", "constructor", "hasOwnProperty", "toString/__proto__", "valueOf/constructor")


@pytest.mark.row("F3", "S36")
async def test_files_with_inherited_names_are_listed_opened_and_compared(
    server: LiveServer, browser: Browser
) -> None:
    git(server.work, "init", "-q", "-b", "main")
    for name in FILES:
        (server.work / name).parent.mkdir(exist_ok=True)
        (server.work / name).write_text(f"old {name}\n")
    git(server.work, "add", ".")
    git(server.work, "commit", "-q", "-m", "constructor")
    for name in FILES:
        (server.work / name).write_text(f"new {name}\n")
    (server.work / "prototype").write_text("new prototype\n")
    session = await server.create("think")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("think")
    page, panel = tab.page, tab.page.locator("#panel")

    await open_panel(tab, "Files", DESKTOP)
    rows = panel.get_by_role("treeitem")
    for folder in ("toString", "valueOf"):
        await rows.filter(has_text=folder).click()
    shown = ["toString", "__proto__", "valueOf", "constructor", "__proto__", "constructor", "hasOwnProperty"]
    await expect(rows).to_have_text([re.compile(rf"^{name}(\d+ B)?$") for name in (*shown, "prototype")])
    for number, path in ((1, FILES[3]), (3, FILES[4]), (4, FILES[0]), (5, FILES[1]), (6, FILES[2])):
        await rows.nth(number).click()
        await expect(panel.locator(".file-view__text")).to_contain_text(f"new {path}")
    await panel.get_by_label("Filter files").fill("proto")
    await expect(rows.locator("b")).to_have_count(3)
    await panel.locator('[role=treeitem][title="toString/__proto__"]').click()
    await expect(panel.locator(".file-view__text")).to_contain_text("new toString/__proto__")
    await panel.get_by_label("Filter files").fill("")

    await panel.locator(".segments").get_by_role("button", name="Changes").first.click()
    await panel.locator(".chip").first.click()
    await page.get_by_role("menuitemradio", name="Since the last commit").click()
    changed = panel.locator(".changed-file")
    await expect(changed).to_have_count(len(FILES) + 1)
    for path in (*FILES, "prototype"):
        await panel.locator(f'.changed-file:has(.changed-file__path[title="{path}"])').click()
        await expect(panel).to_contain_text(f"new {path}")
        if path != "prototype":
            await expect(panel).to_contain_text(f"old {path}")
    assert tab.errors == []
    await assert_unpolluted(browser)
