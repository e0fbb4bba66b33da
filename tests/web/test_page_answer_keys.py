"""Answering by keyboard: keys are shown where they work, S never lasts, and typing goes on afterwards."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub, until
from tests.hub.scripted_device import append
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, needs_chromium, open_tab
from tests.web.lantern import lantern
from tests.web.test_page_requests import DENY, ONCE, answers, begun, told, wants

from bascule.model.event_values import PermissionOption
from bascule.model.events import PermissionRequested, QuestionAnswered

pytestmark = [pytest.mark.anyio, needs_chromium]

NARROW = {**PHONE}  # a window as narrow as a phone, with a keyboard
LASTING = PermissionOption(
    "rule", "allow_always", "Allow `rm -rf build` in this project from now on", "writes settings.local.json"
)


@pytest.mark.row("R10", "X13")
@pytest.mark.parametrize("size", [DESKTOP, LAPTOP, NARROW], ids=["desktop", "laptop", "narrow"])
async def test_after_an_answer_the_next_letters_go_into_the_message(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/rates", size=size)
        page, keys = tab.page, tab.page.keyboard
        await expect(tab.ask.locator("h2")).to_have_text("Claude Code has 2 questions")
        send = tab.ask.get_by_role("button", name="Send answers")
        await keys.press("Control+.")
        await page.wait_for_function("document.activeElement?.closest('.request')")
        await keys.press("1")
        await keys.press("4")
        await expect(send).to_be_enabled()
        await send.focus()
        await keys.press("Enter")
        await until(lambda: len(told(hub)) > 0)
        # Until the answer is confirmed the request holds the focus, so nothing typed now is a shortcut.
        await expect(tab.ask).to_be_focused()
        [given] = told(hub)
        await append(hub.store, "rates", QuestionAnswered(given.request_id, "Mira", given.answers))
        await expect(page.locator("#message")).to_be_focused()
        await keys.type("and thanks")
        await expect(page.locator("#message")).to_have_value("and thanks")
        assert page.url.endswith("/sessions/rates")
        assert tab.errors == []


@pytest.mark.row("R9", "X13")
async def test_keys_are_shown_only_where_they_answer(hub: RunningHub, browser: Browser) -> None:
    await begun(hub, wants("r1", "Bash", "execute", command="make test"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    page, keys = tab.page, tab.page.keyboard
    allow = tab.ask.locator(".is-primary")
    await expect(allow).to_be_enabled()
    caps, hint = tab.ask.locator("footer kbd"), tab.ask.locator(".request__keys")
    message = page.locator("#message")
    for place, focused in ((message, "TEXTAREA"), (tab.well.locator("body"), "IFRAME")):
        await place.click()
        await page.wait_for_function("name => document.activeElement?.nodeName === name", arg=focused)
        await expect(hint).to_be_visible()
        await expect(caps.first).to_be_hidden()
        await keys.press("a")
    await expect(message).to_have_value("a")
    # From the list and the bar beside it they work, as in the request itself.
    for place in ("#side [data-key=s1].session-row", "#sbar button"):
        await page.locator(place).first.focus()
        await expect(caps.first).to_be_visible()
        await expect(hint).to_be_hidden()
    assert answers(hub) == []
    await keys.press("d")
    await until(lambda: bool(answers(hub)))
    await expect(tab.ask).to_have_count(0)
    await append(hub.store, "s1", wants("r2", "Bash", "execute", command="make lint"))
    await expect(allow).to_be_enabled()
    await keys.press("Control+.")
    await expect(tab.ask).to_be_focused()
    await expect(caps.first).to_be_visible()
    await keys.press("a")
    await until(lambda: len(answers(hub)) > 1)
    assert [(one.request_id, one.decision) for one in answers(hub)] == [("r1", "deny"), ("r2", "allow")]
    assert tab.errors == []


@pytest.mark.row("R9")
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1440x900", "390x844"])
async def test_s_never_makes_a_lasting_rule(hub: RunningHub, browser: Browser, size: Any) -> None:
    """The command can't be remembered exactly, and what the agent offers lasts: it has no key."""
    asked = wants("r1", "Bash", "execute", ONCE, LASTING, DENY, command="rm -rf build && npm run build")
    await begun(hub, asked)
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=size)
    page = tab.page
    await expect(tab.ask.locator(".is-primary")).to_be_enabled()
    await page.keyboard.press("Control+.")
    await expect(tab.ask).to_be_focused()
    await expect(tab.ask.locator("footer kbd")).to_have_text(["D", "⇧ D", "A"])
    await page.keyboard.press("s")
    await tab.ask.get_by_role("button", name="Allow always…").click()
    rule = page.get_by_role("menuitem", name="Allow rm -rf build in this project from now on")
    await expect(rule.locator("code")).to_have_text("rm -rf build")
    await expect(rule).to_contain_text("writes settings.local.json")
    assert answers(hub) == []
    await rule.click()
    await until(lambda: bool(answers(hub)))
    assert [(one.decision, one.option, one.remember) for one in answers(hub)] == [("allow", "rule", False)]
    assert tab.errors == []


