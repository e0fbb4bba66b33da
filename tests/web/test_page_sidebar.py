"""The sidebar: projects and sessions, added, found, put away and taken back."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.live import LiveServer
from tests.parts import Part
from tests.web.chrome import Tab, needs_chromium, open_tab
from tests.web.lantern import PULL, lantern, said, tell

from bascule.link.machine import CheckDirectory
from bascule.model.events import SessionReady, SessionStarted, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]


def groups(tab: Tab):
    return tab.page.locator(
        ".session-group:is([data-key^='project '], [data-key^='folder ']) .session-group__name"
    )


@pytest.mark.row(
    "TC-1.1a",
    "TC-1.1b",
    "TC-1.2a",
    "TC-1.2b",
    "TC-1.2c",
    "TC-1.2d",
    "TC-1.4a",
    "TC-1.4b",
    "TC-2.1a",
    "C4",
    "TC-2.1c",
    "TC-4.7a",
    "A4",
    "A11",
)
async def test_projects_come_and_stay(server: LiveServer, browser: Browser, part: Part) -> None:
    zebra, ant = server.work / "zebra", server.work / "ant"
    zebra.mkdir()
    ant.mkdir()
    tab = await open_tab(browser, server.url, server.token)
    page = tab.page
    # TC-1.1b: nothing yet, and how to begin
    await expect(page.locator(".groups")).to_contain_text("Projects and their sessions will be listed here.")
    first = page.get_by_label("Add your first project")
    await expect(first).to_be_visible()
    # TC-1.2b
    with part("a folder that is not there is refused beside its field"):
        await first.fill(str(server.work / "nothing"))
        await page.get_by_role("button", name="Add project").click()
        await expect(page.locator(".screen-start .error-message[role=alert]")).to_contain_text(
            "There is no folder"
        )
    # TC-1.2a: completed and added
    await first.fill(str(server.work / "ze"))
    await expect(page.get_by_role("option")).to_have_count(1)
    await first.press("ArrowDown")
    await first.press("Enter")
    await expect(first).to_have_value(f"{zebra}/")
    await page.get_by_role("button", name="Add project").click()
    await expect(groups(tab)).to_have_text(["zebra"])
    # TC-1.2c
    await page.get_by_role("button", name="Add a project").click()
    field = page.get_by_label("Folder of the project")
    await field.fill(str(ant))
    await page.locator("#side .folder-field").get_by_role("button", name="Cancel").click()
    with part("begun and cancelled, nothing is added"):
        await expect(field).to_have_count(0)
        listed = (await server.http.get("/api/projects")).json()["projects"]
        assert [one["path"] for one in listed] == [str(zebra)]
    # TC-1.2d: not twice
    await page.get_by_role("button", name="Add a project").click()
    await field.fill(str(zebra))
    await page.locator("#side .folder-field").get_by_role("button", name="Add", exact=True).click()
    await expect(page.locator("#side .error-message")).to_contain_text("is already here")
    # TC-1.1a: in the order they came, whatever their names are
    await field.fill(str(ant))
    await page.locator("#side .folder-field").get_by_role("button", name="Add", exact=True).click()
    await expect(groups(tab)).to_have_text(["zebra", "ant"])
    # TC-2.1a, TC-2.1c: a session with its title, age, state and agent; a project without one says so
    session = await server.create("think", cwd=str(zebra), title="Look at the stripes")
    row = page.locator(f".session-row[data-key='{session}']")
    with part("a session is listed with its title, age, state and agent"):
        await expect(row.locator(".session-row__title")).to_have_text("Look at the stripes")
        await expect(row.locator(".session-row__age")).to_have_text("now")
        await expect(row.get_by_role("img", name="Ready")).to_be_visible()
        await expect(row.locator(".agent-mark")).to_be_visible()
        about = await row.get_attribute("title") or ""
        assert "Remote" not in about
        # C4: and its model where it has one, when it was started, its id
        assert re.search(rf"started at \d\d:\d\d · {session}$", about, re.MULTILINE)
    await expect(page.get_by_role("region", name="ant")).to_contain_text("No sessions here yet.")
    # TC-1.4a: folded away
    await page.get_by_role("button", name="zebra 1").click()
    await expect(row).to_have_count(0)
    # TC-1.4b, TC-4.7a
    await tab.turn_to(f"/sessions/{session}")
    await tab.says("I have thought")
    await server.kill()
    await server.start()
    await page.reload()
    await expect(page.locator("#tabs [role=tab]")).to_have_count(1)
    await tab.says("I have thought")
    with part("all of it is still so after the server was killed and the page loaded again"):
        await expect(groups(tab)).to_have_text(["zebra", "ant"])
        await expect(page.get_by_role("button", name="zebra 1")).to_have_attribute("aria-expanded", "false")
        await expect(row).to_have_count(0)
    assert tab.errors == []


@pytest.mark.row("TC-1.3a", "TC-1.3b", "TC-2.1b", "TC-2.4a", "TC-2.4b", "R13", "A11")
async def test_projects_and_sessions_are_put_away_and_come_back(
    tmp_path: Path, browser: Browser, part: Part
) -> None:
    async with lantern(tmp_path) as hub:
        mine = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/python310")
        other = await open_tab(browser, hub.url, hub.tokens["operator"], path="/sessions/rates")
        await mine.says("Removed the shims")
        rows = mine.page.get_by_role("region", name="lantern").locator(".session-row .session-row__title")
        # TC-2.1b
        with part("those that work come first, then the latest"):
            order = ["Resume interrupted uploads", "Find the flaky sync test", "Drop Python 3.10"]
            await expect(rows).to_have_text([*order, "Changelog for 2.4"])
        # R13
        done = mine.page.locator(".session-row[data-key=python310]")
        with part("a row says more than its title"):
            await expect(done.get_by_label("112 added, 340 removed")).to_be_visible()
            await expect(done.get_by_label("pull request #218")).to_be_visible()
            assert f"{PULL}" in (await done.get_attribute("title") or "")
            await expect(
                mine.page.locator(".session-row[data-key=rates] .session-row__details")
            ).to_contain_text("2 questions")
            await expect(
                mine.page.locator(".session-row[data-key=backup] .session-row__details")
            ).to_contain_text("Failed")
        with part("renamed in one browser, it is renamed in the other"):
            await done.hover()
            await mine.page.get_by_role("button", name="More for Drop Python 3.10").click()
            await mine.page.get_by_role("menuitem", name="Rename").click()
            await mine.page.get_by_label("Title", exact=True).fill("Drop old Pythons")
            await mine.page.keyboard.press("Enter")
            await expect(
                other.page.locator(".session-row[data-key=python310] .session-row__title")
            ).to_have_text("Drop old Pythons")
        # TC-2.4a, TC-2.4b
        await other.page.locator(".session-row[data-key=python310]").click()
        await expect(other.page.locator("#tabs [role=tab]")).to_have_count(2)
        await done.click(button="right")
        await mine.page.get_by_role("menuitem", name="Archive").click()
        with part("archived by one, its tab closes for both"):
            for tab in (mine, other):
                await expect(tab.page.locator(".session-row[data-key=python310]")).to_have_count(0)
            await expect(mine.page.locator("#tabs [role=tab]")).to_have_count(0)
            await expect(other.page.locator("#tabs [role=tab]")).to_have_count(1)
        await mine.page.get_by_role("button", name="Archived").click()
        await mine.page.locator(".session-row[data-key=python310]").click(button="right")
        await mine.page.get_by_role("menuitem", name="Unarchive").click()
        await expect(other.page.locator(".session-row[data-key=python310]")).to_have_count(1)
        # TC-1.3b
        await mine.page.locator(".session-row[data-key=rates]").click()
        await expect(mine.page.locator("#tabs [role=tab]")).to_have_count(1)
        await mine.page.get_by_role("button", name="tidechart 1").click(button="right")
        await mine.page.get_by_role("menuitem", name="Remove from the list").click()
        with part("the tabs of a removed project close in both"):
            for tab in (mine, other):
                await expect(tab.page.locator("#tabs [role=tab]")).to_have_count(0)
                await expect(tab.page.locator(".groups")).to_contain_text("Other folders")
        await mine.told("Its session is kept under Other folders.")
        # TC-1.3a: its sessions are there, and in it again when it comes back
        await expect(mine.page.locator(".session-row[data-key=rates]")).to_be_visible()
        await mine.page.get_by_role("button", name="Undo").click()
        with part("with Undo the project has its session again"):
            await expect(groups(other)).to_have_text(["lantern", "tidechart", "homelab"])
            await expect(
                other.page.get_by_role("region", name="tidechart").locator(".session-row")
            ).to_have_count(1)
        assert [command.path for command in hub.device.commands if isinstance(command, CheckDirectory)] == [
            "/code/tidechart"
        ]
        assert mine.errors == other.errors == []


@pytest.mark.row("X4", "R13")
async def test_a_search_jumps_to_the_very_message(tmp_path: Path, browser: Browser, part: Part) -> None:
    async with lantern(tmp_path) as hub:
        started = SessionStarted("codex", "stream_json", "/code/homelab", "Mira")
        early = [said(f"a{n}", f"note {n} about the weather") for n in range(30)]
        late = [said(f"b{n}", f"note {n} about the tide") for n in range(20)]
        events = [
            started,
            SessionReady("c"),
            *[one for entry in early for one in entry],
            *said("heron", "A heron stands in the reeds."),
            *[one for entry in late for one in entry],
            TurnEnded("end_turn"),
        ]
        await tell(hub.store, "birds", events, each=0)
        await hub.store.searchable()
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"])
        page = tab.page
        await expect(page.locator(".session-row[data-key=birds]")).to_be_visible()
        await page.keyboard.press("Control+k")
        await page.keyboard.type("heron ree")
        with part("the palette finds what was said"):
            option = page.get_by_role("group", name="Said in sessions").get_by_role("option")
            await expect(option).to_contain_text("A heron stands in the reeds.")
            await expect(option.locator("mark")).to_have_text(["heron", "reeds"])
        await page.keyboard.press("Enter")
        with part("it jumps to the very message"):
            await expect(page).to_have_url(f"{hub.url}/sessions/birds")
            found = tab.well.get_by_text("A heron stands in the reeds.")
            await expect(found).to_be_in_viewport()
        # All results, narrowed, from the palette's Tab
        await page.keyboard.press("Control+k")
        await page.keyboard.type("shims")
        await page.keyboard.press("Tab")
        await expect(page).to_have_url(f"{hub.url}/search")
        hits = page.locator(".search-hit")
        with part("a word in a title is found, too"):
            await expect(hits).to_contain_text("Drop Python 3.10")
            await expect(page.locator(".search-field small")).to_contain_text("session")
        await page.get_by_label("Search in all sessions").fill("note about")
        await expect(hits).to_have_count(1)
        await page.get_by_role("button", name="more in this session").click()
        await expect(hits.locator(".search-hit__quote")).to_have_count(50)
        await page.get_by_role("button", name="Any agent").click()
        await page.get_by_role("menuitemradio", name="Codex").click()
        await expect(hits).to_have_count(1)
        await page.reload()
        with part("the words stay in the field when the page is loaded again, and out of its address"):
            await expect(page.get_by_label("Search in all sessions")).to_have_value("note about")
            await expect(hits).to_have_count(1)
            await page.get_by_label("Search in all sessions").fill("zeppelin")
            await expect(page.locator(".empty-state")).to_contain_text("No results for “zeppelin”")
            assert page.url == f"{hub.url}/search"
        assert tab.errors == []
