"""Agents' states in the settings: what their processes do, and a person who wants one back."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import until
from tests.web.axe import serious
from tests.web.chrome import needs_chromium, open_tab
from tests.web.lantern import lantern

from bascule.link.frames import AgentStatus
from bascule.link.machine import AgentState, ListAgents, ReconnectAgent
from bascule.model.errors import LimitReached

pytestmark = [pytest.mark.anyio, needs_chromium]

WORDS: dict[AgentState, str] = {
    "starting": "Starting",
    "connected": "Connected",
    "reconnecting": "Reconnecting",
    "disconnected": "Disconnected",
}


@pytest.mark.row("AC-5.2", "TC-5.2d")
async def test_an_agent_s_state_is_shown_and_a_disconnected_one_can_be_reconnected(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/settings/agents")
        row = tab.page.locator(".agent-list li", has_text="Codex")
        await expect(row.locator(".agent-list__state")).to_have_text("Ready")
        again = row.get_by_role("button", name="Reconnect Codex")
        for status, word in WORDS.items():
            hub.device.line.receive(AgentStatus("codex", status, ""))
            await expect(row.locator(".agent-list__state")).to_contain_text(word)
            await expect(again).to_have_count(int(status == "disconnected"))
        assert await serious(tab) == []
        await again.click()
        await until(lambda: ReconnectAgent(agent="codex") in hub.device.commands)
        hub.device.line.receive(AgentStatus("codex", "connected", ""))
        await expect(again).to_have_count(0)


async def test_a_machine_that_was_too_busy_to_list_its_agents_is_asked_again(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        hub.device.refuse = LimitReached("It has much to do.")
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"])
        await until(lambda: hub.device.commands.count(ListAgents()) > 1)
        await expect(tab.page.locator(".session-row").first).to_be_visible()
