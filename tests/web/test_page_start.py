"""A new session: its fields and limits, the steps of its start, and a way on from every failure."""

import asyncio
import datetime
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub, until
from tests.parts import Part
from tests.waiting import PATIENCE
from tests.web.axe import serious
from tests.web.chrome import Tab, needs_chromium, open_tab
from tests.web.lantern import LanternDevice, begin, lantern, tell
from tests.web.spills import spills

from bascule.launch.request import request_of
from bascule.link.frames import AgentsChanged
from bascule.link.machine import AgentInfo
from bascule.model.commands import EndSession, StartSession
from bascule.model.events import SessionReady, TitleChanged

pytestmark = [pytest.mark.anyio, needs_chromium]


@pytest.mark.row("TC-2.2a", "TC-2.2b", "TC-2.2c", "TC-5.4a", "R7", "A11", "C4")
async def test_every_field_and_every_step_of_a_start(tmp_path: Path, browser: Browser, part: Part) -> None:
    async with lantern(tmp_path) as hub:
        attic = LanternDevice(hub.store, hub.services.switchboard, "device-2", "attic")
        attic.line.receive(AgentsChanged((AgentInfo("codex", "Codex", True),)))
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/inbox")
        page = tab.page
        await expect(page.get_by_role("button", name="lantern tower 4")).to_be_visible()
        await page.get_by_role("button", name="New session N").click()
        task, go = page.get_by_label("Task"), page.locator(".start__go")
        with part("a task has limits"):
            await expect(go).to_be_disabled()
            await task.fill("Fix it")
            await expect(go).to_be_enabled()
            await task.fill("x" * 10_001)
            await expect(page.locator("#task-limit")).to_contain_text("of 10,000 characters")
            await expect(go).to_be_disabled()
        await task.fill("Fix the tide table, stuck for now")
        await expect(go).to_be_enabled()
        # TC-2.2b
        await page.locator(".screen-start .k-agent").click()
        items = page.get_by_role("menuitemradio")
        with part("the agents that are here, and no other"):
            await expect(items).to_have_text(
                ["Claude Code2.1.4", "Codex0.61.0", "Demo agentBuilt in, no account needed"]
            )
        # TC-2.2c
        await page.keyboard.press("Escape")
        with part("looked at and left alone, nothing is started"):
            await expect(items).to_have_count(0)
            assert not [one for one in hub.device.commands if isinstance(one, StartSession)]
        # Device, folder (recent ones first, any other by its path), model, mode
        await page.locator(".k-device").click()
        await page.get_by_role("menuitemradio", name="tower").click()
        await page.locator(".k-folder").click()
        await expect(page.get_by_role("menu")).to_contain_text("Recent")
        await page.get_by_role("menuitem", name="Another folder…").click()
        field = page.get_by_label("Folder", exact=True)
        await field.fill("/code/nowhere")
        await page.get_by_role("button", name="Use", exact=True).click()
        with part("a folder that is not there is refused beside its field"):
            await expect(page.locator(".start__block .error-message")).to_contain_text(
                "There is no folder /code/nowhere."
            )
        await field.fill("/code/dot")
        await page.get_by_role("option").click()
        await expect(field).to_have_value("/code/dotfiles/")
        await page.get_by_role("button", name="Use", exact=True).click()
        await expect(page.locator(".k-folder")).to_contain_text("dotfiles")
        await page.locator(".screen-start .k-model").click()
        with part("another model can be named, and nothing spills"):
            await expect(page.get_by_label("Another model")).to_be_visible()
            assert await spills(page) == []
        await page.get_by_role("menuitemradio", name="sonnet").click()
        await page.locator(".screen-start .k-mode").click()
        await page.get_by_role("menuitemradio", name="Allow reading").click()
        await expect(page.locator(".screen-start .k-mode.strong")).to_be_visible()
        await task.press("Enter")
        # TC-5.4a, TC-2.2a: the steps, and what was asked for
        await expect(page.get_by_role("heading", name="Starting on tower")).to_be_visible()
        with part("the steps say what was done and what is being done"):
            steps = page.locator(".step-list li")
            await expect(steps.nth(0)).to_contain_text("Reached tower")
            await expect(steps.nth(1)).to_have_attribute("aria-current", "step")
        command = next(one for one in hub.device.commands if isinstance(one, StartSession))
        assert (command.agent, command.cwd, command.options.model, command.options.permission_mode) == (
            "claude-code",
            "/code/dotfiles",
            "sonnet",
            "auto_read",
        )
        begun = datetime.datetime.now() + datetime.timedelta(seconds=31)
        await page.clock.set_system_time(begun)
        with part("without a word for 30 s a person decides, and the task is still there"):
            await expect(page.get_by_role("alert")).to_contain_text("Claude Code did not start within 30 s")
            await expect(task).to_have_value("Fix the tide table, stuck for now")
        await page.get_by_role("button", name="Keep waiting").click()
        await expect(page.get_by_role("heading", name="Starting on tower")).to_be_visible()
        # Its first word: the session takes over
        await tell(hub.store, command.session_id, [SessionReady("c-3", "sonnet", "2.1.4")])
        await expect(page).to_have_url(f"{hub.url}/sessions/{command.session_id}")
        await expect(page.locator("#tabs [role=tab]")).to_have_count(1)
        assert not [one for one in hub.device.commands if isinstance(one, EndSession)]
        assert tab.errors == []


