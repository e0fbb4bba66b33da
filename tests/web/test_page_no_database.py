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


@pytest.mark.row("X11")
async def test_a_page_says_that_its_database_is_away_stays_open_and_says_when_it_is_back(
    place: Place, browser: Browser
) -> None:
    hub, laptop, postgres = place
    session = await start(hub, laptop, "count 3")
    await hub.wait_for(session, TurnEnded)
    tabs = {
        name: await open_tab(browser, hub.url, hub.token, path="/sessions", size=size)
        for name, size in (("desktop", DESKTOP), ("phone", PHONE))
    }
    for tab in tabs.values():
        await expect(tab.page.locator(".device-row")).to_be_visible()
        await expect(tab.page.locator(".device-row")).not_to_contain_text("no database")
    await asyncio.to_thread(postgres.stop)
    try:
        await problem(hub, "database can't be reached")
        for name, tab in tabs.items():
            await expect(tab.page.locator(".device-row")).to_contain_text("no database")
            await expect(tab.page.locator(".session-row").first).to_be_visible()  # what it had stays
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


async def _picture(tab: Tab, name: str) -> None:
    if SHOTS:
        await tab.page.screenshot(path=f"{SHOTS}/{name}.png")
