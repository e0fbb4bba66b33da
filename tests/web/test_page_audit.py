"""The audit log in the page: what a record shows, filters over the whole log, exports, a broken chain."""

import csv
import hashlib
import io
import json
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect
from tests.daemon.scripted import MINI
from tests.hub.running_hub import RunningHub
from tests.live import LiveServer
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, PHONE, Tab, needs_chromium, open_tab
from tests.web.lantern import lantern

from bascule.model.events import TurnEnded
from bascule.store.base import AuditRecord

pytestmark = [pytest.mark.anyio, needs_chromium]

SHOTS = os.environ.get("BASCULE_TEST_SHOTS", "")  # a folder for pictures, to be looked at
SIZES = pytest.mark.parametrize("size", [{"width": 1280, "height": 720}, PHONE], ids=["1280x720", "390x844"])
WIDER = "document.documentElement.scrollWidth > innerWidth"
CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36"
LONG = "git push --force origin main && rm -rf build/ /srv/app/very/long/path/without/a/break/" + "x" * 60


def records(grant: str) -> list[AuditRecord]:
    start = "Claude Code in /srv/shop on laptop, by the hub office: first time from this address"
    mira: Any = {"grant_id": grant, "address": "192.168.1.5", "user_agent": CHROME}
    return [
        AuditRecord("session_started", "Mira", "uploads", **mira),
        AuditRecord("input", "Mira", "uploads", detail="240 characters", **mira),
        AuditRecord("permission", "Mira", "uploads", decision="allow", detail="Bash: pytest -q", **mira),
        AuditRecord("permission", "Ana", "uploads", "g-old-1", "10.0.0.7", decision="deny", detail=LONG),
        AuditRecord("start_unusual", "Ana", None, "g-old-1", "10.0.0.7", CHROME, detail=start),
        AuditRecord("limit", "Mira", "rates", detail="session_cents: raised to 400", **mira),
        AuditRecord("refused", "=HYPERLINK(1)", None, "", "10.0.0.9", "curl/8.5", detail="AddRule"),
    ]


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[RunningHub]:
    async with lantern(tmp_path) as running:
        mira = next(one for one in running.grants.list() if one.name == "Mira")
        await running.store.audit([AuditRecord("input", "Zoe", "uploads", detail="the first of all")])
        # More than the page reads at first, or in one step back.
        await running.store.audit([AuditRecord("input", "Bot", "rates") for _ in range(1300)])
        await running.store.audit(records(mira.id))
        yield running


async def open_audit(browser: Browser, hub: RunningHub, size: Any = DESKTOP) -> Tab:
    return await open_tab(browser, hub.url, hub.tokens["Mira"], path="/settings/audit", size=size)


async def look(tab: Tab, name: str) -> None:
    if SHOTS:
        width = await tab.page.evaluate("innerWidth")
        for theme in ("dark", "light"):
            await tab.page.emulate_media(color_scheme=theme)
            await tab.page.screenshot(path=f"{SHOTS}/{name}-{width}-{theme}.png")
    assert await serious(tab) == []
    assert not await tab.page.evaluate(WIDER)
    assert tab.errors == []


def row_of(tab: Tab, words: str) -> Locator:
    return tab.page.locator(".audit tbody tr", has_text=words)


