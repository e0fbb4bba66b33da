"""From the page into a terminal window of one's own: every session of this machine, ours or found."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect
from tests.daemon.homes import CLAUDE_ID, furnish
from tests.launch.desk import Desk
from tests.live import LiveServer
from tests.waiting import PATIENCE
from tests.web.chrome import needs_chromium, open_tab

from bascule.model.events import SessionEnded, SessionReady, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

AGENT = """
name = "both"
title = "Both"
search = ["both"]
[[drivers]]
name = "stream_json"
resume = ["--resume={value}"]
[[drivers]]
name = "terminal"
resume = ["--resume={value}"]
"""
SCREEN = '#!/bin/sh\necho READY\nread line\necho "heard <$line>"\nread line\n'
OPEN, COPY = "Open in my terminal", "Copy the resume command"


@contextlib.asynccontextmanager
async def machine(folder: Path, **more: str) -> AsyncGenerator[tuple[Desk, LiveServer]]:
    """A server on a desk with a scripted terminal, and an agent that can do both."""
    desk = Desk(folder)
    launch = {"BASCULE_LAUNCH_ENABLED": "true", "BASCULE_LAUNCH_ANSWER_MS": "120000"}
    server = LiveServer(folder, env={**desk.environ, **launch, **more})
    server.add_agent_file("both", AGENT)
    desk.program("both", "well_behaved.py")
    try:
        async with server:
            yield desk, server
    finally:
        desk.close()


async def choose(page: Page, name: str) -> None:
    """From the session's menu, once the page knows whether there is a desktop."""
    item = page.get_by_role("menuitem", name=name)
    async with asyncio.timeout(PATIENCE):
        await open_menu(page)
        while not await item.count():
            await page.keyboard.press("Escape")
            await open_menu(page)
    await item.click()


async def open_menu(page: Page) -> None:
    await page.locator("#sbar").get_by_role("button", name="More", exact=True).click()
    await page.locator(".menu").wait_for()


@pytest.mark.row("L5", "X13")
@pytest.mark.joined("a window opens on the desktop of the machine that serves the page")
async def test_a_chat_is_ended_and_goes_on_in_the_persons_terminal(short_dir: Path, browser: Browser) -> None:
    async with machine(short_dir) as (desk, server):
        session = await server.create("hello there", agent="both")
        await server.wait_for(session, TurnEnded)
        own = (await server.http.get(f"/api/sessions/{session}")).json()["agent_session_id"]
        tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
        await tab.says("hello there")
        desk.program("both", "terminal_agent.py", str(desk.notes), "--fail")
        await choose(tab.page, OPEN)
        await tab.told("Opened in xterm")
        await server.wait_for(session, SessionEnded)
        given = await desk.note("argv")
        assert (given["argv"], given["cwd"]) == (["--fail", f"--resume={own}"], str(server.work))
        # A terminal that shows nothing is told, with the command as the way out.
        desk.terminal("exits")
        await choose(tab.page, OPEN)
        await tab.told("xterm ended with code 3")
        await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await tab.page.get_by_role("button", name="Copy the command").click()
        await tab.told("Copied. Paste it")
        copied = await tab.page.evaluate("navigator.clipboard.readText()")
        assert copied == f"cd {server.work} && {desk.bin}/both --resume={own}"
        assert tab.errors == []


@pytest.mark.row("L5", "X13")
@pytest.mark.joined("a window opens on the desktop of the machine that serves the page")
async def test_a_terminal_of_ours_is_shown_in_the_persons_own_while_it_runs(
    short_dir: Path, browser: Browser
) -> None:
    async with machine(short_dir) as (desk, server):
        (desk.bin / "both").write_text(SCREEN)
        session = await server.create(agent="both", driver="terminal")
        await server.wait_for(session, SessionReady)
        tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
        desk.terminal("opens", types=("READY", "hello\n"))
        await choose(tab.page, OPEN)
        await tab.told("Opened in xterm")
        await desk.shows("heard <hello>")  # typed in the window, read in the session
        words = desk.terminals()[0]["terminal"]
        assert session not in words  # it is in the plan
        shown = (await server.http.get(f"/api/sessions/{session}")).json()
        assert shown["phase"] not in ("ended", "failed")
        assert tab.errors == []


@pytest.mark.row("L5", "X13")
async def test_without_a_desktop_the_command_of_a_found_session_is_copied(
    short_dir: Path, browser: Browser
) -> None:
    furnish(short_dir / "home", "claude")
    async with machine(short_dir, DISPLAY="", XDG_RUNTIME_DIR=str(short_dir)) as (desk, server):
        found = (await server.http.get("/api/found-sessions", params={"wait": "true"})).json()["sessions"]
        (session,) = [one["sessionId"] for one in found]
        tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
        await expect(tab.page.get_by_role("tab")).to_have_count(1)
        await tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await open_menu(tab.page)
        await expect(tab.page.get_by_role("menuitem", name=OPEN)).to_have_count(0)
        await tab.page.get_by_role("menuitem", name=COPY).click()
        await tab.told("Copied. Paste it")
        copied = await tab.page.evaluate("navigator.clipboard.readText()")
        folder = short_dir / "home" / "code" / "lantern"
        assert copied == f"cd {folder} && {desk.bin}/claude --permission-mode=manual --resume={CLAUDE_ID}"
        assert tab.errors == []
