"""What is typed into a request outlasts a reload, a look elsewhere, a refusal and an earlier answer."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import until
from tests.web.chrome import needs_chromium, open_tab
from tests.web.lantern import lantern, tell, wants_command

from bascule.model.commands import AnswerPermission, AnswerQuestion
from bascule.model.errors import LimitReached
from bascule.model.events import PermissionWithdrawn, QuestionAnswered, QuestionWithdrawn

pytestmark = [pytest.mark.anyio, needs_chromium]

BUSY = LimitReached("At most 60 answers a minute.")


@pytest.mark.row("R15")
async def test_an_answer_being_written_is_there_after_a_reload_and_goes_into_the_message_when_taken_back(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/rates")
        own = tab.ask.get_by_label("Your own answer")
        await own.nth(0).fill("Dotted, as in print")
        await tab.ask.get_by_text("Overview", exact=True).click()
        await own.nth(1).fill("And the “e-mail”")
        await tab.page.reload()
        await expect(own.nth(0)).to_have_value("Dotted, as in print")
        await expect(own.nth(1)).to_have_value("And the “e-mail”")
        await expect(tab.ask.get_by_role("checkbox", name="Overview")).to_be_checked()
        await tell(hub.store, "rates", [QuestionWithdrawn("q1", "agent")])
        message = tab.page.locator("#message")
        await expect(message).to_have_value("Dotted, as in print\n\nAnd the “e-mail”")
        # It is a draft like any other, and comes once.
        await tab.page.reload()
        await expect(message).to_be_visible()
        await expect(message).to_have_value("Dotted, as in print\n\nAnd the “e-mail”")
        assert tab.errors == []


@pytest.mark.row("R15")
async def test_words_that_another_answer_overtook_stand_behind_the_message_that_was_begun(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/uploads")
        message = tab.page.locator("#message")
        await message.fill("Meanwhile")
        await tell(hub.store, "uploads", list(wants_command()))
        await tab.ask.get_by_role("button", name="Deny with a reason").click()
        await tab.ask.get_by_label("Reason").fill("Use the test database")
        # Also when it is settled while nobody looks.
        await tab.page.goto("about:blank")
        await tell(hub.store, "uploads", [PermissionWithdrawn("r1", "interrupted")])
        await tab.go("/sessions/uploads")
        await expect(message).to_have_value("Meanwhile\n\nUse the test database")
        # What the answer that counts says, too, is not said twice.
        await tab.page.locator("[data-key=rates].session-row").click()
        own = tab.ask.get_by_label("Your own answer")
        await own.nth(0).fill("Dotted")
        await own.nth(1).fill("Only the e-mail")
        await tell(hub.store, "rates", [QuestionAnswered("q1", "Jonas", {"Which line?": "Dotted"})])
        await expect(message).to_have_value("Only the e-mail")
        assert tab.errors == []


@pytest.mark.row("R15")
async def test_the_reason_of_a_denial_is_kept_until_the_denial_is_taken(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        await tell(hub.store, "uploads", list(wants_command()))
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/uploads")
        reason = tab.ask.get_by_label("Reason")
        await tab.ask.get_by_role("button", name="Deny with a reason").click()
        await reason.fill("Use the test database")
        await tab.page.locator("[data-key=python310].session-row").click()
        await tab.says("Removed the shims")
        await tab.page.locator("[data-key=uploads].session-row").click()
        await expect(reason).to_have_value("Use the test database")
        await tab.page.reload()
        await expect(reason).to_have_value("Use the test database")
        hub.device.refuse = BUSY
        await tab.ask.locator(".reason").get_by_role("button", name="Deny").click()
        await tab.told(BUSY.message)
        await expect(reason).to_have_value("Use the test database")
        # Put away and asked for again, it is there, too.
        await tab.ask.get_by_role("button", name="Cancel").click()
        await tab.ask.get_by_role("button", name="Deny with a reason").click()
        await expect(reason).to_have_value("Use the test database")
        # It goes along with either button.
        hub.device.refuse = None
        await tab.ask.locator("footer > .danger").click()
        await expect(tab.ask).to_have_count(0)
        given = [one for one in hub.device.commands if isinstance(one, AnswerPermission)]
        assert [one.message for one in given][-1] == "Use the test database"
        # The agent has it: it is not offered as a message.
        await expect(tab.page.locator("#message")).to_be_visible()
        await expect(tab.page.locator("#message")).to_have_value("")
        assert tab.errors == []


@pytest.mark.row("R15")
async def test_an_answer_that_is_refused_is_still_there_and_one_that_was_taken_is_gone(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/rates")
        own = tab.ask.get_by_label("Your own answer")
        send = tab.ask.get_by_role("button", name="Send answers")
        await own.nth(0).fill("Dotted")
        await own.nth(1).fill("The e-mail")
        hub.device.refuse = BUSY
        await expect(send).to_be_enabled()
        await send.click()
        await tab.told(BUSY.message)
        await expect(send).to_be_enabled()
        await tab.page.reload()
        await expect(own.nth(0)).to_have_value("Dotted")
        await expect(own.nth(1)).to_have_value("The e-mail")
        hub.device.refuse = None
        await tab.ask.get_by_role("button", name="Let it decide").click()
        await expect(tab.ask).to_contain_text("Waiting for tower to confirm")
        await until(
            lambda: any(isinstance(one, AnswerQuestion) and not one.answers for one in hub.device.commands)
        )
        kept = "() => Object.keys(localStorage).filter((one) => one.startsWith('bascule.draft.request '))"
        await tell(hub.store, "rates", [QuestionAnswered("q1", "Mira", {})])
        await expect(tab.page.locator("#message")).to_be_visible()
        await expect(tab.page.locator("#message")).to_have_value("")
        assert await tab.page.evaluate(kept) == []
        assert tab.errors == []


# Runs before the page does: whether the message's field was hidden in the moment it came.
WATCH = """new MutationObserver((_, observer) => {
  const field = document.getElementById('message');
  if (!field) return;
  observer.disconnect();
  window.hiddenAtFirst = Boolean(field.closest('[hidden]'));
}).observe(document, { childList: true, subtree: true })"""


@pytest.mark.row("R15")
async def test_nothing_can_be_typed_before_the_page_knows_which_draft_it_shows(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"])
        await tab.page.add_init_script(WATCH)
        await tab.go("/sessions/uploads")
        await expect(tab.page.locator("#message")).to_be_visible()
        assert await tab.page.evaluate("window.hiddenAtFirst")
        assert tab.errors == []
