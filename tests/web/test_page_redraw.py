"""What is drawn again under a person's hand stays the same element: a press and its release make a click."""

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub
from tests.hub.scripted_device import append
from tests.web.chrome import needs_chromium, open_tab

from bascule.link.frames import DaemonConnected
from bascule.link.machine import AgentInfo
from bascule.model.events import ModelChoice, ModelsChanged, SessionReady, UsageChanged

pytestmark = [pytest.mark.anyio, needs_chromium]
DEMO = AgentInfo("demo", "Demo agent", True, demo=True)
CODEX = AgentInfo("codex", "Codex", True)
MODELS = ModelsChanged((ModelChoice("opus", "Opus 4.5"), ModelChoice("sonnet", "Sonnet 4.5")))


async def test_a_chip_that_is_pressed_while_others_beside_it_change_opens_its_menu(
    hub: RunningHub, browser: Browser
) -> None:
    await hub.session("s1")
    await append(hub.store, "s1", SessionReady("c-1", "opus", "2.1.4"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    page, mode = tab.page, tab.page.locator(".k-mode:visible")
    await expect(page.locator("span.k-model")).to_be_visible()
    await mode.hover()
    await page.mouse.down()
    # The models arrive: the chip before it becomes a button, and a ring comes after it.
    await append(hub.store, "s1", MODELS, UsageChanged(76_000, 200_000))
    await expect(page.locator("button.k-model")).to_be_visible()
    await expect(page.locator(".context-meter")).to_be_visible()
    await mode.hover()
    await page.mouse.up()
    await expect(page.get_by_role("menuitemradio", name="Ask first")).to_be_visible()
    assert not tab.errors


async def test_a_press_on_start_starts_though_the_agents_arrive_before_the_release(
    hub: RunningHub, browser: Browser
) -> None:
    tab = await open_tab(browser, hub.url, hub.tokens["owner"])
    row = tab.page.get_by_role("group", name="How it starts")
    await expect(row.locator(".start__go")).to_be_visible()
    await row.locator(".start__go").evaluate("(button) => (window.pressed = button)")
    hub.device.line.receive(DaemonConnected("device-1", "tower", "0.1.0", (DEMO, CODEX)))
    await expect(row.locator(".k-several")).to_be_visible()
    assert await row.locator(".start__go").evaluate("(button) => button === window.pressed")
    assert not tab.errors
