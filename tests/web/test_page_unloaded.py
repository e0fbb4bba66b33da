"""What the page has not loaded yet: nothing is made of what stands there meanwhile."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub
from tests.web.chrome import needs_chromium, open_tab

pytestmark = [pytest.mark.anyio, needs_chromium]


async def test_a_prompt_is_not_used_before_it_is_loaded(
    hub: RunningHub, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = {"title": "Explain", "delta": {"ops": [{"insert": "Explain it to me\n"}]}}
    async with hub.client(hub.tokens["owner"]) as client:
        made = (await client.post("/api/prompts", json={"content": content})).json()
    may_load, read = asyncio.Event(), hub.services.prompts.content

    async def content_later(*named: Any) -> Any:
        await may_load.wait()
        return await read(*named)

    monkeypatch.setattr(hub.services.prompts, "content", content_later)
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path=f"/library/{made['id']}")
    use, dialog = tab.page.locator(".library-use"), tab.page.get_by_role("dialog")
    await expect(use).to_be_disabled()
    await tab.page.keyboard.press("Control+Enter")
    await expect(dialog).to_have_count(0)
    may_load.set()
    await use.click()
    await expect(dialog.locator("pre")).to_have_text("Explain it to me")
    assert tab.errors == []
