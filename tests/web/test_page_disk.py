"""Sessions started outside Bascule, in the page: found, read, followed in a terminal, continued here."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.daemon.homes import CLAUDE_ID, furnish
from tests.daemon.sleeper import Sleeper, claude_record, note_terminal, speak
from tests.daemon.terminal_claude import TerminalClaude
from tests.live import LiveServer
from tests.parts import Part
from tests.system.test_command_line import bascule
from tests.web.chrome import PHONE, needs_chromium, open_tab

pytestmark = [pytest.mark.anyio, needs_chromium]

# Claude Code as far as this story goes: it takes up the conversation it is told to, under the same id.
PROGRAM = f"""#!/bin/sh
case "$1" in --version) echo "2.1.325 (Claude Code)"; exit;; esac
exec "{sys.executable}" -I -m bascule.demo --resume={CLAUDE_ID}
"""


@pytest.fixture
async def furnished(short_dir: Path) -> AsyncIterator[LiveServer]:
    """A machine on which five agents were used before, and a Claude Code that can be continued."""
    program = short_dir / "claude"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    server = LiveServer(short_dir, env={"CLAUDE_BIN": str(program)})
    furnish(server.home)
    async with server:
        yield server


@pytest.mark.row("R23")
async def test_a_session_of_a_plain_terminal_is_read_followed_given_a_message_and_continued_here(
    furnished: LiveServer, browser: Browser, part: Part
) -> None:
    tab = await open_tab(browser, furnished.url, furnished.token)
    group = tab.page.get_by_role("region", name="On this machine")
    await expect(group.locator(".count")).to_have_text("5")
    row = group.locator(".session-row", has_text="Light the lantern")
    await expect(row).to_contain_text("lantern · 4 messages")

    # Read only, like any transcript.
    await row.click()
    await tab.says("It burns steadily.")
    closed = tab.page.locator("#composer .closed")
    with part("it is read like any transcript"):
        await expect(closed).to_contain_text("Started outside Bascule, read from Claude Code’s own files.")
        await expect(closed).to_contain_text(f"claude --resume={CLAUDE_ID}")
        await expect(tab.page.locator("#message")).to_be_hidden()
        await expect(tab.page.locator(".side .session-group")).not_to_have_count(0)

    # Somebody opens it in a terminal and goes on there.
    terminal = Sleeper()
    try:
        note_terminal(furnished.home, terminal.pid, "busy")
        speak(furnished.home, claude_record("user", "g1", "d2", "Now a second wick"))
        await tab.says("Now a second wick")
        note = tab.page.locator(".found-note")
        await expect(note).to_contain_text("Open in a terminal, working.")
        speak(
            furnished.home,
            claude_record("assistant", "g2", "g1", [{"type": "text", "text": "Two wicks now."}]),
        )
        await tab.says("Two wicks now.")
        note_terminal(furnished.home, terminal.pid, "idle")
        await expect(note).to_contain_text("Open in a terminal, idle.")
        area = tab.page.locator("#message")
        await expect(area).to_have_attribute(
            "placeholder", "Message Claude Code. It waits until the terminal is closed."
        )
        await area.fill("slow 2")
        await area.press("Enter")
        with part("a message waits until the terminal is closed"):
            queue = tab.page.locator("#queue")
            await expect(queue).to_contain_text("slow 2")
            await expect(queue).to_contain_text(
                "sent when its terminal is closed, or sooner after `bascule feedback on`"
            )
            await expect(queue.get_by_role("button", name="Send now")).to_have_count(0)
    finally:
        terminal.end()

    with part("once it is closed, the message goes out here, on the same transcript"):
        await expect(tab.page.locator("#queue")).not_to_contain_text("slow 2")
        await expect(note).to_have_count(0)
        await expect(tab.page.locator(".pill")).to_have_text("Ready")
        await tab.says("piece 2.")
        await tab.says("Continues an earlier conversation")
        await tab.says("Make the lantern brighter")
    with part("it is listed once"):
        await expect(group.locator(".count")).to_have_text("4")
        await expect(tab.page.locator(".side .session-row", has_text="Light the lantern")).to_have_count(1)
    assert tab.errors == []
    assert tab.strangers == []


@pytest.mark.row("R23")
async def test_the_page_says_when_a_message_is_delivered_in_its_terminal_and_shows_it_as_sent(
    furnished: LiveServer, browser: Browser
) -> None:
    code, said = await bascule(furnished, "feedback", "on")
    assert code == 0, said
    claude = TerminalClaude(furnished.home)
    try:
        claude.status("busy")
        await claude.fire("SessionStart")
        tab = await open_tab(browser, furnished.url, furnished.token)
        group = tab.page.get_by_role("region", name="On this machine")
        await group.locator(".session-row", has_text="Light the lantern").click()
        note = tab.page.locator(".found-note")
        await expect(note).to_contain_text("A message is delivered when Claude Code is idle there.")
        area = tab.page.locator("#message")
        await expect(area).to_have_attribute(
            "placeholder", "Message Claude Code. It is delivered when Claude Code is idle in its terminal."
        )
        await area.fill("a third wick")
        await area.press("Enter")
        queue = tab.page.locator("#queue")
        await expect(queue).to_contain_text("a third wick")
        await expect(queue).to_contain_text("delivered when Claude Code is idle in its terminal")
        claude.status("idle")
        assert (await claude.woken()).endswith("a third wick")
        await expect(queue).not_to_contain_text("a third wick")
        await tab.says("a third wick")
        assert tab.errors == []
    finally:
        await claude.aclose()


@pytest.mark.row("R23")
async def test_on_a_phone_a_found_session_is_continued_with_one_button(
    furnished: LiveServer, browser: Browser
) -> None:
    tab = await open_tab(browser, furnished.url, furnished.token, path="/sessions", size=PHONE)
    row = tab.page.get_by_role("region", name="On this machine").locator(
        ".session-row", has_text="Light the lantern"
    )
    await row.click()
    await tab.says("It burns steadily.")
    await tab.page.reload()  # its tab is known again, although the list of sessions does not name it
    await tab.says("It burns steadily.")
    await tab.page.get_by_role("button", name="Continue here").click()
    await expect(tab.page.locator("#message")).to_be_visible()
    await expect(tab.page.locator("#message")).to_be_enabled()
    await tab.page.locator("#message").fill("slow 2")
    await tab.page.get_by_role("button", name="Send", exact=True).click()
    await tab.says("piece 2.")
    assert tab.errors == []
