"""The page against the real server and the demo agent: what a person sees in their first minutes."""

import re

import pytest
from playwright.async_api import Browser, expect
from tests.live import LiveServer
from tests.waiting import within
from tests.web.chrome import PHONE, needs_chromium, open_tab

from bascule.model.events import ArchivedChanged, PermissionAnswered, PromptSent, QuestionAnswered, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]


@pytest.fixture
def server(shared_server: LiveServer) -> LiveServer:
    return shared_server


ENDLESS = "slow 100000"  # a turn that is still going on however long the page takes


@pytest.mark.row("R7", "C4", "A7")
async def test_the_first_minute_shows_an_answer_a_diff_an_approval_a_question_and_a_plan(
    server: LiveServer, browser: Browser
) -> None:
    tab = await open_tab(browser, server.url, server.token)
    await expect(tab.page.locator("h1")).to_have_text("Nothing crosses until you say so")
    await tab.page.get_by_role("button", name="Try it").click()
    await tab.says("scripted demo")
    await expect(tab.ask.locator("h2")).to_have_text("Demo wants to write a file")
    await expect(tab.ask.locator(".is-added").first).to_contain_text("def greet():")
    await tab.allow()
    await expect(tab.ask.locator("h2")).to_have_text("Demo wants to edit a file")
    await tab.allow()
    await expect(tab.ask.locator(".request__command")).to_contain_text("echo demo")
    await tab.allow()
    await expect(tab.ask.locator("h2")).to_have_text("Demo has 2 questions")
    send = tab.ask.get_by_role("button", name="Send answers")
    await expect(send).to_be_disabled()
    await tab.ask.get_by_text("Green").click()
    await tab.ask.get_by_text("Unit").click()
    await send.click()
    await tab.says("You chose: Green, Unit.")
    await expect(tab.ask.locator("h2")).to_have_text("Demo has a plan")
    await tab.ask.get_by_role("button", name=re.compile("^Approve the plan( A)?$")).click()
    await tab.says("That was the tour.")
    await expect(tab.well.locator(".plan")).to_contain_text("Make it pass")
    await tab.well.get_by_text("View changes").click()
    await expect(tab.page.locator("#panel")).to_contain_text("greeting.py")
    assert tab.errors == []
    assert tab.strangers == []


@pytest.mark.row("A7")
async def test_text_streams_and_becomes_markdown_when_it_is_complete(
    server: LiveServer, browser: Browser
) -> None:
    session = await server.create(ENDLESS)
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("piece 2.")
    await expect(tab.well.locator(".caret")).to_be_visible()
    await server.post(f"/api/sessions/{session}/interrupt")
    await expect(tab.well.locator(".caret")).to_have_count(0)
    await server.wait_for(session, TurnEnded)
    await server.send(session, "count 12 20")
    await tab.says("10 11 12")
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


@pytest.mark.row("R8")
async def test_messages_wait_in_the_queue_and_can_be_changed_moved_and_withdrawn(
    server: LiveServer, browser: Browser
) -> None:
    session = await server.create(ENDLESS)
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
    await server.post(f"/api/sessions/{session}/interrupt", hold=False)
    sent = await server.wait_for(session, lambda one: isinstance(one, PromptSent) and one.text == "think")
    await server.wait_for(session, lambda one: isinstance(one, PromptSent) and one.text == "second", sent.seq)
    await expect(rows).to_have_count(0)


@pytest.mark.row("R8", "A7", "C4")
async def test_a_turn_is_stopped_only_after_a_second_look(server: LiveServer, browser: Browser) -> None:
    session = await server.create(ENDLESS)
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


@pytest.mark.row("R11", "C4")
async def test_the_page_outlives_a_killed_server_and_misses_nothing(
    server: LiveServer, browser: Browser
) -> None:
    session = await server.create("count 120 100")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("5 6 7")
    await server.kill()
    await tab.told("Trying again")
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


@pytest.mark.row("R10", "R12")
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


@pytest.mark.row("R24")
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
    await expect(tab.page.locator(".session-row")).to_be_visible()
    await expect(tab.page.get_by_role("navigation", name="Screens")).to_be_visible()


@pytest.mark.row("R7")
async def test_a_start_that_fails_says_why_and_keeps_the_task(server: LiveServer, browser: Browser) -> None:
    tab = await open_tab(browser, server.url, server.token)
    await tab.page.locator("#task").fill("Look around")
    await tab.page.evaluate("sessionStorage.setItem('bascule.cwd', '/no/such/folder')")
    await tab.page.reload()
    await tab.page.locator(".start__go").click()
    await expect(tab.page.get_by_role("alert")).to_contain_text("That folder can’t be used")
    await expect(tab.page.locator("#task")).to_have_value("Look around")


