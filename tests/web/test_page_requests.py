"""Requests and questions of a scripted agent: what is shown, who may answer, the inbox, the settings."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub, until
from tests.hub.scripted_device import append
from tests.parts import Part
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, PHONE, needs_chromium, open_tab
from tests.web.lantern import SHA, lantern, tell, wants_command, wants_edit

from bascule.model.commands import AnswerPermission, AnswerQuestion, KeepSession
from bascule.model.event_values import PermissionOption, Question, QuestionOption, Usage
from bascule.model.events import (
    AnyEvent,
    EndCancelled,
    EndScheduled,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PromptSent,
    QuestionAsked,
    SessionReady,
    SessionStarted,
    TurnEnded,
    UsageChanged,
)

pytestmark = [pytest.mark.anyio, needs_chromium]

ONCE = PermissionOption("once", "allow_once", "Allow once")
DENY = PermissionOption("deny", "deny", "Deny")
PLAN = "# Resume uploads\n\n1. Add a table `parts`\n   - by **number**\n2. Test it\n\n```\nmake test\n```\n"


def wants(
    request: str, tool: str, kind: Any, *options: PermissionOption, **given: Any
) -> PermissionRequested:
    raw = Raw(json.dumps(given).encode())
    return PermissionRequested(request, tool, tool, kind, raw, "a" * 64, options or (ONCE, DENY))


async def begun(hub: RunningHub, *events: AnyEvent, session: str = "s1") -> None:
    start = SessionStarted("scripted", "stream_json", "/code/lantern", "ana")
    await append(hub.store, session, start, SessionReady("abc"), PromptSent("p1", "Hello", "ana"), *events)


def answers(hub: RunningHub) -> list[AnswerPermission]:
    return [one for one in hub.device.commands if isinstance(one, AnswerPermission)]


def told(hub: RunningHub) -> list[AnswerQuestion]:
    return [one for one in hub.device.commands if isinstance(one, AnswerQuestion)]


@pytest.mark.row("R9", "S44")
async def test_each_tool_shows_exactly_what_it_would_do_and_settles_by_its_event(
    hub: RunningHub, browser: Browser, part: Part
) -> None:
    """Also two requests in turn, a denial with a reason, a withdrawal and an answer that came too late."""
    always = PermissionOption("always", "allow_always", "Always allow make", "in this project")
    await begun(
        hub,
        wants("r1", "Bash", "execute", ONCE, always, DENY, command="make test"),
        wants("r2", "Write", "edit", file_path="/code/lantern/new.py", content="one = 1\ntwo = 2\n"),
        wants("r3", "mcp__tracker__create", "other", title="Bug", labels=["a", "b\u202ec"]),
        wants("r4", "ExitPlanMode", "plan", plan=PLAN),
        wants("r5", "WebFetch", "fetch", url="https://example.org/a?b=c"),
    )
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    ask = tab.ask
    await expect(ask.locator("h2")).to_have_text("Scripted wants to run a command")
    with part("a command is shown with what would be allowed from then on"):
        await expect(ask.locator(".pager")).to_contain_text("1 of 5")
        await expect(ask.locator(".scope")).to_contain_text("Allow make test in this session")
        await expect(ask.locator(".request__why")).to_contain_text("no rule covers make")
    await expect(ask.locator(".scope")).to_be_enabled()
    await ask.locator(".scope").click()
    await expect(ask.locator("h2")).to_have_text("Scripted wants to write a file")
    assert [(one.request_id, one.remember) for one in answers(hub)] == [("r1", True)]
    with part("a file to be written is shown line by line"):
        await expect(ask.locator(".request__meta.is-top")).to_contain_text("new.py")
        await expect(ask.locator(".is-added")).to_have_count(2)
        await expect(ask.locator(".scope")).to_contain_text("Allow edits of new.py in this session")
    await ask.get_by_role("button", name="Deny with a reason").click()
    await ask.get_by_label("Reason").fill("Put it into old.py")
    await ask.get_by_label("Reason").press("Enter")
    await expect(ask.locator("h2")).to_have_text("Scripted wants to use an outside tool")
    assert (answers(hub)[1].decision, answers(hub)[1].message) == ("deny", "Put it into old.py")
    with part("of an outside tool, hidden characters are written out"):
        await expect(ask.locator(".request__meta.is-top")).to_contain_text("mcp__tracker__create")
        await expect(ask.locator("dl.params")).to_contain_text("\\u{202e}")
        await expect(ask.locator(".warn")).to_contain_text("invisible characters")
    # The agent takes it back: it goes, and says so.
    await append(hub.store, "s1", PermissionWithdrawn("r3", "cancelled"))
    await expect(ask.locator("h2")).to_have_text("Scripted has a plan")
    with part("a plan is shown as a document"):
        await expect(ask.locator(".request-plan h3")).to_have_text("Resume uploads")
        await expect(ask.locator(".request-plan .request-plan__item")).to_have_count(3)
        assert await serious(tab) == []
        await expect(ask.locator(".request-plan pre")).to_have_text("make test")
        await expect(ask.locator(".scope")).to_have_count(0)
    await expect(ask.get_by_role("button", name=re.compile("^Allow once"))).to_be_enabled()
    await ask.focus()
    await tab.page.keyboard.press("a")
    await expect(ask.locator(".request__command")).to_have_text("https://example.org/a?b=c")
    await expect(ask.locator(".pager")).to_have_count(0)
    # Somebody else was faster: the page learns it from the event, whoever pressed what.
    await append(hub.store, "s1", PermissionAnswered("r5", "allow", "Jonas"))
    with part("what somebody else answered goes, and says who it was"):
        await expect(ask).to_have_count(0)
        await tab.told(r"Jonas allowed this at \d\d:\d\d")
    with part("what nobody answered in time goes, too"):
        await append(hub.store, "s1", wants("r6", "Bash", "execute", command="true"))
        await expect(ask).to_have_count(1)
        await append(hub.store, "s1", PermissionAnswered("r6", "deny", "timeout"))
        await tab.told(r"No answer for 24 h, so it was denied\.")
    assert [one.request_id for one in answers(hub)] == ["r1", "r2", "r4"]
    assert tab.errors == []


@pytest.mark.row("R9", "R11")
async def test_a_request_answered_while_the_page_was_away_is_shown_as_settled(
    hub: RunningHub, browser: Browser
) -> None:
    await begun(hub, wants("r1", "Bash", "execute", command="make test"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    await expect(tab.ask).to_have_count(1)
    await tab.page.route("**/api/tickets", lambda ticket: ticket.abort())
    hub.services.open_streams.shut_down()
    hub.services.open_streams.closing = False
    await tab.told("Trying again, second time")
    await append(hub.store, "s1", PermissionAnswered("r1", "allow", "Jonas"))
    await tab.page.unroute("**/api/tickets")
    await tab.page.evaluate("dispatchEvent(new Event('online'))")
    await tab.told(r"Jonas allowed this at \d\d:\d\d")
    await expect(tab.ask).to_have_count(0)
    assert answers(hub) == []
    assert tab.errors == []


@pytest.mark.row("S44", "S45", "R9")
async def test_on_a_phone_a_long_request_is_read_to_its_end_before_it_is_allowed(
    hub: RunningHub, browser: Browser, part: Part
) -> None:
    lines = "\n".join(f"echo step {n}" for n in range(200))
    await begun(hub)
    path = "/sessions/s1"
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path=path, size=PHONE)
    await tab.says("Hello")
    await append(hub.store, "s1", wants("r1", "Bash", "execute", command=f"{lines}\nrm -rf /home"))
    allow = tab.ask.locator(".is-primary")
    with part("it covers the session, and can't be allowed before its end was seen"):
        await expect(tab.ask).to_have_attribute("aria-modal", "true")
        await expect(tab.ask).to_be_focused()
        await expect(tab.page.locator("#composer")).to_have_attribute("inert", "")
        await expect(tab.ask.locator(".guard")).to_be_hidden()
        await expect(tab.ask.locator(".request__see-all")).to_be_in_viewport()
        await expect(allow).to_be_disabled()
        assert await serious(tab) == []
    await tab.page.get_by_role("button", name="Later").click()
    with part("put aside, it leaves the session free"):
        await expect(tab.page.locator("#message")).to_be_visible()
        await expect(tab.page.locator("#composer")).not_to_have_attribute("inert", "")
    await tab.ask.locator("header").click()
    with part("taken up again, it has still not been read"):
        await expect(tab.ask.locator(".request__see-all")).to_be_in_viewport()
        await expect(allow).to_be_disabled()
    await tab.ask.locator(".request__body").evaluate("(one) => one.scrollTo(0, one.scrollHeight)")
    await expect(allow).to_be_enabled()
    await expect(tab.ask.locator(".request__command")).to_contain_text("rm -rf /home")
    await allow.click()
    await expect(tab.ask).to_have_count(0)
    assert [one.decision for one in answers(hub)] == ["allow"]
    with part("the panel takes the transcript's place, and gives it back"):
        parts = tab.page.get_by_role("group", name="Parts of this session")
        await parts.get_by_role("button", name="Files").click()
        await expect(tab.page.get_by_role("treeitem", name=re.compile("^a.py"))).to_be_visible()
        assert await serious(tab) == []
        await parts.get_by_role("button", name="Chat").click()
        await expect(tab.page.locator("#message")).to_be_visible()


@pytest.mark.row("R10")
async def test_questions_wait_for_every_answer_and_only_the_button_sends(
    tmp_path: Path, browser: Browser, part: Part
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/rates")
        ask, send = tab.ask, tab.ask.get_by_role("button", name="Send answers")
        with part("it says what is asked, and that the agent waits for it"):
            await expect(ask.locator("h2")).to_have_text("Claude Code has 2 questions")
            await expect(ask.locator(".late")).to_contain_text("can’t continue until you answer")
            await expect(tab.page.locator("#message")).to_be_hidden()
        await ask.focus()
        await tab.page.keyboard.press("2")
        await expect(ask.get_by_role("radio").nth(1)).to_be_checked()
        await expect(send).to_be_disabled()
        # An option or words of one's own, not both; several where several may be picked.
        own = ask.get_by_label("Your own answer")
        await own.nth(0).fill("Dotted")
        await expect(ask.get_by_role("radio").nth(1)).not_to_be_checked()
        await ask.get_by_text("Overview", exact=True).click()
        await ask.get_by_text("PDF export", exact=True).click()
        await own.nth(1).fill("And the e-mail")
        await expect(ask.locator("footer .hint")).to_have_text("2 of 2 answered")
        for key in ("Enter", "Control+Enter"):
            await own.nth(1).press(key)
        await ask.focus()
        await tab.page.keyboard.press("Enter")
        assert told(hub) == []
        # What was chosen is still there after a look elsewhere.
        await tab.page.locator("[data-key=python310].session-row").click()
        await tab.says("Removed the shims")
        await tab.page.locator("[data-key=rates].session-row").click()
        await expect(own.nth(0)).to_have_value("Dotted")
        await expect(send).to_be_enabled()
        await send.click()
        await expect(ask).to_contain_text("Sent. Waiting for tower to confirm.")
        await until(lambda: len(told(hub)) > 0)
        [command] = told(hub)
        assert list(command.answers.values()) == ["Dotted", "Overview, PDF export, And the e-mail"]
        with part("a question without options, with a preview beside it, can be let alone"):
            preview = QuestionOption("Table", "As rows", preview="a | b\n1 | 2")
            asked = (
                Question("Which look?", "Look", (preview, QuestionOption("List"))),
                Question("Which name?"),
            )
            await tell(hub.store, "flaky", [QuestionAsked("q9", asked, Raw(b"{}"), SHA)])
            await tab.page.locator("[data-key=flaky].session-row").click()
            await expect(ask.locator(".option__preview")).to_have_text("a | b\n1 | 2")
            await expect(ask.locator(".late")).to_have_count(0)
            await ask.get_by_role("button", name="Let it decide").click()
            await expect(ask).to_contain_text("Waiting for tower to confirm")
            await until(lambda: len(told(hub)) > 1)
            _, skipped = told(hub)
            assert (skipped.request_id, skipped.answers) == ("q9", {})
            assert "Decide yourself" in (skipped.message or "")
        assert tab.errors == []


@pytest.mark.row("X2")
async def test_the_inbox_is_worked_through_with_keys_oldest_first(tmp_path: Path, browser: Browser) -> None:
    async with lantern(tmp_path) as hub:
        await tell(hub.store, "uploads", [*wants_command(), *wants_edit()], 60)
        await tell(hub.store, "flaky", [wants("r7", "Bash", "execute", command="git push")], 1)
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/inbox")
        rows = tab.page.locator(".inbox-row")
        group = tab.page.get_by_role("group", name="Needs your answer").locator(".inbox-row__first b")
        await expect(group).to_have_text(["2 questions", "Run a command", "Edit a file", "Run a command"])
        await expect(tab.page).to_have_title(re.compile(r"^\(4\) "))
        await expect(rows.nth(0)).to_have_attribute("aria-selected", "true")
        keys = tab.page.keyboard
        await keys.press("j")
        await expect(tab.ask.locator(".request__command")).to_contain_text("alembic upgrade head")
        # A letter answers what is in view, once the moment in which it is inert is over.
        await expect(tab.ask.locator(".is-primary")).to_be_enabled()
        await keys.press("d")
        await expect(group).to_have_text(["2 questions", "Edit a file", "Run a command"])
        await expect(tab.ask.locator("h2")).to_have_text("Claude Code has 2 questions")
        for _ in range(2):
            await keys.press("j")
        await expect(tab.ask.locator(".request__command")).to_contain_text("git push")
        await expect(tab.ask.locator(".is-primary")).to_be_enabled()
        await keys.press("a")
        await expect(group).to_have_text(["2 questions", "Edit a file"])
        given = [(one.session_id, one.request_id, one.decision) for one in answers(hub)]
        assert given == [("uploads", "r1", "deny"), ("flaky", "r7", "allow")]
        await keys.press("o")
        await expect(tab.page).to_have_url(re.compile("/sessions/rates$"))
        assert tab.errors == []


@pytest.mark.row("R15")
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1440x900", "390x844"])
async def test_a_session_that_a_limit_is_about_to_end_says_how_long_it_has_and_can_be_kept(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], size=size)
        now = datetime.now(UTC)
        await tab.page.clock.set_fixed_time(now)
        await tell(
            hub.store, "uploads", [EndScheduled((now + timedelta(minutes=5)).isoformat(), "idle_limit")]
        )
        banner = tab.page.locator(".banner", has_text="Resume interrupted uploads")
        await expect(banner).to_contain_text(re.compile(r"ends in 5 minutes, at \d+:\d\d"))
        await expect(banner).to_contain_text("It has been idle for a while.")
        assert await serious(tab) == []
        assert not await tab.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        await tab.page.clock.set_fixed_time(now + timedelta(minutes=4, seconds=1))
        await expect(banner).to_contain_text("ends in 1 minute, at")
        await banner.get_by_role("button", name="Keep it running").click()
        await until(lambda: any(isinstance(one, KeepSession) for one in hub.device.commands))
        await tell(hub.store, "uploads", [EndCancelled("Mira")])
        await expect(banner).to_have_count(0)
        assert tab.errors == []


@pytest.mark.row("R21", "X3")
async def test_settings_show_keys_with_a_code_limits_usage_that_counts_on_and_the_audit_log(
    tmp_path: Path, browser: Browser, part: Part
) -> None:
    async with lantern(tmp_path) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/settings/limits")
        with part("a limit is changed, and goes back to what it was"):
            idle = tab.page.locator("tr", has_text="Idle sessions end after")
            await expect(idle).to_contain_text("30 min")
            await idle.get_by_role("button", name="Change").click()
            field = tab.page.get_by_label("Idle sessions end after, minutes, 0 for no limit")
            await expect(field).to_have_value("30")
            await field.fill("90")
            await field.press("Enter")
            await expect(idle).to_contain_text("1 h 30 min")
            assert hub.services.limits.now.idle_seconds == 5400
            assert await serious(tab) == []
            await idle.get_by_role("button", name="Go back to 30 min").click()
            await expect(idle).not_to_contain_text("1 h 30 min")
            await expect(idle).to_contain_text("30 min")
            assert hub.services.limits.changed == {}
            assert await serious(tab) == []
            await expect(tab.page.locator(".settings-body")).to_contain_text("config.toml")
        nav = tab.page.get_by_role("navigation", name="Settings")
        await nav.get_by_role("button", name="Trusted browsers").click()
        await expect(tab.page.locator(".data-table tbody tr")).not_to_have_count(0)
        await tab.page.get_by_label("Name").fill("Tablet")
        await tab.page.get_by_label("Access").select_option(label="Follow only")
        await tab.page.get_by_role("button", name="Create a link").click()
        with part("a new browser gets a link, and is listed with its role"):
            await expect(tab.page.get_by_text("Only this machine can open it.")).to_be_visible()
            await expect(tab.page.locator(".copy-line span")).to_contain_text("#token=")
            row = tab.page.locator("tr", has_text="Tablet")
            await expect(row).to_contain_text("Viewer")
            await expect(row).to_contain_text("never used")
            assert await serious(tab) == []
        await row.get_by_role("button", name="Revoke").click()
        await expect(row).to_have_count(0)
        await expect(tab.page.get_by_text("None. Sites that you trust")).to_be_visible()
        await hub.grants.create("https://tool.example", "site", by="launch window")
        await nav.get_by_role("button", name="Usage").click()
        await nav.get_by_role("button", name="Trusted browsers").click()
        sites = tab.page.get_by_role("table", name="Trusted websites")
        with part("websites that may launch are listed apart from the browsers"):
            await expect(sites.locator("tbody tr")).to_contain_text(["https://tool.example"])
            assert await serious(tab) == []
        await sites.get_by_role("button", name="Revoke https://tool.example").click()
        await expect(sites).to_have_count(0)
        assert "site" not in [one.role for one in hub.grants.list()]
        # What it cost, in total and by session, and it counts on.
        await nav.get_by_role("button", name="Usage").click()
        total = tab.page.locator("[data-key='In total'] b")
        await expect(total).to_have_text("$1.08")
        await tell(hub.store, "uploads", [TurnEnded("end_turn", Usage(10, 10), 0.42, 1000)])
        with part("the total cost counts on"):
            await expect(total).to_have_text("$1.50")
            assert await serious(tab) == []
        await tab.page.locator(".data-table").get_by_role("button", name="Resume interrupted uploads").click()
        with part("a session shows its own share"):
            ring = tab.page.get_by_role(
                "button", name=re.compile("38 % of the context is used, \\$0.42 so far")
            )
            await expect(ring).to_be_visible()
        with part("the ring turns amber, then red, and says how much is used"):
            for used, tone in ((165_000, "warm"), (192_000, "hot")):
                await tell(hub.store, "uploads", [UsageChanged(used, 200_000)])
                await expect(tab.page.locator(f".context-meter.{tone}")).to_be_visible()
            await tab.page.locator(".context-meter").click()
            await expect(tab.page.locator(".used")).to_contain_text("192k of 200k tokens")
            await expect(tab.page.locator(".used")).to_contain_text("$1.50")
        await tab.page.keyboard.press("Escape")
        await tab.turn_to("/settings/audit")
        with part("the audit log is verified, and can be filtered"):
            await expect(tab.page.locator(".chain")).to_contain_text("Verified")
            await expect(tab.page.locator(".audit tbody tr").first).to_be_visible()
            every = await tab.page.locator(".audit tbody tr").count()
            await tab.page.get_by_label("What").select_option(label="Revoked")
            await expect(tab.page.locator(".audit tbody tr")).to_have_count(2)  # the tablet and the site
            assert every > 2
        assert tab.errors == []
