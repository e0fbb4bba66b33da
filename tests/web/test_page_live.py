"""The page against the real server and the demo agent: what a person sees in their first minutes."""

import re

import pytest
from playwright.async_api import Browser, expect
from tests.live import LiveServer
from tests.web.chrome import PHONE, needs_chromium, open_tab

from bascule.model.events import PermissionAnswered, PromptSent, QuestionAnswered, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]


async def test_the_first_minute_shows_an_answer_a_diff_an_approval_a_question_and_a_plan(
    server: LiveServer, browser: Browser
) -> None:
    tab = await open_tab(browser, server.url, server.token)
    await expect(tab.page.locator("h1")).to_have_text("Nothing crosses until you say so")
    await tab.page.get_by_role("button", name="Try it").click()
    await tab.page.locator(".go").click()
    await tab.says("scripted demo")
    await expect(tab.ask.locator("h2")).to_have_text("Demo wants to write a file")
    await expect(tab.ask.locator(".da").first).to_contain_text("def greet():")
    await tab.allow()
    await expect(tab.ask.locator("h2")).to_have_text("Demo wants to edit a file")
    await tab.allow()
    await expect(tab.ask.locator(".cmd")).to_contain_text("echo demo")
    await tab.allow()
    await expect(tab.ask.locator("h2")).to_have_text("Demo asks you 2 things")
    send = tab.ask.get_by_role("button", name="Send answers")
    await expect(send).to_be_disabled()
    await tab.ask.get_by_text("Green").click()
    await tab.ask.get_by_text("Unit").click()
    await send.click()
    await tab.says("You chose: Green, Unit.")
    await expect(tab.ask.locator("h2")).to_have_text("Demo has a plan")
    await tab.ask.get_by_role("button", name=re.compile("^Approve the plan A")).click()
    await tab.says("That was the tour.")
    await expect(tab.well.locator(".plan")).to_contain_text("Make it pass")
    await tab.well.get_by_text("View changes").click()
    await expect(tab.page.locator("#panel")).to_contain_text("greeting.py")
    assert tab.errors == []
    assert tab.strangers == []


async def test_text_streams_and_becomes_markdown_when_it_is_complete(
    server: LiveServer, browser: Browser
) -> None:
    session = await server.create("slow 30")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("piece 2.")
    await expect(tab.well.locator(".caret")).to_be_visible()
    assert "piece 30." not in await tab.well.locator("#col").inner_text()
    await tab.says("piece 30.")
    await expect(tab.well.locator(".caret")).to_have_count(0)
    await expect(tab.page.locator(".pill")).to_have_text("Ready")


async def test_a_denial_with_a_reason_reaches_the_agent_and_stands_in_the_transcript(
    server: LiveServer, browser: Browser
) -> None:
    session = await server.create("run")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.ask.get_by_role("button", name="Deny with a reason").click()
    await tab.ask.get_by_label("Reason").fill("Use make instead")
    await tab.page.keyboard.press("Enter")
    answered = (await server.wait_for(session, PermissionAnswered)).event
    assert isinstance(answered, PermissionAnswered)
    assert (answered.decision, answered.message) == ("deny", "Use make instead")
    await tab.says("“Use make instead”")
    await expect(tab.ask).to_have_count(0)


async def test_messages_wait_in_the_queue_and_can_be_changed_moved_and_withdrawn(
    server: LiveServer, browser: Browser
) -> None:
    session = await server.create("slow 80")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("piece 1.")
    for text in ("first", "second", "third"):
        await tab.page.locator("#message").fill(text)
        await tab.page.keyboard.press("Enter")
    rows = tab.page.locator(".queue li")
    await expect(rows).to_have_count(3)
    await rows.nth(0).get_by_role("button", name="Withdraw").click()
    await expect(rows).to_have_count(2)
    await rows.nth(1).get_by_role("button", name="Send next").click()
    await expect(rows.nth(0)).to_contain_text("third")
    await rows.nth(0).get_by_role("button", name="Edit").click()
    await tab.page.locator(".queue textarea").fill("think")
    await tab.page.keyboard.press("Enter")
    await expect(rows.nth(0)).to_contain_text("think")
    await tab.page.reload()
    await expect(rows.nth(1)).to_contain_text("second")
    sent = await server.wait_for(session, lambda one: isinstance(one, PromptSent) and one.text == "think")
    await server.wait_for(session, lambda one: isinstance(one, PromptSent) and one.text == "second", sent.seq)
    await expect(rows).to_have_count(0)


async def test_a_turn_is_stopped_only_after_a_second_look(server: LiveServer, browser: Browser) -> None:
    session = await server.create("slow 200")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("piece 1.")
    await tab.page.get_by_role("button", name="Stop this turn").click()
    await tab.page.get_by_role("button", name="Keep going").click()
    await tab.page.get_by_role("button", name="Stop this turn").click()
    await tab.page.get_by_role("button", name="Stop turn").click()
    ended = (await server.wait_for(session, TurnEnded)).event
    assert isinstance(ended, TurnEnded)
    assert ended.stop_reason == "interrupted"
    await tab.says("stopped this turn")


