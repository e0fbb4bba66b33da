"""Rules in the page: made from a request, at work, tried out, imported, removed."""

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.daemon.scripted import MINI
from tests.live import LiveServer
from tests.parts import Part
from tests.web.chrome import needs_chromium, open_tab

from bascule.model.events import PermissionAnswered, PermissionRequested, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]


@pytest.mark.row("X7", "R9")
async def test_a_rule_is_made_from_a_request_answers_the_next_is_tried_changed_imported_and_removed(
    short_dir: Path, browser: Browser, part: Part
) -> None:
    server = LiveServer(short_dir)
    server.add_agent("alpha", MINI)
    (server.home / ".claude").mkdir()
    lists = {"permissions": {"allow": ["Bash(make test)", "Bash(npm run *:*)"]}}
    (server.home / ".claude" / "settings.json").write_text(json.dumps(lists))
    async with server:
        session = await server.create("ask git status", agent="alpha")
        tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
        page = tab.page
        # From the request to a lasting rule, with its reach in words.
        await page.get_by_role("button", name="Allow always…").click()
        reach = page.get_by_role("menuitem", name=re.compile("^Run git status in work"))
        await expect(reach.first).to_contain_text(f"every session in {server.work}")
        await reach.first.click()
        first = await server.wait_for(session, PermissionAnswered)
        assert isinstance(first.event, PermissionAnswered)
        assert (first.event.decision, first.event.by) == ("allow", "owner")
        ended = await server.wait_for(session, TurnEnded)
        await server.send(session, "ask git status")
        second = await server.wait_for(session, PermissionAnswered, ended.seq)
        assert isinstance(second.event, PermissionAnswered)
        assert (second.event.by, second.event.rule) == ("policy", "Allow `git status` in work")
        await server.wait_for(session, TurnEnded, second.seq)

        # In the settings: there, used once; a second one is tried on what was asked before it is made.
        await tab.turn_to("/settings/rules")
        rows = page.locator(".data-table.rules tbody tr")
        with part("the rule is listed in the settings, and was used once"):
            await expect(rows).to_have_count(2)
            await expect(rows.nth(0)).to_contain_text("Run git status")
            await expect(rows.nth(0)).to_contain_text("1×")
        await page.get_by_role("button", name="New rule").click()
        form = page.locator(".ruleform")
        await form.locator("[name=answer]").select_option("deny")
        # What a rule about reading does not do is said where it is written.
        await form.locator("[name=class]").select_option("read")
        await expect(form).to_contain_text("Most agents read the project without asking, which no rule sees")
        await form.locator("[name=class]").select_option("command")
        await expect(form).not_to_contain_text("which no rule sees")
        await form.locator("[name=about]").fill("git status …")
        with part("a new rule is tried on past requests before it is made"):
            await form.get_by_role("button", name="Try on past requests").click()
            await expect(form.locator(".dryrun")).to_contain_text(
                "It would have answered 2 of 2 past requests."
            )
            await expect(form.locator(".dryrun")).to_contain_text("2 were answered differently then.")
        with part("what is not plain words is refused"):
            await form.locator("[name=about]").fill("git push; rm x")
            await form.get_by_role("button", name="Create rule").click()
            await expect(form.get_by_role("alert")).to_contain_text("plain words")
        await form.locator("[name=about]").fill("git push …")
        await form.get_by_role("button", name="Create rule").click()
        await expect(form).to_have_count(0)
        await expect(rows).to_have_count(3)
        await expect(rows.nth(1)).to_contain_text("git push …")

        with part("a request is tried part by part"):
            await page.locator("[name=request]").fill("git status && git push origin")
            await page.get_by_role("button", name="Try", exact=True).click()
            await expect(page.locator(".verdict")).to_contain_text("It would be denied: Deny git push …")

        # Another tool's list: one by one, and what has no exact meaning is said.
        await page.get_by_role("button", name="Import").click()
        lines = page.locator(".imports li")
        with part("what has no exact meaning in another tool's list is left out, and said"):
            await expect(lines).to_have_count(2)
            await expect(lines.nth(1)).to_contain_text("Left out")
        await lines.nth(0).get_by_role("button", name="Add").click()
        await expect(lines.nth(0)).to_contain_text("Added")
        await expect(rows).to_have_count(4)

        with part("removed, the same command asks again"):
            await rows.nth(0).get_by_role("button", name="Remove this rule").click()
            await expect(rows).to_have_count(3)
            await server.send(session, "ask git status")
            await server.wait_for(session, PermissionRequested, second.seq)
            assert len((await server.http.get("/api/requests")).json()["requests"]) == 1
        assert tab.errors == []
        assert tab.strangers == []
