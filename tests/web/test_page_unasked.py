"""What an agent runs without asking stands where it is chosen, listed, and at work."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.web import lantern as world_of
from tests.web.chrome import needs_chromium, open_tab
from tests.web.lantern import lantern, tell

from bascule.link.machine import AgentInfo
from bascule.model.events import ModelChoice, ModelsChanged

pytestmark = [pytest.mark.anyio, needs_chromium]
MCP = "This agent runs MCP tools without asking."
PROJECT = "Settings in the project’s folder can let this agent run tools without asking."
AGENTS = (
    AgentInfo(
        "claude-code",
        "Claude Code",
        True,
        "2.1.4",
        drivers=("acp", "stream_json"),
        unasked={"acp": (MCP,), "stream_json": (PROJECT,)},
    ),
    AgentInfo("codex", "Codex", True, "0.61.0", drivers=("codex",)),
    # A name that is a member of every object, and a sentence that would be markup.
    AgentInfo("demo", "Demo agent", True, drivers=("constructor",), unasked={"other": ("<b>no</b>",)}),
)


@pytest.mark.row("B1")
async def test_what_runs_unasked_is_said_at_the_choice_in_the_settings_and_on_the_session(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world_of, "AGENTS", AGENTS)
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/inbox")
        page = tab.page
        await page.get_by_role("button", name="New session N").click()
        lines = page.locator(".screen-start .unasked li")
        await expect(lines).to_have_text([MCP])  # of the way that is preferred
        await page.locator(".screen-start .k-agent").click()
        await page.get_by_role("menuitemradio", name="Codex").click()
        await expect(lines).to_have_count(0)
        await page.locator(".screen-start .k-agent").click()
        await page.get_by_role("menuitemradio", name="Demo agent").click()
        await expect(page.locator(".screen-start .k-agent")).to_contain_text("Demo agent")
        await expect(lines).to_have_count(0)
        # The session is talked to in the other way.
        await tab.go("/sessions/uploads")
        chip = page.locator(".k-mode:visible")
        first = "What it asks for comes to you first. Most agents read the project without asking."
        shown = f"{first}\n{PROJECT}"
        await expect(chip).to_have_attribute("title", shown)
        await expect(chip).to_contain_text(PROJECT)
        # The models change, and with them the chip before this one, which stays the button that it was.
        await expect(page.locator("button.k-model:visible")).to_have_count(1)
        before = await chip.element_handle()
        await tell(hub.store, "uploads", [ModelsChanged((ModelChoice("small", "Small"),))])
        await expect(page.locator("button.k-model:visible")).to_have_count(0)
        assert before is not None
        assert "k-mode" in (await before.get_attribute("class") or "").split()
        await chip.click()
        await expect(page.locator(".menu .unasked li")).to_have_text([PROJECT])
        await page.keyboard.press("Escape")
        await tab.go("/settings/agents")
        await expect(page.locator(".agent-list .unasked li")).to_have_text([MCP])
        assert not tab.errors