@SIZES
@pytest.mark.row("R16", "X3")
async def test_a_record_shows_grant_browser_address_and_machine_and_filters_look_through_the_whole_log(
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    tab = await open_audit(browser, hub, size)
    page, rows = tab.page, tab.page.locator(".audit tbody tr")
    await expect(page.locator(".chain")).to_contain_text("each follows from the one before")
    await expect(rows).to_have_count(200)
    denied = row_of(tab, "git push --force")
    for words in ("Denied", "Ana", "key g-old-1", "10.0.0.7", "Resume interrupted uploads"):
        await expect(denied).to_contain_text(words)
    await expect(row_of(tab, "pytest -q")).to_contain_text("Chrome on Linux")
    await expect(row_of(tab, "pytest -q").locator(".audit__session")).to_contain_text("tower")
    await expect(row_of(tab, "AddRule")).to_contain_text("curl")
    await look(tab, "audit-log")
    # Who is only in the first of 1300 records is found, too.
    await page.get_by_label("Who").select_option(label="Mira")
    await expect(rows.first).to_contain_text("Answered a limit")
    await expect(page.get_by_role("button", name="earlier record")).to_have_count(0)
    await page.get_by_label("Who").select_option(label="Zoe")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("the first of all")
    await page.get_by_label("When").select_option(label="Between two days…")
    tomorrow = (datetime.now(UTC) + timedelta(days=2)).date().isoformat()
    await page.get_by_label("From", exact=True).fill(tomorrow)
    await expect(page.get_by_text("No record here matches these filters.")).to_be_visible()
    await look(tab, "audit-none")


@pytest.mark.row("R16")
async def test_the_log_is_exported_whole_with_its_chain_and_filtered_without_formulas(
    hub: RunningHub, browser: Browser
) -> None:
    tab = await open_audit(browser, hub)
    async with tab.page.expect_download() as saving:
        await tab.page.get_by_role("button", name="Export JSON lines").click()
    download = await saving.value
    assert download.suggested_filename.startswith("audit-tower-")
    head, lines = "0" * 64, (await text_of(download)).splitlines()
    for number, line in enumerate(lines, 1):
        one = json.loads(line)
        body = json.dumps(one["entry"], separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        assert one["entry"]["n"] == number
        assert one["prev_hash"] == head
        head = hashlib.sha256(head.encode() + body.encode()).hexdigest()
        assert one["hash"] == head
    assert len(lines) > 1300
    await tab.page.get_by_label("What").select_option(label="Was refused")
    async with tab.page.expect_download() as saving:
        await tab.page.get_by_role("button", name="Export CSV").click()
    table = list(csv.DictReader(io.StringIO(await text_of(await saving.value))))
    assert [(one["actor"], one["address"], one["machine"]) for one in table] == [
        ("'=HYPERLINK(1)", "10.0.0.9", "tower")
    ]
    assert tab.errors == []


async def text_of(download: Any) -> str:
    return Path(await download.path()).read_text()


@SIZES
@pytest.mark.row("R16")
async def test_a_changed_record_is_said_in_words_with_its_number(
    hub: RunningHub, browser: Browser, tmp_path: Path, size: Any
) -> None:
    database = next(tmp_path.rglob("bascule.db"))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DROP TRIGGER audit_is_never_changed")
        connection.execute("UPDATE audit SET body = CAST(body || ' ' AS BLOB) WHERE n = 3")
    tab = await open_audit(browser, hub, size)
    chain = tab.page.locator(".chain")
    await expect(chain).to_contain_text("Broken at record 3: it was changed after it was written.")
    await expect(chain).to_contain_text("Compare the log with a backup")
    # What follows is shown, and marked.
    await expect(row_of(tab, "AddRule")).to_contain_text("not verified")
    await expect(tab.page.locator(".audit tbody tr").last).not_to_contain_text("not verified")
    await look(tab, "audit-broken")


@pytest.mark.joined("at a hub the page shows the hub's own log first")
@pytest.mark.row("R16", "X3", "S49")
async def test_an_answer_that_was_given_here_is_shown_with_what_was_allowed_and_no_key_in_it(
    short_dir: Path, browser: Browser
) -> None:
    key = "sk-ant-api03" + "-Zq8vT2kLm4Np6Rs8Tu0Vw1"
    server = LiveServer(short_dir)
    server.add_agent("mini", MINI)
    async with server:
        session = await server.create(f"ask TOKEN={key} ./deploy --to tower", agent="mini")
        tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
        await tab.allow()
        await server.wait_for(session, TurnEnded)
        await tab.turn_to("/settings/audit")
        allowed = row_of(tab, "Allowed")
        await expect(allowed).to_have_count(1)
        what = "Bash: TOKEN=[hidden] ./deploy --to tower"
        await expect(allowed.locator(".audit__detail")).to_have_text(what)
        await look(tab, "audit-allowed")
        records, verdict = await server.audit()
        assert key not in json.dumps(records)
        assert verdict["ok"], verdict
