"""Long lists and names: what a full sidebar shows, pins, renaming anywhere, and "You" for oneself."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub, until
from tests.hub.scripted_device import append
from tests.web.axe import serious
from tests.web.chrome import PHONE, Tab, needs_chromium, open_tab
from tests.web.lantern import lantern
from tests.web.test_page_requests import begun

from bascule.model.commands import RenameSession
from bascule.model.events import (
    Interrupted,
    PromptSent,
    SessionEnded,
    SessionReady,
    SessionStarted,
    TitleChanged,
)
from bascule.store.base import Batch

pytestmark = [pytest.mark.anyio, needs_chromium]


async def fill(hub: RunningHub, folders: int = 3, each: int = 67) -> None:
    for n in range(folders * each):
        start = SessionStarted("demo", "stream_json", f"/old/f{n % folders}", "Mira")
        events = [start, TitleChanged(f"Chore number {n}"), SessionEnded("closed")]
        await hub.store.append(Batch(f"old{n}", 1, f"2020-01-01T{n // 60:02}:{n % 60:02}:00.000Z", events))


def titles(tab: Tab, group: str) -> object:
    return tab.page.get_by_role("region", name=group, exact=True).locator(".session-row__title")


@pytest.mark.row("R13", "AC-2.1")
async def test_a_full_sidebar_shows_what_lives_then_five_of_each_project_and_what_is_pinned(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        await fill(hub)
        await hub.store.append(
            Batch(
                "old0",
                4,
                "2020-01-01T00:00:01.000Z",
                [SessionStarted("demo", "stream_json", "/old/f0", "Mira"), SessionReady("x")],
            )
        )
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/inbox")
        page = tab.page
        # The oldest of all lives, so it stands first; then the latest five, and the rest is counted.
        group = page.get_by_role("region", name="f0", exact=True)
        names = group.locator(".session-row__title")
        latest = [f"Chore number {n}" for n in (198, 195, 192, 189, 186)]
        await expect(names).to_have_text(["Chore number 0", *latest, "Show 61 more"])
        # Every row says which agent it is.
        await expect(group.locator(".session-row .agent-mark")).to_have_count(6)
        # Claude Code and Codex can be told apart.
        marks = [page.locator(f"[data-key={one}].session-row .agent-mark") for one in ("uploads", "flaky")]
        await expect(marks[0]).to_have_text("C")
        await expect(marks[1]).to_have_text("X")
        # One is pinned, though it is far from the first page, and still is after a reload without its tab.
        await tab.turn_to("/sessions/old1")
        await expect(page.locator(".session-bar__name h1")).to_have_text("Chore number 1")
        await page.get_by_role("button", name="More", exact=True).click()
        await page.get_by_role("menuitem", name="Pin to the top").click()
        pinned = page.get_by_role("region", name="Pinned").locator(".session-row__title")
        await expect(pinned).to_have_text(["Chore number 1"])
        await page.get_by_title("Close Chore number 1").click()
        await tab.turn_to("/inbox")
        await page.reload()
        await expect(pinned).to_have_text(["Chore number 1"])
        await expect(
            page.get_by_role("region", name="f1", exact=True).locator("[data-key=old1]")
        ).to_have_count(0)
        assert await serious(tab) == []
        await page.locator("[data-key=pinned] .session-row").click(button="right")
        await page.get_by_role("menuitem", name="Unpin").click()
        await expect(pinned).to_have_count(0)
        assert tab.errors == []


@pytest.mark.row("R13")
async def test_a_session_is_renamed_by_a_key_a_double_click_and_its_own_menu(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/python310")
        page, field = tab.page, tab.page.get_by_label("Title")
        head = page.locator(".session-bar__name h1")
        await expect(head).to_have_text("Drop Python 3.10")

        def asked() -> list[str]:
            return [one.title for one in hub.device.commands if isinstance(one, RenameSession)]

        async def types(title: str) -> None:
            await expect(field).to_be_focused()
            await field.fill(title)
            await field.press("Enter")
            await until(lambda: asked()[-1:] == [title])
            await expect(head).to_have_text(title)

        await page.locator("#message").click()
        await page.keyboard.press("F2")
        await types("By a key")
        await page.locator("#tabs [role=tab]").dblclick()
        await types("By its tab")
        await page.get_by_role("button", name="More", exact=True).click()
        await page.get_by_role("menuitem", name="Rename").click()
        await types("By its menu")
        await page.locator("#side .session-row[data-key=python310]").dblclick()
        await types("By its row")
        assert tab.errors == []


@pytest.mark.row("R12")
async def test_what_one_did_oneself_is_said_of_you_and_others_see_a_name_that_can_be_set(
    hub: RunningHub, browser: Browser
) -> None:
    await begun(hub, PromptSent("p2", "Mine", "owner"), Interrupted("owner"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    mine = tab.well.locator(".user-message", has_text="Mine")
    await expect(mine.locator("footer")).to_contain_text("You ·")
    await expect(tab.well.locator(".user-message").first.locator("footer")).to_contain_text("ana ·")
    await tab.says("You stopped this turn.")
    await tab.turn_to("/settings/general")
    name = tab.page.get_by_label("Your name")
    await expect(name).to_have_value("owner")
    await name.fill("Mira Lund")
    await tab.page.get_by_role("button", name="Save").click()
    await tab.told("Others now see you as Mira Lund")
    assert await serious(tab) == []
    # Under the old name and under the new one, it is oneself.
    await tab.turn_to("/sessions/s1")
    await append(hub.store, "s1", PromptSent("p3", "Again", "Mira Lund"))
    for text in ("Mine", "Again"):
        await expect(tab.well.locator(".user-message", has_text=text).locator("footer")).to_contain_text(
            "You ·"
        )
    guest = await open_tab(browser, hub.url, hub.tokens["viewer"], path="/sessions/s1")
    said = guest.well.locator(".user-message", has_text="Again")
    await expect(said.locator("footer")).to_contain_text("Mira Lund ·")
    assert tab.errors == []


@pytest.mark.row("R13", "X13")
@pytest.mark.parametrize("phone", [False, True])
async def test_a_long_message_of_ones_own_is_folded_and_opens(
    hub: RunningHub, browser: Browser, phone: bool
) -> None:
    await begun(hub, PromptSent("p2", "\n".join(f"line {n}" for n in range(200)), "owner"))
    size = PHONE if phone else {"width": 1280, "height": 720}
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=size)
    box = tab.well.locator(".user-message").nth(1)
    await expect(box).to_be_visible()
    assert (await box.bounding_box() or {})["height"] < 400
    await box.get_by_role("button", name="Show all").click()
    assert (await box.bounding_box() or {})["height"] > 2000
    await box.get_by_role("button", name="Show less").click()
    assert (await box.bounding_box() or {})["height"] < 400