@pytest.mark.row("R9")
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/code/lantern/zoom.txt", "You are asked because it would write zoom.txt."),
        ("/code/lantern-2/zoom.txt", "/code/lantern-2/zoom.txt is outside the folder of this session."),
        ("/code/lantern/../zoom.txt", "/code/lantern/../zoom.txt is outside the folder of this session."),
    ],
)
async def test_outside_is_said_only_of_what_is_outside_the_folder(
    hub: RunningHub, browser: Browser, path: str, reason: str
) -> None:
    asked = wants("r1", "Write", "edit", file_path=path, content="zoom")
    event = PermissionRequested(
        *(getattr(asked, name) for name in asked.__struct_fields__[:7]), blocked_path=path
    )
    await begun(hub, event)
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    await expect(tab.ask.locator(".request__why")).to_contain_text(reason)


@pytest.mark.row("R9", "X13")
async def test_on_a_phone_a_request_put_aside_is_a_button_that_opens_it_again(
    hub: RunningHub, browser: Browser
) -> None:
    await begun(hub, wants("r1", "Bash", "execute", command="make test"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=PHONE)
    later = tab.ask.get_by_role("button", name="Later")
    await expect(later).to_have_attribute("aria-expanded", "true")
    await later.click()
    again = tab.ask.get_by_role("button", name=re.compile("wants to run a command"))
    await expect(again).to_be_focused()
    await expect(again).to_have_attribute("aria-expanded", "false")
    await tab.page.keyboard.press("Enter")
    await expect(tab.ask).to_have_attribute("aria-modal", "true")
    await expect(tab.ask).to_be_focused()
    assert tab.errors == []


@pytest.mark.row("X13")
async def test_all_keys_are_listed_in_groups(hub: RunningHub, browser: Browser) -> None:
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/inbox", size=LAPTOP)
    await expect(tab.page.get_by_role("heading", name="Nothing needs you.")).to_be_visible()
    await tab.page.keyboard.press("?")
    sheet = tab.page.locator(".key-sheet")
    await expect(sheet.locator("h3")).to_have_text(["Anywhere", "Inbox", "In a session", "In a request"])
    await expect(sheet.locator("section").first.locator("dt")).to_have_text(
        [
            "Search and commands",
            "New session",
            "Go to the inbox",
            "Go to a tab",
            "Close the tab",
            "Show or hide the sidebar",
            "Go to the text field",
            "All keys",
        ]
    )
    await expect(sheet.get_by_label("Inbox").locator("dt")).to_have_text(
        ["Next", "Previous", "Open the session"]
    )
    await expect(sheet.get_by_label("In a session").locator("dt")).to_have_text(
        [
            "Send",
            "New line",
            "Stop the turn",
            "Edit the last message in the queue",
            "Go to your previous or next message",
            "Find in this conversation",
            "Open the conversation to print it",
            "Show or hide changes and files",
            "Rename the session",
            "Go to the request",
        ]
    )
    await expect(sheet.get_by_label("In a request").locator("dt")).to_have_text(
        ["Allow once", "Allow in this session", "Deny", "Deny with a reason", "Pick an answer"]
    )
    await expect(sheet.get_by_text("After Ctrl . or a click in the request")).to_be_visible()
    assert await sheet.evaluate("(one) => one.scrollHeight <= one.clientHeight")


@pytest.mark.row("R9", "X13")
async def test_a_button_stays_under_the_pointer_that_presses_it(hub: RunningHub, browser: Browser) -> None:
    """The press moves the focus into the request; its key caps wait for the release."""
    await begun(hub, wants("r1", "Bash", "execute", command="make test"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    page, mouse = tab.page, tab.page.mouse
    await expect(tab.ask.locator(".is-primary")).to_be_enabled()
    await page.locator("#message").click()
    caps, deny = tab.ask.locator("footer kbd"), tab.ask.locator(".danger")
    await expect(caps.first).to_be_hidden()
    await deny.hover()  # it stands still
    before = await deny.bounding_box()
    await mouse.down()
    await page.evaluate("new Promise((drawn) => setTimeout(() => requestAnimationFrame(drawn), 50))")
    assert await deny.bounding_box() == before
    await expect(caps.first).to_be_hidden()
    await page.locator("#sbar").hover()  # let go elsewhere: nothing is answered, and the caps come
    await mouse.up()
    await expect(caps.first).to_be_visible()
    assert answers(hub) == []
    await deny.click()
    await until(lambda: bool(answers(hub)))
    assert tab.errors == []