@pytest.mark.row("TC-2.2f", "R7", "A11")
async def test_a_start_that_fails_says_what_happened_and_what_next(
    tmp_path: Path, browser: Browser, part: Part
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"])
        page, alert = tab.page, tab.page.locator(".failure-card")
        task, go = page.get_by_label("Task"), page.locator(".start__go")
        await expect(page.locator(".screen-start .k-agent")).to_contain_text("Claude Code")

        async def fails(text: str, title: str, sentence: str, *actions: str) -> None:
            await task.fill(text)
            await go.click()
            await expect(alert.locator("h2")).to_have_text(title)
            await expect(alert.locator("p").first).to_contain_text(sentence)
            for action in (*actions, "Try again", "Cancel"):
                await expect(alert.get_by_role("button", name=action)).to_be_visible()
            await expect(task).to_have_value(text)

        with part("a folder that is not there can be changed"):
            await fails(
                "Go nowhere with this",
                "That folder can’t be used",
                "There is no folder /code/nowhere.",
                "Change the folder",
            )
            await alert.get_by_role("button", name="Change the folder").click()
            await expect(page.get_by_label("Folder", exact=True)).to_be_focused()
            await page.keyboard.press("Escape")
        with part("a machine that is full"):
            await fails(
                "A crowded machine",
                "No more sessions right now",
                "8 agents already work on tower",
                "Settings",
            )
        with part("a program that is missing"):
            await fails(
                "A missing program",
                "Claude Code is not installed on tower",
                "Install it",
                "Use Codex instead",
            )
        with part("a machine that is not connected"):
            await fails(
                "An unreachable one", "tower is not connected", "Your text is kept.", "Copy bascule doctor"
            )
        with part("the agent's own last words, and another agent to try"):
            await fails(
                "Summarise the backup logs",
                "Claude Code did not start",
                "nobody is signed in",
                "Use Codex instead",
            )
            await expect(alert).to_contain_text("ended with code 1")
            await expect(alert.locator("pre")).to_contain_text("ANTHROPIC_API_KEY")
        assert tab.errors == []
        # Five starts a minute are enough for one browser. In another: stuck, and given up, it is ended
        tab = await open_tab(browser, hub.url, hub.tokens["operator"])
        page, alert = tab.page, tab.page.locator(".failure-card")
        task, go = page.get_by_label("Task"), page.locator(".start__go")
        await expect(page.locator(".screen-start .k-agent")).to_contain_text("Claude Code")
        with part("stuck and cancelled, it is ended"):
            await task.fill("This one is stuck")
            await go.click()
            await expect(page.get_by_role("heading", name="Starting on tower")).to_be_visible()
            await expect(page.locator(".step-list li").nth(1)).to_have_attribute("aria-current", "step")
            await page.get_by_role("button", name="Cancel").click()
            await expect(page.get_by_role("heading", name="What should we work on?")).to_be_visible()
            stuck = [one.session_id for one in hub.device.commands if isinstance(one, StartSession)][-1]
            await expect(
                page.locator(f".session-row[data-key='{stuck}']").get_by_role("img", name="Ended")
            ).to_be_visible()
        with part("at last one that works, at the second try"):
            await fails("A crowded machine", "No more sessions right now", "End a session", "Settings")
            await task.fill("Answer this at once")
            await alert.get_by_role("button", name="Try again").click()
            await tab.says("On it.")
            await expect(page.locator(".session-bar__name h1")).to_have_text("Answer this at once")
        assert tab.errors == []


async def offered(hub: RunningHub, browser: Browser, **fields: Any) -> Tab:
    """A browser that is let in already, at the address to which the launch window sends it."""
    tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/inbox")
    await expect(tab.page.locator("#side")).to_contain_text("lantern")
    name = hub.services.offers.add(request_of(fields), "https://tool.example")
    await tab.go("/settings")  # another document, so that the next address is loaded
    await tab.go(f"/#offer={name}")
    from_it = "This prompt comes from https://tool.example. Read it, then press Start."
    await expect(tab.page.get_by_text(from_it)).to_be_visible()
    return tab


def started(hub: RunningHub) -> list[StartSession]:
    return [one for one in hub.device.commands if isinstance(one, StartSession)]


@pytest.mark.row("L8")
async def test_a_long_prompt_of_a_web_page_is_started_whole_and_survives_a_reload(
    tmp_path: Path, browser: Browser
) -> None:
    long = ("naïve 漢字 🎉 at once\n" * 60_000)[: 1024 * 1024 - 200] + "\n\n"
    async with lantern(tmp_path) as hub:
        tab = await offered(hub, browser, prompt=long, mode="plan")
        page = tab.page
        row = page.get_by_role("list", name="Goes with the task")
        await expect(row).to_contain_text(f"{len(long):,} characters")
        await expect(row).to_contain_text("https://tool.example")
        await expect(page.locator(".screen-start .k-mode")).to_contain_text("Plan")
        await page.reload()
        await expect(row).to_contain_text(f"{len(long):,} characters")
        await expect(page.locator(".screen-start .k-mode")).to_contain_text("Plan")
        await page.get_by_label("Task", exact=True).fill("Mind the gaps.")
        await row.get_by_role("button", name="Read it").click()
        await expect(page.get_by_role("dialog").locator("pre")).to_contain_text("naïve 漢字 🎉 at once")
        await page.get_by_role("dialog").get_by_role("button", name="Close").click()
        assert await serious(tab) == []
        await page.locator(".start__go").click()
        await until(lambda: bool(started(hub)))
        (one,) = started(hub)
        assert one.prompt == f"Mind the gaps.\n\n{long}"
        assert (one.options.mode, one.options.permission_mode) == ("plan", "relay")
        assert tab.errors == []


@pytest.mark.row("L8")
@pytest.mark.parametrize(
    ("mode", "own"), [(None, "plan"), ("plan", "plan"), ("normal", None), ("prefill", None)]
)
async def test_the_mode_that_a_web_page_chose_is_the_one_it_starts_in(
    tmp_path: Path, browser: Browser, mode: str | None, own: str | None
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await offered(hub, browser, prompt="Look around at once", mode=mode)
        page = tab.page
        await expect(page.get_by_label("Task")).to_have_value("Look around at once")
        assert started(hub) == []
        await expect(page.locator(".screen-start .k-mode")).to_contain_text("Plan" if own else "Ask first")
        await page.locator(".start__go").click()
        await until(lambda: bool(started(hub)))
        assert [(one.options.mode, one.options.permission_mode) for one in started(hub)] == [(own, "relay")]


@pytest.mark.row("L8")
async def test_an_agent_without_a_plan_mode_is_told_and_the_mode_can_be_changed(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await offered(hub, browser, prompt="Look around at once", mode="plan", agent="codex")
        page = tab.page
        await expect(page.get_by_text("Codex has no plan mode: it asks first.")).to_be_visible()
        await page.locator(".screen-start .k-agent").click()
        await page.get_by_role("menuitemradio", name="Claude Code").click()
        mode = page.locator(".screen-start .k-mode")
        await expect(mode).to_contain_text("Plan")
        await mode.click()
        await page.get_by_role("menuitemradio", name="Deny").click()
        await expect(mode).not_to_contain_text("Plan")
        assert await serious(tab) == []


@pytest.mark.row("L10")
async def test_a_slash_in_the_start_screen_inserts_a_prompt_of_the_library(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        async with hub.client(hub.tokens["Mira"]) as client:
            made: dict[str, str] = {}
            for title, text in (("Greet somebody", "Hello {{who}}, at once!"), ("Say thanks", "Thank you.")):
                content = {"title": title, "delta": {"ops": [{"insert": f"{text}\n"}]}}
                made[title] = (await client.post("/api/prompts", json={"content": content})).json()["id"]
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"])
        page, task = tab.page, tab.page.get_by_label("Task")
        await task.click()
        await task.press_sequentially("/thanks")
        await expect(page.locator("#start-offers [role=option]")).to_have_text(["Say thankssaved prompt"])
        await task.press("Enter")
        await expect(task).to_have_value("Thank you.")
        await task.fill("")
        await task.press_sequentially("/greet some")
        await page.get_by_role("option", name="Greet somebody").click()
        await page.get_by_role("dialog").get_by_label("who").fill("Ben")
        await page.get_by_role("dialog").get_by_role("button", name="Insert").click()
        await expect(task).to_have_value("Hello Ben, at once!")
        assert await serious(tab) == []
        await task.press("Enter")
        await until(lambda: bool(started(hub)))
        assert [one.prompt for one in started(hub)] == ["Hello Ben, at once!"]
        # The page goes to the session, and says then that the prompt was used.
        await expect(page).to_have_url(f"{hub.url}/sessions/{started(hub)[0].session_id}")
        async with asyncio.timeout(PATIENCE):
            while not await hub.services.prompts.uses(made["Greet somebody"]):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await tab.turn_to(f"/library/{made['Greet somebody']}")
        await page.get_by_text("Used once").click()
        async with hub.client(hub.tokens["Mira"]) as client:  # this one was taken out again
            assert (await client.get(f"/api/prompts/{made['Say thanks']}/uses")).json()["uses"] == []
        assert tab.errors == []


@pytest.mark.row("R6")
async def test_recent_folders_are_offered_with_the_latest_first(tmp_path: Path, browser: Browser) -> None:
    async with lantern(tmp_path, empty=True) as hub:
        for n, name in enumerate(["dotfiles", "lantern", "homelab", "dotfiles", "tidechart"]):
            await tell(hub.store, f"s{n}", begin(f"/code/{name}", f"Task {n}"), 600 - 60 * n)
        await tell(hub.store, "s1", [TitleChanged("Spoken of again", "Mira")])
        await hub.services.projects.add("device-1", "/code/homelab", "homelab", "Mira")
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"])
        chip = tab.page.locator(".k-folder")
        await expect(chip).to_have_attribute("title", "/code/lantern")
        await chip.click()
        menu = tab.page.get_by_role("menu")
        await expect(menu).to_contain_text("Recent")
        await expect(menu.get_by_role("menuitemradio")).to_have_text(
            [re.compile(f"/code/{name}$") for name in ("lantern", "tidechart", "dotfiles", "homelab")]
        )
        assert tab.errors == []
