"""A lost agent as a person sees it: which try it is, a button, one line in the transcript, and it is back."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.live import LiveServer
from tests.web.chrome import needs_chromium, open_tab

from bascule.model.events import AgentSpawned, PermissionRequested, ReconnectScheduled, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]


@pytest.fixture
async def forgetful(short_dir: Path) -> AsyncIterator[LiveServer]:
    server = LiveServer(short_dir)
    (short_dir / "kept").mkdir()
    server.add_agent("keeper-of-words", "remembers.py", f"--store={short_dir / 'kept'}")
    async with server:
        yield server


async def kill(server: LiveServer, session: str) -> None:
    pids = [row.event.pid for row in await server.log(session) if isinstance(row.event, AgentSpawned)]
    os.kill(pids[-1], signal.SIGKILL)


@pytest.mark.row("AC-5.2", "A2")
async def test_a_lost_agent_is_counted_in_the_pill_and_the_dock_and_comes_back(
    forgetful: LiveServer, browser: Browser, short_dir: Path
) -> None:
    server = forgetful
    session = await server.create("hello there", agent="keeper-of-words", title="Lost and found")
    await server.wait_for(session, TurnEnded)
    await server.send(session, "ask touch a")
    await server.wait_for(session, PermissionRequested)
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    page, pill, dock = tab.page, tab.page.locator(".pill"), tab.page.locator(".closed")
    await expect(pill).to_have_text("Needs you")
    (short_dir / "kept" / "broken").touch()
    await kill(server, session)
    # Each try is told; the message written meanwhile waits for the agent.
    await tab.told("Reconnecting… try 2 of 5")
    await expect(pill).to_contain_text("Reconnecting… try")
    await expect(tab.well.locator("#col")).to_contain_text(
        "It waited for an answer, which nobody can give any more"
    )
    await page.locator("#message").fill("recall")
    await page.locator("#message").press("Enter")
    # A person need not wait; what fails then is said once, with one button.
    await dock.get_by_role("button", name="Reconnect now").click()
    await expect(dock).to_contain_text("did not come back. The reason is above; everything is kept.")
    await expect(pill).to_have_text("Failed")
    lines = tab.well.locator("#col").get_by_text("could not be started again")
    await expect(lines).to_have_count(1)
    await expect(tab.well.locator("#col")).to_contain_text("fatal: not logged in")
    (short_dir / "kept" / "broken").unlink()
    await dock.get_by_role("button", name="Reconnect", exact=True).click()
    await tab.says("before: hello there, ask touch a")
    await expect(dock).to_be_hidden()
    await expect(pill).to_have_text("Ready")
    assert tab.errors == []


@pytest.mark.row("AC-5.2")
async def test_an_agent_that_comes_back_leaves_one_line(forgetful: LiveServer, browser: Browser) -> None:
    server = forgetful
    session = await server.create("hello there", agent="keeper-of-words")
    await server.wait_for(session, TurnEnded)
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("you said hello there")
    await kill(server, session)
    await server.wait_for(session, ReconnectScheduled)
    await expect(tab.well.locator("#col")).to_contain_text("stopped (stopped by signal 9). It is back.")
    await expect(tab.page.locator(".pill")).to_have_text("Ready")
    assert tab.errors == []
