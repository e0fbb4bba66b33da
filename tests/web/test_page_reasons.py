"""The field for a reason says what becomes of it."""

import pytest
from msgspec.structs import replace
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub, until
from tests.web.chrome import needs_chromium, open_tab
from tests.web.test_page_requests import answers, begun, wants

pytestmark = [pytest.mark.anyio, needs_chromium]


@pytest.mark.row("B10")
@pytest.mark.parametrize("follows", [True, False])
async def test_the_reason_field_says_when_it_is_sent_as_the_next_message(
    hub: RunningHub, browser: Browser, follows: bool
) -> None:
    await begun(hub, replace(wants("r1", "Bash", "execute", command="make test"), reason_follows=follows))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    await tab.ask.get_by_role("button", name="Deny with a reason").click()
    hint = tab.ask.get_by_text("Sent as your next message.")
    await expect(hint).to_have_count(1 if follows else 0)
    await tab.ask.get_by_label("Reason").fill("Not now")
    await tab.ask.get_by_label("Reason").press("Enter")
    await until(lambda: bool(answers(hub)))
    assert [(one.decision, one.message) for one in answers(hub)] == [("deny", "Not now")]
