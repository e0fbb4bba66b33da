"""Lasting rules at work: a real host answers a real agent by them, writes it down, and remembers."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.daemon.bench import World, world

from bascule.link.rules import AddRule, ListRules, ProposeRules, RemoveRule, TryRequest, TryRule
from bascule.model.commands import AnswerPermission, SendPrompt
from bascule.model.errors import Refused
from bascule.model.events import PermissionAnswered, PermissionRequested, TextAppended, TurnEnded
from bascule.model.rules import RuleSpec

pytestmark = pytest.mark.anyio


def git_status(**more: Any) -> RuleSpec:
    return RuleSpec(answer="allow", tool_class="command", argv=("git", "status"), **more)


async def audit_details(here: World) -> list[str]:
    lines = [json.loads(line) for line in await here.store.audit_lines()]
    return [line["entry"]["record"].get("detail", "") for line in lines]


async def say(here: World, text: str) -> None:
    await here.ask(SendPrompt(session_id="s1", text=text))


@pytest.mark.row("X7")
async def test_a_rule_answers_at_once_and_the_log_and_audit_name_it_with_its_words(short_dir: Path):
    async with world(short_dir) as here:
        made = await here.ask(AddRule(rule=git_status(folder=str(here.work))))
        assert made["words"] == "Allow `git status` in repo"
        await here.start(prompt="ask git status")
        answered: PermissionAnswered = await here.until(PermissionAnswered)
        assert (answered.decision, answered.by, answered.rule_ids) == ("allow", "policy", (made["id"],))
        assert answered.rule == "Allow `git status` in repo"
        await here.until(lambda event: isinstance(event, TextAppended) and "answered allow" in event.text)
        assert await here.store.open_requests() == []
        details = await audit_details(here)
        assert f"{made['id']}: Allow `git status` in repo" in details
        assert "Allow `git status` in repo" in details
        listed = await here.ask(ListRules())
        assert listed["rules"][0]["used"] == 1


@pytest.mark.row("X7", "S43")
async def test_a_lookalike_waits_for_a_person_beside_the_rule(short_dir: Path):
    async with world(short_dir) as here:
        await here.ask(AddRule(rule=git_status()))
        await here.start(prompt="ask git status; rm x")
        asked: PermissionRequested = await here.until(PermissionRequested)
        waiting = await here.store.open_requests()
        assert [one.request_id for one in waiting] == [asked.request_id]
        assert await here.events(PermissionAnswered) == []


@pytest.mark.row("X7")
async def test_a_denied_command_is_denied_with_the_reason_for_the_agent(short_dir: Path):
    async with world(short_dir) as here:
        rule = RuleSpec(answer="deny", tool_class="command", argv=("git", "push"), more=True)
        await here.ask(AddRule(rule=rule))
        await here.start(prompt="ask git push origin", permission_mode="auto")
        answered: PermissionAnswered = await here.until(PermissionAnswered)
        assert answered.decision == "deny"
        assert answered.message == "A rule denies this: Deny `git push …` everywhere."
        await here.until(lambda event: isinstance(event, TextAppended) and "answered deny" in event.text)


@pytest.mark.row("X7")
async def test_rules_survive_a_restart_and_end_when_they_are_removed_or_their_time_is_over(
    short_dir: Path,
):
    async with world(short_dir) as here:
        kept = await here.ask(AddRule(rule=git_status()))
        short = RuleSpec(
            answer="allow", tool_class="command", argv=("make", "test"), expires_at="2100-01-01T00:00:00Z"
        )
        await here.ask(AddRule(rule=short))
        await here.restart()
        await here.start(prompt="ask git status")
        assert (await here.until(PermissionAnswered)).rule_ids == (kept["id"],)
        await here.until(TurnEnded)
        await say(here, "ask make test")
        assert (await here.until(PermissionAnswered, times=2)).decision == "allow"
        await here.until(TurnEnded, times=2)
        await here.ask(RemoveRule(rule_id=kept["id"]))
        here.shift += 100 * 366 * 86400
        await say(here, "ask git status")
        asked: PermissionRequested = await here.until(PermissionRequested, times=3)
        assert len(await here.events(PermissionAnswered)) == 2
        allow = AnswerPermission(session_id="s1", request_id=asked.request_id, decision="allow")
        await here.ask(allow)
        await here.until(TurnEnded, times=3)
        await say(here, "ask make test")
        await here.until(PermissionRequested, times=4)
        assert len(await here.events(PermissionAnswered)) == 3
        listed = await here.ask(ListRules())
        assert [(one["argv"], one["expired"]) for one in listed["rules"]] == [(["make", "test"], True)]
        await here.restart()
        assert len((await here.ask(ListRules()))["rules"]) == 1
        assert any("removed: Allow `git status` everywhere" in one for one in await audit_details(here))


@pytest.mark.row("X7")
async def test_a_changed_rule_is_a_new_one_in_the_others_place(short_dir: Path):
    async with world(short_dir) as here:
        first = await here.ask(AddRule(rule=git_status()))
        with pytest.raises(Refused, match="such a rule already"):
            await here.ask(AddRule(rule=git_status()))
        second = await here.ask(AddRule(rule=git_status(agent="codex"), replaces=first["id"]))
        assert [one["id"] for one in (await here.ask(ListRules()))["rules"]] == [second["id"]]
        with pytest.raises(Refused) as gone:
            await here.ask(RemoveRule(rule_id=first["id"]))
        assert gone.value.refusal().code == "RULE_NOT_FOUND"
        assert any(f"{first['id']} gave way to {second['id']}" in one for one in await audit_details(here))


@pytest.mark.row("X7")
async def test_a_rule_for_a_folder_that_is_not_there_or_not_ours_is_refused(short_dir: Path):
    async with world(short_dir) as here:
        for folder in ("/etc", str(here.work / "none"), "../x", str(here.work) + "/../../.."):
            with pytest.raises(Refused):
                await here.ask(AddRule(rule=git_status(folder=folder)))
        with pytest.raises(Refused, match="over already"):
            await here.ask(AddRule(rule=git_status(expires_at="2020-01-01")))
        assert (await here.ask(ListRules()))["rules"] == []


@pytest.mark.row("X7")
async def test_a_damaged_rule_stops_every_rule_that_allows(short_dir: Path):
    async with world(short_dir) as here:
        await here.ask(AddRule(rule=git_status()))
        denied = await here.ask(AddRule(rule=RuleSpec(answer="deny", tool_class="command", argv=("rm",))))
        bad = "UPDATE rules SET body = x'7b7d' WHERE id = ?"
        await here.store.transact(lambda step: step.connection.execute(bad, (denied["id"],)) and None)
        await here.restart()
        assert "no rule allows anything" in (await here.ask(ListRules()))["problem"]
        await here.start(prompt="ask git status")
        await here.until(PermissionRequested)
        assert await here.events(PermissionAnswered) == []


@pytest.mark.row("X7")
async def test_a_dry_run_says_what_a_rule_would_have_answered_and_how_it_was_answered_then(
    short_dir: Path,
):
    async with world(short_dir) as here:
        await here.start(prompt="ask git status")
        asked: PermissionRequested = await here.until(PermissionRequested)
        deny = AnswerPermission(session_id="s1", request_id=asked.request_id, decision="deny")
        await here.ask(deny)
        await here.until(TurnEnded)
        await say(here, "ask git status; rm x")
        second: PermissionRequested = await here.until(PermissionRequested, times=2)
        tried = await here.ask(TryRule(rule=git_status(folder=str(here.work))))
        assert (tried["looked"], tried["fits"], tried["differs"]) == (2, 1, 1)
        [one] = tried["requests"]
        assert (one["text"], one["then"], one["by"], one["now"]) == ("git status", "deny", "ana", "allow")
        # Tried only: nothing was made, nothing was answered.
        assert (await here.ask(ListRules()))["rules"] == []
        assert [one.request_id for one in await here.store.open_requests()] == [second.request_id]
        denying = RuleSpec(answer="deny", tool_class="command", argv=("git", "status"))
        tried = await here.ask(TryRule(rule=denying))
        assert [(one["then"], one["now"]) for one in tried["requests"]] == [("open", "ask"), ("deny", "deny")]
        assert (await here.ask(TryRule(rule=git_status(agent="codex"))))["fits"] == 0


@pytest.mark.row("X7")
async def test_a_typed_request_is_tried_on_the_rules_part_by_part(short_dir: Path):
    async with world(short_dir) as here:
        rule = RuleSpec(answer="allow", tool_class="command", argv=("pytest",), more=True)
        made = await here.ask(AddRule(rule=rule))
        tried = await here.ask(TryRequest(text="pytest -q && rm -rf build", folder=str(here.work)))
        assert tried["answer"] == "ask"
        assert "no rule covers `rm -rf build`" in tried["why"]
        assert [one["ruleId"] for one in tried["parts"]] == [made["id"], None]
        assert (await here.ask(TryRequest(text="pytest -q", folder=str(here.work))))["answer"] == "allow"
        tried = await here.ask(TryRequest(text="pytest $(x)", folder=str(here.work)))
        assert "can't read this command exactly" in tried["why"]


@pytest.mark.row("X7")
async def test_an_agents_own_lists_are_proposed_line_by_line_and_only_what_is_exact_becomes_a_rule(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    home, project = short_dir / "home", short_dir / "repo"
    monkeypatch.setenv("HOME", str(home))
    (home / ".claude").mkdir(parents=True)
    lists = {
        "permissions": {
            "allow": ["Bash(git status)", "Bash(npm run *:*)", "Edit(src/**)"],
            "deny": ["Read(.env)"],
        }
    }
    (home / ".claude" / "settings.json").write_text(json.dumps(lists))
    async with world(short_dir) as here:
        (project / ".claude").mkdir()
        own = {
            "permissions": {"allow": ["Bash(make test:*)", "mcp__db__query", "Skill(x)"]},
            "hooks": {"x": 1},
        }
        (project / ".claude" / "settings.local.json").write_text(json.dumps(own))
        (project / ".claude" / "settings.json").symlink_to("/etc/passwd")
        found = await here.ask(ProposeRules(folder=str(project)))
        assert found["read"] == ["~/.claude/settings.json", "repo/.claude/settings.local.json"]
        assert len(found["problems"]) == 1
        assert "repo/.claude/settings.json was left out" in found["problems"][0]
        lines = {one["text"]: one for one in found["proposals"]}
        assert lines["Read(.env)"]["words"] == "Deny reading `**/.env` everywhere"
        assert lines["Bash(git status)"]["words"] == "Allow `git status` everywhere"
        assert lines["Edit(src/**)"]["words"] == "Allow editing `src/**` everywhere"
        assert lines["Bash(make test:*)"]["words"] == "Allow `make test …` in repo"
        assert lines["mcp__db__query"]["words"] == "Allow the tool mcp__db__query in repo"
        for unclear in ("Bash(npm run *:*)", "Skill(x)"):
            assert lines[unclear].get("rule") is None
            assert lines[unclear]["problem"]
        # Proposing made nothing; each is made by itself, and then known.
        assert (await here.ask(ListRules()))["rules"] == []
        spec = msgspec.convert(lines["Bash(make test:*)"]["rule"], RuleSpec)
        await here.ask(AddRule(rule=spec))
        again = await here.ask(ProposeRules(folder=str(project)))
        assert [one["text"] for one in again["proposals"] if one["known"]] == ["Bash(make test:*)"]