@pytest.mark.row("A6")
async def test_tabs_and_drafts_come_back_after_a_reload(server: LiveServer, browser: Browser) -> None:
    first, second = await server.create("think"), await server.create("think")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{first}")
    await tab.says("I have thought")
    await tab.page.locator(f"[data-key='{second}'].session-row").click()
    await expect(tab.page.locator("#tabs [role=tab]")).to_have_count(2)
    await tab.page.locator("#message").fill("half a thought")
    await tab.page.reload()
    await expect(tab.page.locator("#tabs [role=tab]")).to_have_count(2)
    await expect(tab.page.locator("#message")).to_have_value("half a thought")
    assert tab.page.url.endswith(f"/sessions/{second}")
    await tab.page.locator("[role=tab][aria-selected=true]").press("ArrowLeft")
    await expect(tab.page.locator("#message")).to_have_value("")
    await tab.page.locator(".session-tab.is-selected .icon-button").click()
    await expect(tab.page.locator("#tabs [role=tab]")).to_have_count(1)


@pytest.mark.row("R8", "C4")
async def test_a_session_is_ended_after_a_second_look_and_resumed_on_the_same_page(
    server: LiveServer, browser: Browser
) -> None:
    session = await server.create("think")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("I have thought")
    await tab.page.get_by_role("button", name="More", exact=True).click()
    await tab.page.get_by_role("menuitem", name="End session").click()
    await expect(tab.page.get_by_role("alertdialog")).to_contain_text("the transcript is kept")
    await tab.page.get_by_role("button", name="End session").click()
    await tab.says("Everything is kept.")
    await expect(tab.page.locator("#message")).to_be_hidden()
    await tab.page.get_by_role("button", name="Resume").click()
    await expect(tab.page.locator("#message")).to_be_visible()
    await expect(tab.page.locator(".pill")).to_have_text("Ready")
    await tab.page.locator("#message").fill("think")
    await tab.page.keyboard.press("Enter")
    await expect(tab.well.locator("#col").get_by_text("I have thought about it")).to_have_count(2)


async def test_a_new_browser_is_trusted_by_a_link_and_sent_away_when_it_is_revoked(
    server: LiveServer, browser: Browser
) -> None:
    tab = await open_tab(browser, server.url, server.token, path="/settings/browsers")
    await tab.page.get_by_label("Name").fill("Tablet")
    await tab.page.get_by_role("button", name="Create a link").click()
    link = await tab.page.locator(".copy-line span").inner_text()
    other = await open_tab(browser, server.url, link.split("#token=")[1])
    await expect(other.page.locator("#task")).to_be_visible()
    revoke = (row := tab.page.locator("tr", has_text="Tablet")).get_by_role("button", name="Revoke")
    await expect(revoke).to_be_enabled()
    with within(2):
        await revoke.click()
        await expect(other.page.get_by_text("This browser’s access was revoked")).to_be_visible()
    await expect(row).to_have_count(0)


@pytest.mark.row("C4")
async def test_a_token_of_one_session_opens_that_session_and_nothing_else(
    server: LiveServer, browser: Browser
) -> None:
    await server.create("think", title="Somebody else's")
    made = await server.post("/api/sessions", agent="demo", cwd=str(server.work), prompt="think")
    tab = await open_tab(browser, server.url, made.json()["token"])
    await tab.says("I have thought")
    assert tab.page.url.endswith(f"/sessions/{made.json()['id']}")
    await tab.page.locator("#message").fill("think")
    await tab.page.keyboard.press("Enter")
    await expect(tab.well.locator("#col").get_by_text("I have thought about it")).to_have_count(2)
    assert "Somebody else" not in await tab.page.locator("body").inner_text()
    assert tab.errors == []


@pytest.mark.row("R12", "R13")
async def test_a_session_is_exported_archived_and_taken_back(server: LiveServer, browser: Browser) -> None:
    session = await server.create("think", title="Keep me")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("I have thought")
    await tab.page.get_by_role("button", name="More", exact=True).click()
    async with tab.page.expect_download() as waiting:
        await tab.page.get_by_role("menuitem", name="Export as Markdown").click()
    path = await (await waiting.value).path()
    text = path.read_text()
    assert text.startswith("# Keep me\n")
    assert "I have thought about it" in text
    await tab.page.get_by_role("button", name="More", exact=True).click()
    await tab.page.get_by_role("menuitem", name="Archive").click()
    row = tab.page.locator(".session-row", has_text="Keep me")
    await expect(row).to_have_count(0)
    await tab.page.get_by_role("button", name="Archived").click()
    await expect(row).to_have_count(1)
    await row.click()
    await tab.page.get_by_role("button", name="More", exact=True).click()
    await tab.page.get_by_role("menuitem", name="Unarchive").click()
    await server.wait_for(session, lambda one: isinstance(one, ArchivedChanged) and not one.archived)
    await tab.page.reload()
    await expect(row).to_have_count(1)


async def test_slash_commands_of_the_agent_are_offered(server: LiveServer, browser: Browser) -> None:
    session = await server.create("think")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("I have thought")
    await tab.page.locator("#message").fill("/")
    await expect(tab.page.get_by_role("option")).to_have_count(2)
    await tab.page.keyboard.press("ArrowDown")
    await tab.page.keyboard.press("Tab")
    await expect(tab.page.locator("#message")).to_have_value("/help ")
