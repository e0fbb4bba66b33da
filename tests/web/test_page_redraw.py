"""What is drawn again under a person's hand stays the same element: a press and its release make a click."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub, until
from tests.hub.scripted_device import append
from tests.web.chrome import needs_chromium, open_tab
from tests.web.lantern import lantern

from bascule.link.files import ListFolders
from bascule.link.frames import DaemonConnected
from bascule.link.machine import AgentInfo
from bascule.model.events import (
    CommandsChanged,
    GuardAsked,
    ModelChoice,
    ModelsChanged,
    SessionReady,
    SlashCommand,
    TitleChanged,
    UsageChanged,
)

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


async def test_what_is_written_into_a_guards_field_stays_when_one_goes_on_to_its_button(
    hub: RunningHub, browser: Browser
) -> None:
    await hub.session("s1")
    await append(hub.store, "s1", GuardAsked("g1", "session_cents", "The limit is reached.", 205, 200))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    field = tab.page.get_by_label("Raise to $")
    await expect(field).to_have_value("4.05")
    await field.fill("3.50")
    await tab.page.get_by_role("button", name="Raise and continue").focus()
    await append(hub.store, "s1", TitleChanged("Drawn again"))
    await expect(tab.page.locator(".session-bar__name h1")).to_have_text("Drawn again")
    await expect(field).to_have_value("3.50")
    assert not tab.errors


async def test_commands_that_come_after_the_slash_are_offered(hub: RunningHub, browser: Browser) -> None:
    await hub.session("s1")
    await append(hub.store, "s1", SessionReady("c-1", "opus", "2.1.4"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    message = tab.page.locator("#message")
    await message.fill("/comp")
    await append(hub.store, "s1", CommandsChanged((SlashCommand("compact", "Shorter"),)))
    await expect(tab.page.locator("#offers [role=option]")).to_have_text(["/compactShorter"])
    await message.press("Tab")
    await expect(message).to_have_value("/compact ")
    assert not tab.errors


async def test_a_folder_that_is_chosen_stays_chosen_when_an_answer_comes_late(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/inbox")
        await tab.page.get_by_role("button", name="Add a project").click()
        field = tab.page.get_by_label("Folder of the project")
        options = tab.page.locator("#side .folder-field").get_by_role("option")
        await field.fill("/code/lant")
        await expect(options).to_have_text(["/code/lantern", "/code/lantern-docs"])
        hub.device.mute = True
        await field.press("e")
        await until(lambda: asked_for(hub) == "/code/lante")
        await field.press("ArrowDown")
        hub.device.mute = False
        await hub.device._reply(hub.device.asks[-1])
        await field.press("End")  # the answer has come meanwhile
        await expect(options.first).to_have_attribute("aria-selected", "true")
        await field.press("Enter")
        await expect(field).to_have_value("/code/lantern/")
        assert not tab.errors


def asked_for(hub: RunningHub) -> str:
    return next((one.prefix for one in reversed(hub.device.commands) if isinstance(one, ListFolders)), "")
