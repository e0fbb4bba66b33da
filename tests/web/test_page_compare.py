"""One prompt for two agents in the page: started, side by side, compared, one kept, the trees removed."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.daemon.repositories import git, make_repository
from tests.daemon.scripted import MINI
from tests.live import LiveServer
from tests.parts import Part
from tests.web.chrome import needs_chromium, open_tab

pytestmark = [pytest.mark.anyio, needs_chromium]


@pytest.mark.row("X10", "X9")
async def test_two_agents_work_side_by_side_and_one_is_kept(
    short_dir: Path, browser: Browser, part: Part
) -> None:
    server = LiveServer(short_dir)
    for name in ("alpha", "beta"):
        server.add_agent(name, MINI)
    make_repository(server.work)
    async with server:
        added = await server.http.post("/api/projects", json={"path": str(server.work)})
        assert added.status_code == 200, added.text
        tab = await open_tab(browser, server.url, server.token)
        page = tab.page
        await page.get_by_label("Task").fill("write b.txt hello")
        await page.locator(".k-agent").click()
        await page.get_by_role("menuitemradio", name=re.compile("^alpha")).click()
        await page.locator(".k-several").click()
        await page.get_by_role("menuitemradio", name=re.compile("^beta")).click()
        await expect(page.get_by_role("menuitemradio", name=re.compile("^beta"))).to_have_attribute(
            "aria-checked", "true"
        )
        await page.keyboard.press("Escape")
        await expect(page.locator(".k-several")).to_contain_text("2 agents")
        await page.locator(".start__go").click()
        await page.wait_for_url(re.compile("/compare/[0-9a-f]+$"))

        # Side by side, each in its own frame, with what it changed.
        columns = page.locator(".compare-column:visible")
        await expect(columns).to_have_count(2)
        wells = [page.frame_locator(f".compare-column:nth-child({n}) iframe:not(.away)") for n in (1, 2)]
        for well in wells:
            await well.get_by_text("wrote b.txt").first.wait_for()
        with part("each shows what it changed, in a tree of its own"):
            for n in (0, 1):
                await expect(columns.nth(n).locator(".compare-column__facts")).to_contain_text("+1")
            assert not (server.work / "b.txt").exists()
            await expect(page.locator("#side .session-group").first).to_contain_text("2")

        # A message to both.
        box = page.locator(".compare__dock textarea")
        await expect(box).to_have_attribute("placeholder", "Message both agents")
        await box.fill("write c.txt bye")
        await box.press("Enter")
        for well in wells:
            await well.get_by_text("wrote c.txt").first.wait_for()
        with part("what came of a message to both is shown"):
            await expect(columns.nth(0).locator(".compare-column__facts")).to_contain_text("+2")
            await columns.nth(0).get_by_role("button", name="Diff").click()
            await expect(columns.nth(0).locator(".compare-column__files summary")).to_have_text(
                [re.compile("b.txt"), re.compile("c.txt")]
            )

        # One is kept, after a second look; its files are in the working copy, not committed.
        await columns.nth(0).get_by_role("button", name="Keep this one").click()
        await columns.nth(0).get_by_role("button", name="Keep these changes").click()
        remove = page.get_by_role("button", name="Remove the work trees")
        await expect(remove).to_be_visible()
        with part("the files of the one that was kept are in the working copy, not committed"):
            assert (server.work / "b.txt").read_text() == "hello\n"
            assert git(server.work, "status", "--porcelain").split() == ["??", "b.txt", "??", "c.txt"]

        # The trees go only when that is confirmed; the branches keep the work.
        await remove.click()
        sure = page.get_by_role("alertdialog", name="Remove the work trees")
        await expect(sure).to_contain_text("stays on the branches bascule/write-b-txt-hello-")
        await sure.get_by_role("button", name="Remove").click()
        with part("the work trees are gone, and the branches keep the work"):
            await expect(columns.nth(1).locator("footer")).to_contain_text("Removed. The work is on")
            assert git(server.work, "worktree", "list").count("\n") == 1
            assert git(server.work, "branch", "--list", "bascule/*").count("\n") == 2

        with part("the list remembers which one was kept"):
            await tab.turn_to("/compare")
            await expect(page.locator(".compare-overview li")).to_contain_text("kept alpha")

        with part("one agent alone may have a work tree, too"):
            await tab.turn_to("/")
            await page.get_by_label("Task").fill("write d.txt alone")
            tree = page.locator(".screen-start .k-tree")
            await expect(tree).to_have_text(f"In {server.work.name}")
            await tree.click()
            await page.get_by_role("menuitemradio", name=re.compile("^In a work tree")).click()
            await expect(tree).to_have_text("In a work tree")
            await page.locator(".start__go").click()
            await tab.says("wrote d.txt")
            session = (await server.http.get(f"/api/sessions/{page.url.rsplit('/', 1)[-1]}")).json()
            assert (Path(session["cwd"]) / "d.txt").read_text() == "alone\n"
            assert session["worktree_of"] == str(server.work)
            assert not (server.work / "d.txt").exists()
        assert tab.errors == []
        assert tab.strangers == []
