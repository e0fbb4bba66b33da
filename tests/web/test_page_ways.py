"""What a start can be given in the page: room, a way to talk to the agent, trust, no permission prompts."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect
from tests.hub.running_hub import until
from tests.live import FAKES, LiveServer
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, Tab, needs_chromium, open_tab

from bascule.model.events import SessionEnded, SessionStarted

pytestmark = [pytest.mark.anyio, needs_chromium]

ENDLESS = "slow 100000"  # a turn that is still going on however long the page takes
CLAUDE = """#!/bin/sh
if [ "$1" = --version ]; then echo '2.1.4 (Claude Code)'; exit; fi
printf '%s\\n' "$*" >> {argv}
exec {python} -E -S {fakes}/{agent}
"""


@pytest.fixture(scope="module")
async def claude(module_dir: Path) -> AsyncIterator[LiveServer]:
    """A machine with a `claude` on its PATH, an ACP adapter by setting, and a default model."""
    folder = module_dir / "bin"
    folder.mkdir()
    program = folder / "claude"
    program.write_text(
        CLAUDE.format(argv=module_dir / "argv", python=sys.executable, fakes=FAKES, agent="well_behaved.py")
    )
    program.chmod(0o755)
    env = {
        "PATH": f"{folder}:/usr/bin:/bin",
        "CLAUDE_ACP_CMD": f"{sys.executable} {FAKES / 'acp_agent.py'}",
        "CLAUDE_DEFAULT_MODEL": "opus",
    }
    async with LiveServer(module_dir, env=env) as running:
        yield running


def argv(server: LiveServer) -> list[str]:
    path = server.folder / "argv"
    return path.read_text().splitlines() if path.exists() else []


async def start(tab: Tab, task: str) -> str:
    await tab.page.get_by_label("Task").fill(task)
    await tab.page.locator(".start__go").click()
    await tab.page.wait_for_url("**/sessions/*")
    return tab.page.url.rsplit("/", 1)[-1]


async def choose_claude(page: Page) -> None:
    await page.locator(".screen-start .k-agent").click()
    await page.get_by_role("menuitemradio", name="Claude Code").click()


@pytest.mark.row("R15")
async def test_where_the_limit_is_reached_one_is_ended_to_start_another(
    short_dir: Path, browser: Browser
) -> None:
    limits = "[limits]\nsessions = 1\nspawns_per_minute = 0\ninputs_per_minute = 0\n"
    async with LiveServer(short_dir, config=limits) as server:
        busy = await server.create(ENDLESS)
        tab = await open_tab(browser, server.url, server.token)
        await tab.page.get_by_label("Task").fill("think of wicks")
        await tab.page.locator(".start__go").click()
        card = tab.page.locator(".failure-card")
        await expect(card).to_contain_text("1 agent already works")
        way = card.get_by_role("button", name=f"End “{ENDLESS}”")
        for size in (DESKTOP, LAPTOP, PHONE):
            await tab.page.set_viewport_size(size)
            await expect(way).to_be_in_viewport(ratio=1)
            await expect(tab.page.get_by_label("Task")).to_have_value("think of wicks")
        await way.click()
        await tab.page.wait_for_url("**/sessions/*")
        await tab.says("think of wicks")
        await server.wait_for(busy, SessionEnded)
        # The one that was ended can be brought back the same way.
        other = tab.page.url.rsplit("/", 1)[-1]
        await server.send(other, ENDLESS)
        await tab.turn_to(f"/sessions/{busy}")
        await tab.page.locator(".closed").get_by_role("button", name="Resume").click()
        await tab.page.get_by_role("button", name="and resume").click()
        await server.wait_for(other, SessionEnded)
        await expect(tab.page.locator(".pill")).to_have_text("Ready")
        assert tab.errors == []


@pytest.mark.row("A1")
async def test_an_adapter_or_the_own_protocol_is_chosen_on_the_start_screen(
    claude: LiveServer, browser: Browser
) -> None:
    tab = await open_tab(browser, claude.url, claude.token)
    await choose_claude(tab.page)
    chip = tab.page.locator(".k-driver")
    await expect(chip).to_have_text("By ACP")  # the setting makes the adapter its first way
    session = await start(tab, "hello adapter")
    started = (await claude.wait_for(session, SessionStarted)).event
    assert isinstance(started, SessionStarted)
    assert (started.driver, started.model) == ("acp", "opus")
    await tab.turn_to("/")
    await choose_claude(tab.page)
    await chip.click()
    await tab.page.get_by_role("menuitemradio", name="stream-json").click()
    await expect(chip).to_have_text("By stream-json")
    session = await start(tab, "hello protocol")
    started = (await claude.wait_for(session, SessionStarted)).event
    assert isinstance(started, SessionStarted)
    assert (started.driver, started.model) == ("stream_json", "opus")
    await until(lambda: any("--model=opus" in line for line in argv(claude)))
    assert tab.errors == []


@pytest.mark.row("P3")
async def test_skipping_permissions_is_said_in_words_and_holds_for_one_terminal(
    claude: LiveServer, browser: Browser
) -> None:
    tab = await open_tab(browser, claude.url, claude.token)
    chip = tab.page.get_by_role("button", name="Open Claude Code’s terminal")
    await chip.click()
    await tab.page.get_by_role("menuitem", name="skipping permissions").click()
    card = tab.page.get_by_role("dialog", name="Start Claude Code without permission prompts?")
    await expect(card).to_contain_text("without asking you")
    await card.get_by_role("button", name="Cancel").click()
    assert not any("--dangerously-skip-permissions" in line for line in argv(claude))
    await chip.click()
    await tab.page.get_by_role("menuitem", name="skipping permissions").click()
    await card.get_by_role("button", name="Skip permissions and start").click()
    await tab.page.wait_for_url("**/sessions/*")
    session = tab.page.url.rsplit("/", 1)[-1]
    started = (await claude.wait_for(session, SessionStarted)).event
    assert isinstance(started, SessionStarted)
    assert started.skip_permissions
    await until(lambda: any("--dangerously-skip-permissions" in line for line in argv(claude)))
    assert sum("--dangerously-skip-permissions" in line for line in argv(claude)) == 1
    assert tab.errors == []


@pytest.mark.row("P4")
async def test_a_folder_is_trusted_after_plain_words_and_no_longer_by_one_press(
    claude: LiveServer, browser: Browser
) -> None:
    await claude.create("think")  # its folder is the recent one
    tab = await open_tab(browser, claude.url, claude.token)
    folder = tab.page.locator(".screen-start .k-folder")
    await expect(folder).to_have_text("work")  # before the list has come there is no folder to trust
    await folder.click()
    await tab.page.get_by_role("menuitem", name="Trust work…").click()
    card = tab.page.get_by_role("dialog", name="Trust work?")
    await expect(card).to_contain_text("run commands without asking you")
    await card.get_by_role("button", name="Trust work").click()
    await tab.told("work is now trusted")
    assert (await claude.http.get("/api/projects/trusted")).json()["folders"] == [str(claude.work)]
    await folder.click()
    await tab.page.get_by_role("menuitem", name="Stop trusting work").click()
    await tab.told("no longer trusted")
    assert (await claude.http.get("/api/projects/trusted")).json()["folders"] == []
    assert tab.errors == []
