"""A stop holds the queue: in every viewer's page and on the command line, until somebody decides."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.cli.program import bascule
from tests.live import LiveServer
from tests.parts import Part
from tests.web.chrome import PHONE, Tab, needs_chromium, open_tab

from bascule.model.events import PromptSent, PromptWithdrawn, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

ENDLESS = "slow 100000"  # a turn that is still going on however long the page takes


@pytest.fixture(scope="module")
async def shared(module_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(module_dir) as running:
        yield running


async def stopped_with(server: LiveServer, browser: Browser, *texts: str) -> tuple[str, Tab]:
    """A session that was stopped by two presses of Escape while these messages waited."""
    session = await server.create(ENDLESS)
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("piece 1.")
    field = tab.page.locator("#message")
    for text in texts:
        await field.fill(text)
        await field.press("Enter")
    await expect(tab.page.locator(".queue li")).to_have_count(len(texts))
    await field.focus()
    await tab.press_twice("Escape")
    await server.wait_for(session, TurnEnded)
    return session, tab


async def sent_in(server: LiveServer, session: str) -> list[str]:
    return [one.event.text for one in await server.log(session) if isinstance(one.event, PromptSent)]


@pytest.mark.row("R8")
async def test_stopping_holds_the_queue_for_every_viewer_until_somebody_decides(
    shared: LiveServer, browser: Browser, part: Part
) -> None:
    session, tab = await stopped_with(shared, browser, "think one", "think two", "think three")
    header = tab.page.locator(".queue header")
    await expect(header).to_contain_text("3 held")
    await expect(header).to_contain_text("since the turn was stopped")
    await expect(tab.page.locator(f'[data-key="{session}"]').first).to_contain_text("3 messages held")
    other = await open_tab(browser, shared.url, shared.token, path=f"/sessions/{session}", size=PHONE)
    with part("another viewer sees it, also one that came later"):
        await expect(other.page.locator(".queue header")).to_contain_text("3 held")
    with part("the command line shows it and sends the next one alone"):
        shown = await bascule(shared.data, "sessions", "queue", session)
        assert shown.out.count("held  ") == 3, shown
        sent = await bascule(shared.data, "sessions", "queue", session, "--send-next")
        assert sent.out.count("held  ") == 2, sent
    await shared.wait_for(session, lambda one: isinstance(one, PromptSent) and one.text == "think one")
    await expect(header).to_contain_text("2 held")
    await expect(tab.page.locator(".pill")).to_have_text("Ready")
    with part("a new message passes what is held"):
        await tab.page.locator("#message").fill("think instead")
        await tab.page.locator("#message").press("Enter")
        told = await shared.wait_for(
            session, lambda one: isinstance(one, PromptSent) and one.text == "think instead"
        )
        await shared.wait_for(session, TurnEnded, told.seq)
        await expect(header).to_contain_text("2 held")
    await other.page.locator(".queue").get_by_role("button", name="Send all").click()
    await shared.wait_for(session, lambda one: isinstance(one, PromptSent) and one.text == "think three")
    await expect(tab.page.locator(".queue")).to_have_count(0)
    thought = [f"think {word}" for word in ("one", "instead", "two", "three")]
    assert await sent_in(shared, session) == [ENDLESS, *thought]
    assert tab.errors == other.errors == []


@pytest.mark.row("R8")
async def test_what_is_discarded_can_be_edited_instead(shared: LiveServer, browser: Browser) -> None:
    session, tab = await stopped_with(shared, browser, "think zero", "first thought", "second thought")
    await tab.page.locator(".queue__decide").get_by_role("button", name="Send next").click()
    await shared.wait_for(session, lambda one: isinstance(one, PromptSent) and one.text == "think zero")
    await expect(tab.page.locator(".queue header")).to_contain_text("2 held")
    await tab.page.locator(".queue").get_by_role("button", name="Discard").click()
    await shared.wait_for(session, PromptWithdrawn)
    await expect(tab.page.locator(".queue")).to_have_count(0)
    await tab.page.get_by_role("button", name="Edit instead").click()
    await expect(tab.page.locator("#message")).to_have_value("first thought\n\nsecond thought")
    assert tab.errors == []


@pytest.mark.row("R8")
async def test_send_now_sends_one_and_leaves_the_others_queued(shared: LiveServer, browser: Browser) -> None:
    session = await shared.create(ENDLESS)
    tab = await open_tab(browser, shared.url, shared.token, path=f"/sessions/{session}")
    await tab.says("piece 1.")
    for text in ("think later", ENDLESS):
        await tab.page.locator("#message").fill(text)
        await tab.page.locator("#message").press("Enter")
    rows = tab.page.locator(".queue li")
    await expect(rows).to_have_count(2)
    await rows.nth(1).get_by_role("button", name="Send now").click()
    await tab.page.get_by_role("button", name="Stop turn and send").click()
    await expect(rows).to_have_count(1)
    await expect(tab.page.locator(".queue header")).to_contain_text("1 queued")
    assert await sent_in(shared, session) == [ENDLESS, ENDLESS]
