"""R11: a log that was replaced is said and loaded again; agents that run without one are offered."""

import os
import shutil
from pathlib import Path

import psutil
import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import until
from tests.live import SPLIT, LiveServer
from tests.web.chrome import PHONE, needs_chromium, open_tab

from bascule.model.events import AgentSpawned, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

# In split mode the copy is one of the machine's database, and the hub that serves the page has lost nothing.
REPLACED = "The log on this machine was replaced; this view was loaded again."
RESTORED = REPLACED if SPLIT else "An older copy of this server’s database was put back."

SIZES = ({"width": 1280, "height": 720}, PHONE)


async def picture(page, name: str) -> None:
    """Kept only where somebody asked for pictures."""
    if folder := os.environ.get("PICTURES"):
        await page.screenshot(path=str(Path(folder) / f"{name}.png"))


async def agent_of(server: LiveServer, session: str) -> psutil.Process:
    event = (await server.wait_for(session, AgentSpawned)).event
    assert isinstance(event, AgentSpawned)
    return psutil.Process(event.pid)


def is_gone(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # between the two questions
        return True


@pytest.mark.row("F5", "REL-11")
@pytest.mark.parametrize("size", SIZES, ids=["desktop", "phone"])
async def test_agents_without_a_log_are_offered_to_be_taken_up_or_ended(
    server: LiveServer, browser: Browser, size: dict[str, int]
) -> None:
    kept = await server.create("think")
    ended = await server.create("slow 3")
    for session in (kept, ended):
        await server.wait_for(session, TurnEnded)
    agents = [await agent_of(server, kept), await agent_of(server, ended)]
    await server.stop()
    (server.data / "bascule.db").unlink()
    server.token = ""
    await server.start()
    tab = await open_tab(browser, server.url, server.token, size=size)
    page, width = tab.page, size["width"]
    group = page.locator("section.unlogged")
    if width < 720:
        await expect(page.locator(".banner")).to_contain_text("2 agents are running but not in the log.")
        await picture(page, f"unlogged-banner-{width}")
        await page.locator(".banner").get_by_role("button", name="Show").click()
    await expect(group.locator(".unlogged__row")).to_have_count(2)
    await expect(group).to_contain_text("It runs, but the log holds no session for it.")
    await expect(group).to_contain_text(f"pid {agents[0].pid}")
    await picture(page, f"unlogged-{width}")
    overflow = await group.evaluate("(one) => one.scrollWidth - one.clientWidth")
    assert overflow <= 0

    # End asks first, and can be left
    last = group.locator(f'[data-key="{ended}-1"]')
    await last.get_by_role("button", name="End").click()
    await expect(last).to_contain_text("What it wrote is set aside.")
    await picture(page, f"unlogged-sure-{width}")
    await last.get_by_role("button", name="Keep it").click()
    await last.get_by_role("button", name="End").click()
    await last.get_by_role("button", name="End it").click()
    await expect(group.locator(".unlogged__row")).to_have_count(1)
    await until(lambda: is_gone(agents[1]))

    await group.get_by_role("button", name="Recover").click()
    await expect(group).to_have_count(0)
    await expect(page).to_have_url(f"{server.url}/sessions/{kept}")
    await tab.says("This log began again here")
    await picture(page, f"unlogged-taken-{width}")
    assert agents[0].is_running()
    assert tab.errors == []


@pytest.mark.row("F5", "REL-11", "REL-43")
async def test_a_page_that_holds_another_history_loads_again_and_says_so(
    server: LiveServer, browser: Browser
) -> None:
    session = await server.create("think")
    first = await server.wait_for(session, TurnEnded)
    await server.stop()
    shutil.copy(server.data / "bascule.db", server.folder / "copy.db")
    await server.start()
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("I have thought about it")
    await tab.page.locator("#message").fill("a message that the copy does not have")
    await tab.page.keyboard.press("Enter")
    await tab.says("a message that the copy does not have")
    await server.wait_for(session, TurnEnded, first.seq)
    await server.stop()
    shutil.copy(server.folder / "copy.db", server.data / "bascule.db")
    await server.start()
    banner = tab.page.locator(".banner")
    await expect(banner).to_contain_text(RESTORED)
    await tab.says("This log is older than it was")
    await picture(tab.page, "replaced-1280")
    # What a person typed and the copy does not hold is gone from the view, and nothing stands there twice.
    await expect(tab.well.get_by_text("a message that the copy does not have")).to_have_count(0)
    await expect(tab.well.locator("#col").get_by_text("I have thought about it")).to_have_count(1)
    await banner.get_by_role("button", name="OK").click()
    await expect(banner).to_have_count(0)
    await tab.page.locator("#message").fill("think")
    await tab.page.keyboard.press("Enter")
    await expect(tab.well.locator("#col").get_by_text("I have thought about it")).to_have_count(2)
    # Who has read it is not told again by the same browser.
    await tab.page.reload()
    await expect(tab.well.locator("#col").get_by_text("I have thought about it")).to_have_count(2)
    await expect(banner).to_have_count(0)
    assert tab.errors == []


@pytest.mark.row("F5", "REL-11")
async def test_a_session_that_can_not_be_read_is_named(server: LiveServer, browser: Browser) -> None:
    import sqlite3
    from contextlib import closing

    session = await server.create("think")
    await server.wait_for(session, TurnEnded)
    await server.stop()
    with closing(sqlite3.connect(server.data / "bascule.db", isolation_level=None)) as spoiler:
        spoiler.execute("UPDATE sessions SET crc = crc + 1 WHERE session_id = ?", (session,))
    await server.start()
    tab = await open_tab(browser, server.url, server.token)
    group = tab.page.locator("section.unlogged")
    # A hub of its own has a whole copy, so there it is the agent whose log is damaged.
    said = "A session can’t be read" if server.hub is None else "The log of its session is damaged"
    await expect(group).to_contain_text(said)
    await expect(group).to_contain_text("does not match its checksum")
    await picture(tab.page, "damaged-1280")
    assert tab.errors == []
