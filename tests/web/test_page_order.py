"""Titles and other words of agents that would turn a line around: written out wherever they are shown."""

import pytest
from msgspec import Raw
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub
from tests.hub.scripted_device import append
from tests.web.chrome import needs_chromium, open_tab
from tests.web.test_page_names import OPTIONS, SHA, raw, wants

from bascule.model.event_values import PermissionOption, Question
from bascule.model.events import (
    CommandsChanged,
    ModelChanged,
    ModelChoice,
    ModelsChanged,
    PermissionRequested,
    PromptQueued,
    QuestionAsked,
    SessionFailed,
    SessionReady,
    SessionStarted,
    SlashCommand,
    TitleChanged,
)

pytestmark = [pytest.mark.anyio, needs_chromium]

TURNED = "\u202egnp.exe\u2066 \u200f\x9b31m\x1b[2J"
PLACES = (
    "/",
    "/sessions",
    "/sessions/s1",
    "/sessions/s2",
    "/inbox",
    "/search",
    "/compare",
    "/settings/browsers",
)
RAW = """() => {
  const bad = new RegExp('[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c'
    + '\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]');
  const found = bad.test(document.title) ? ['title: ' + document.title] : [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { data, parentElement } = walk.currentNode;
    if (bad.test(data)) found.push(parentElement.className);
  }
  for (const one of document.querySelectorAll('[title], [aria-label]')) {
    const words = one.title + (one.getAttribute('aria-label') ?? '');
    if (bad.test(words)) found.push('attribute of ' + one.className);
  }
  return found;
}"""


@pytest.mark.row("B10", "S44")
async def test_a_title_that_turns_a_line_around_is_written_out_everywhere(
    hub: RunningHub, browser: Browser
) -> None:
    """Also models, commands, queued messages, options, names and reasons: all outside the frames."""
    command = SlashCommand(f"do{TURNED}", TURNED)
    option = PermissionOption("always", "allow_always", TURNED, TURNED)
    asked = PermissionRequested("r1", TURNED, TURNED, "other", raw(command=TURNED), SHA, (*OPTIONS, option))
    started = SessionStarted("scripted", "stream_json", f"/tmp/{TURNED}", TURNED, "device-1")
    await append(
        hub.store,
        "s1",
        started,
        SessionReady("c1"),
        TitleChanged(f"innocent {TURNED}"),
        ModelsChanged((ModelChoice(TURNED, TURNED, TURNED), ModelChoice("b", "b"))),
        ModelChanged(TURNED),
        CommandsChanged((command,)),
        PromptQueued("q1", TURNED, TURNED),
        QuestionAsked("r0", (Question(TURNED, TURNED),), Raw(b"{}"), SHA),
        asked,
        wants("r2", TURNED),
    )
    await append(hub.store, "s2", started, TitleChanged(TURNED), SessionFailed("exited_early", TURNED))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"])
    for place in PLACES:
        await tab.turn_to(place)
        await expect(tab.page.locator("#side")).to_contain_text("\\u{202e}gnp.exe")
        assert await tab.page.evaluate(RAW) == [], place
    await tab.turn_to("/sessions/s1")
    shown = "innocent \\u{202e}gnp.exe\\u{2066} \\u{200f}\\u{9b}31m\\u{1b}[2J"
    for place in (
        "#side .session-row.is-selected .session-row__title",
        "#tabs .session-tab.is-selected .session-tab__title",
        ".session-bar__name h1",
    ):
        await expect(tab.page.locator(place)).to_have_text(shown)
    for _ in range(3):
        await expect(tab.ask).to_be_visible()
        assert await tab.page.evaluate(RAW) == []
        await tab.page.get_by_role("button", name="Next request").click()
    assert (
        await tab.page.title()
        == "(3) innocent \\u{202e}gnp.exe\\u{2066} \\u{200f}\\u{9b}31m\\u{1b}[2J · Bascule"
    )
    assert tab.errors == []
