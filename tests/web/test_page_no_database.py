"""The page of a node whose PostgreSQL goes away and comes back, on a desktop and on a phone."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.async_api import Browser, expect
from tests.machines.cluster import problem, start
from tests.machines.machines import Hub, Machine, equal_logs
from tests.store.postgres_server import Server, reason_to_skip, running_server
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, PHONE, Tab, needs_chromium, open_tab

from bascule.model.events import TurnEnded
from bascule.store.postgres.address import shown

pytestmark = [pytest.mark.anyio, needs_chromium]

SHOTS = os.environ.get("BASCULE_TEST_SHOTS", "")  # a folder for pictures of each state, to be looked at
WIDER = "document.documentElement.scrollWidth > innerWidth"


class Place(NamedTuple):
    hub: Hub
    laptop: Machine
    postgres: Server


@pytest.fixture
async def place(short_dir: Path) -> AsyncIterator[Place]:
    if (reason := reason_to_skip()) is not None:
        pytest.skip(reason)
    with running_server() as postgres:  # one of its own: it is stopped
        store = await asyncio.to_thread(postgres.new_database)
        for name in ("h", "l"):
            (short_dir / name).mkdir(mode=0o700)
        async with Hub(short_dir / "h", env={"BASCULE_STORE": store}) as hub:
            laptop = Machine(short_dir / "l", "d-laptop")
            await laptop.join(hub)
            async with laptop:
                await hub.until_device("d-laptop", online=True)
                yield Place(hub, laptop, postgres)


async def listed(place: Place, browser: Browser) -> dict[str, Tab]:
    """Two pages that list a session whose turn has ended."""
    hub, laptop, _ = place
    session = await start(hub, laptop, "count 3")
    await hub.wait_for(session, TurnEnded)
    tabs = {
        name: await open_tab(browser, hub.url, hub.token, path="/sessions", size=size)
        for name, size in (("desktop", DESKTOP), ("phone", PHONE))
    }
    for tab in tabs.values():
        await expect(tab.page.locator(".session-row")).to_have_count(1)
    return tabs


@pytest.mark.row("X11")
async def test_a_page_says_that_its_database_is_away_stays_open_and_says_when_it_is_back(
    place: Place, browser: Browser
) -> None:
    hub, laptop, postgres = place
    tabs = await listed(place, browser)
    for tab in tabs.values():
        await expect(tab.page.locator(".device-row")).to_be_visible()
        await expect(tab.page.locator(".device-row")).not_to_contain_text("no database")
    await asyncio.to_thread(postgres.stop)
    try:
        await problem(hub, "database can't be reached")
        for name, tab in tabs.items():
            await expect(tab.page.locator(".device-row")).to_contain_text("no database")
            await expect(tab.page.locator(".session-row").first).to_be_visible()  # what it had stays
            # Which address can't be reached, and what to do.
            await tab.page.locator(".device-row").click()
            told = tab.page.get_by_role("dialog", name="Machines").locator(".is-wrong")
            await expect(told).to_contain_text(f"(nothing listens at {shown(postgres.admin)})")
            await expect(told).to_contain_text(
                "Start its database server again; agents keep working meanwhile."
            )
            await expect(told).not_to_contain_text("Errno")
            await tab.page.keyboard.press("Escape")
            assert await serious(tab) == []
            assert not await tab.page.evaluate(WIDER)
            await _picture(tab, f"no-database-{name}")
    finally:
        await asyncio.to_thread(postgres.start)
    for name, tab in tabs.items():
        await expect(tab.page.locator(".device-row")).not_to_contain_text("no database")
        await _picture(tab, f"database-back-{name}")
    # The pages were never loaded again, and go on.
    other = await start(hub, laptop, "count 2")
    await hub.wait_for(other, TurnEnded)
    await equal_logs(hub, laptop, other)
    for tab in tabs.values():
        await expect(tab.page.locator(".session-row")).to_have_count(2)


@pytest.mark.row("X11")
async def test_a_page_that_is_loaded_while_the_database_is_away_says_what_to_do_and_goes_on_by_itself(
    place: Place, browser: Browser
) -> None:
    hub, laptop, postgres = place
    tabs = await listed(place, browser)
    await asyncio.to_thread(postgres.stop)
    try:
        await problem(hub, "database can't be reached")
        for name, tab in tabs.items():
            await tab.page.reload()
            said = tab.page.locator(".nothing" if name == "phone" else ".banner")
            await expect(said).to_be_visible()
            await expect(said).to_contain_text("The server can’t use its database.")
            await expect(said).to_contain_text("Start its database server again")
            await expect(said).to_contain_text("this page goes on by itself")
            await expect(said).not_to_contain_text("Errno")
            assert await serious(tab) == []
            assert not await tab.page.evaluate(WIDER)
            await _picture(tab, f"loaded-without-database-{name}")
    finally:
        await asyncio.to_thread(postgres.start)
    for tab in tabs.values():  # nobody touches them
        await expect(tab.page.locator(".session-row")).to_have_count(1)
        await expect(tab.page.get_by_text("can’t use its database")).to_have_count(0)
        await expect(tab.page.locator(".device-row")).not_to_contain_text("no database")
    other = await start(hub, laptop, "count 2")
    await hub.wait_for(other, TurnEnded)
    for tab in tabs.values():
        await expect(tab.page.locator(".session-row")).to_have_count(2)
        assert tab.errors == []


async def _picture(tab: Tab, name: str) -> None:
    if SHOTS:
        await tab.page.screenshot(path=f"{SHOTS}/{name}.png")
