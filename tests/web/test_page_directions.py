"""Arabic runs from right to left and Latin from left to right, wherever the page shows what people wrote."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, needs_chromium, open_tab
from tests.web.lantern import SHA, begin, lantern, raw, said, tell

from bascule.model.event_values import Question, QuestionOption
from bascule.model.events import PermissionRequested, PromptSent, QuestionAsked, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

SIZES = pytest.mark.parametrize("size", [DESKTOP, LAPTOP, PHONE], ids=["1440x900", "1280x720", "390x844"])
TITLE, OTHER = "إصلاح رفع الملفات", "Drop Python 3.10"
ASKED = "أي جدول نستخدم هنا؟"
WORDS = "وجدت المشكلة في الجدول القديم"
PLAN = "# الخطة\n\n1. أضف جدولا\n\nثم اختبره.\n\nThen ship it.\n"


async def runs(place: Locator, direction: str) -> None:
    await expect(place.first).to_have_css("direction", direction)


@SIZES
@pytest.mark.row("C4")
async def test_what_somebody_wrote_runs_in_its_own_direction_everywhere(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with lantern(tmp_path) as hub:
        options = (QuestionOption("الجدول القديم", "كما كان"), QuestionOption("A new one", "With an index"))
        asked = QuestionAsked("q9", (Question(ASKED, "Table", options),), raw(), SHA)
        again = [PromptSent("p2", WORDS, "Mira"), asked]
        talk = [PromptSent("p1", WORDS, "Mira"), *said("m1", f"{WORDS}.")]
        await tell(
            hub.store, "arabic", [*begin("/code/lantern", TITLE), *talk, TurnEnded("end_turn"), *again]
        )
        plan = PermissionRequested("r9", "ExitPlanMode", "Plan", "plan", raw(plan=PLAN), SHA, ())
        await tell(hub.store, "flaky", [plan])
        await hub.store.searchable()
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/python310", size=size)
        page = tab.page
        await runs(page.locator("#sbar h1"), "ltr")
        await tab.turn_to("/sessions/arabic")
        await tab.says(WORDS)
        await runs(tab.well.locator(".said"), "rtl")
        await runs(page.locator("#sbar h1"), "rtl")
        await runs(page.locator(".session-tab__title", has_text=TITLE), "rtl")
        await runs(page.locator(".session-tab__title", has_text=OTHER), "ltr")
        await runs(tab.ask.locator("h3"), "rtl")
        for text, direction in (("الجدول القديم", "rtl"), ("كما كان", "rtl"), ("A new one", "ltr")):
            await runs(tab.ask.locator(".option__text > *", has_text=text), direction)
        assert await serious(tab) == []
        await tab.turn_to("/sessions/flaky")
        await runs(tab.ask.locator("h3"), "rtl")
        await runs(tab.ask.locator("p", has_text="أضف جدولا"), "rtl")
        await runs(tab.ask.locator("p", has_text="Then ship it."), "ltr")
        await tab.turn_to("/")
        await runs(page.locator(".recent [data-key=arabic] .recent__title"), "rtl")
        await runs(page.locator(".recent [data-key=flaky] .recent__title"), "ltr")
        await tab.turn_to("/sessions")
        await runs(page.locator(".session-row[data-key=arabic] .session-row__title"), "rtl")
        await runs(page.locator(".session-row[data-key=python310] .session-row__title"), "ltr")
        await tab.turn_to("/inbox")
        row = page.locator("[data-key='arabic/q9']")
        await runs(row.locator(".inbox-row__second"), "rtl")
        await runs(row.locator(".inbox-row__third bdi", has_text=TITLE), "rtl")
        await runs(row.locator(".inbox-row__third"), "ltr")
        await page.keyboard.press("Control+k")
        field = page.get_by_role("combobox")
        await field.fill(TITLE)
        await runs(page.locator(".palette-row__title", has_text=TITLE), "rtl")
        await field.fill(WORDS)
        said_in = page.get_by_role("group", name="Said in sessions")
        await runs(said_in.locator(".palette-row__title"), "rtl")
        await field.fill("Drop Python")
        await runs(page.locator(".palette-row__title", has_text=OTHER), "ltr")
        await page.keyboard.press("Escape")
        await tab.turn_to("/search")
        field = page.get_by_label("Search in all sessions")
        await field.fill(WORDS)
        hit = page.locator(".search-hit[data-key=arabic]")
        await runs(hit.locator("q"), "rtl")
        await runs(hit.locator("b"), "rtl")
        assert tab.errors == []
