"""Nothing a person typed is lost: a message that the server refuses goes back into the composer."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub, until
from tests.web.chrome import needs_chromium, open_tab
from tests.web.lantern import lantern

from bascule.model.commands import SendPrompt
from bascule.model.errors import InvalidInput, LimitReached

pytestmark = [pytest.mark.anyio, needs_chromium]

TEXT = "Count the rows\nof every table"


def prompts(hub: RunningHub) -> list[str]:
    return [one.text for one in hub.device.commands if isinstance(one, SendPrompt)]


@pytest.mark.row("R15")
async def test_a_message_that_is_refused_is_in_the_composer_again(tmp_path: Path, browser: Browser) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/uploads")
        area = tab.page.locator("#message")
        for refusal in (
            LimitReached("At most 60 messages a minute. Try again in 3 s.", retry_after=3),
            InvalidInput("The message is longer than 1048576 characters."),
        ):
            hub.device.refuse = refusal
            await area.fill(TEXT)
            await area.press("Enter")
            await tab.told(re.escape(refusal.message))
            await expect(area).to_have_value(TEXT)
        # It is a draft like any other: it is there after a reload, and can be sent.
        hub.device.refuse = None
        before = len(prompts(hub))
        await tab.page.reload()
        await expect(area).to_have_value(TEXT)
        await expect(area).to_be_visible()  # before the session is known, a key would go elsewhere
        await area.press("Enter")
        await until(lambda: prompts(hub)[before:] == [TEXT])
        await expect(area).to_have_value("")


@pytest.mark.row("R15")
async def test_what_was_written_after_a_refused_message_stays_behind_it(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/uploads")
        area = tab.page.locator("#message")
        hub.device.mute = True
        for text in ("one", "two"):
            await area.fill(text)
            await area.press("Enter")
        await area.fill("three")
        await until(lambda: prompts(hub) == ["one"])
        hub.device.answer_refused(LimitReached("At most 60 messages a minute."))
        await expect(area).to_have_value("one\n\ntwo\n\nthree")
        assert prompts(hub) == ["one"]