async def test_the_page_outlives_a_killed_server_and_misses_nothing(
    server: LiveServer, browser: Browser
) -> None:
    session = await server.create("count 120 100")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("5 6 7")
    await server.kill()
    await expect(tab.page.locator(".banner")).to_contain_text("Trying again")
    await expect(tab.page.locator(".banner")).to_contain_text("nothing is lost")
    assert "5 6 7" in await tab.well.locator("#col").inner_text()
    await tab.page.locator("#message").fill("think")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.locator(".queue")).to_contain_text("sent when the connection is back")
    await server.start()
    await tab.page.evaluate("dispatchEvent(new Event('online'))")  # or it would wait for its next try
    await expect(tab.page.locator(".banner.warn")).to_have_count(0)
    await server.wait_for(session, TurnEnded)
    await tab.says(" ".join(str(n) for n in range(1, 121)))
    await tab.says("I have thought about it")
    sent = [row.event for row in await server.log(session) if isinstance(row.event, PromptSent)]
    assert [one.text for one in sent] == ["count 120 100", "think"]


async def test_two_browsers_stay_in_step_and_the_second_learns_who_answered(
    server: LiveServer, browser: Browser
) -> None:
    made = await server.post("/api/grants", name="Jonas", role="operator")
    session = await server.create("ask")
    path = f"/sessions/{session}"
    mine = await open_tab(browser, server.url, server.token, path=path)
    other = await open_tab(browser, server.url, made.json()["token"], path=path)
    await expect(mine.ask).to_have_count(1)
    await expect(other.ask).to_have_count(1)
    for text in ("Blue", "Lint"):
        await other.ask.get_by_text(text, exact=True).click()
    await other.ask.get_by_role("button", name="Send answers").click()
    answered = (await server.wait_for(session, QuestionAnswered)).event
    assert isinstance(answered, QuestionAnswered)
    assert answered.by == "Jonas"
    await expect(mine.ask).to_have_count(0)
    await mine.says("Jonas answered")
    await other.page.locator("#message").fill("think")
    await other.page.keyboard.press("Enter")
    await mine.says("I have thought about it")


async def test_on_a_phone_an_approval_takes_the_screen_and_later_gives_it_back(
    server: LiveServer, browser: Browser
) -> None:
    session = await server.create("run")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}", size=PHONE)
    box = await tab.ask.bounding_box()
    assert box is not None
    assert (round(box["width"]), round(box["height"])) == (390, 844)
    for button in await tab.ask.locator("footer button:visible").all():
        size = await button.bounding_box()
        assert size is not None
        assert size["height"] >= 44
    await tab.page.get_by_role("button", name="Later").click()
    await expect(tab.page.locator("#message")).to_be_visible()
    await tab.ask.locator("header").click()
    await tab.allow()
    await tab.says("The command is done")
    await tab.page.get_by_role("button", name="Back to the list").click()
    await expect(tab.page.locator(".srow")).to_be_visible()
    await expect(tab.page.get_by_role("navigation", name="Screens")).to_be_visible()


async def test_a_start_that_fails_says_why_and_keeps_the_task(server: LiveServer, browser: Browser) -> None:
    tab = await open_tab(browser, server.url, server.token)
    await tab.page.locator("#task").fill("Look around")
    await tab.page.evaluate("sessionStorage.setItem('bascule.cwd', '/no/such/folder')")
    await tab.page.evaluate("dispatchEvent(new Event('bascule:start'))")
    await tab.page.locator(".go").click()
    await expect(tab.page.get_by_role("alert")).to_contain_text("That folder can’t be used")
    await expect(tab.page.locator("#task")).to_have_value("Look around")


async def test_tabs_and_drafts_come_back_after_a_reload(server: LiveServer, browser: Browser) -> None:
    first, second = await server.create("think"), await server.create("think")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{first}")
    await tab.says("I have thought")
    await tab.page.locator(f"[data-key='{second}'].srow").click()
    await expect(tab.page.get_by_role("tab")).to_have_count(2)
    await tab.page.locator("#message").fill("half a thought")
    await tab.page.reload()
    await expect(tab.page.get_by_role("tab")).to_have_count(2)
    await expect(tab.page.locator("#message")).to_have_value("half a thought")
    assert tab.page.url.endswith(f"/sessions/{second}")
    await tab.page.locator("[role=tab][aria-selected=true]").press("ArrowLeft")
    await expect(tab.page.locator("#message")).to_have_value("")
    await tab.page.locator(".tab.sel .ib").click()
    await expect(tab.page.get_by_role("tab")).to_have_count(1)
