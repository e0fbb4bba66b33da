"""Lasting rules at work: a real host answers a real agent by them, writes it down, and remembers."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.daemon.running_daemon import RunningDaemon, running_daemon

from bascule.link.rules import AddRule, ListRules, ProposeRules, RemoveRule, TryRequest, TryRule
from bascule.model.commands import AnswerPermission, SendPrompt
from bascule.model.errors import Refused
from bascule.model.events import PermissionAnswered, PermissionRequested, TextSaid, TurnEnded
from bascule.model.rules import RuleSpec

pytestmark = pytest.mark.anyio


def git_status(**more: Any) -> RuleSpec:
    return RuleSpec(answer="allow", tool_class="command", argv=("git", "status"), **more)


async def audit_details(daemon: RunningDaemon) -> list[str]:
    lines = [json.loads(line) for line in await daemon.store.audit_lines()]
    return [line["entry"]["record"].get("detail", "") for line in lines]


async def say(daemon: RunningDaemon, text: str) -> None:
    await daemon.ask(SendPrompt(session_id="s1", text=text))


@pytest.mark.row("X7")
async def test_a_rule_answers_at_once_and_the_log_and_audit_name_it_with_its_words(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        made = await daemon.ask(AddRule(rule=git_status(folder=str(daemon.work))))
        assert made["words"] == "Allow `git status` in repo"
        await daemon.start(prompt="ask git status")
        answered: PermissionAnswered = await daemon.until(PermissionAnswered)
        assert (answered.decision, answered.by, answered.rule_ids) == ("allow", "policy", (made["id"],))
        assert answered.rule == "Allow `git status` in repo"
        await daemon.until(lambda event: isinstance(event, TextSaid) and "answered allow" in event.text)
        assert await daemon.store.open_requests() == []
        details = await audit_details(daemon)
        assert f"{made['id']}: Allow `git status` in repo" in details
        assert "Allow `git status` in repo; Bash: git status" in details
        listed = await daemon.ask(ListRules())
        assert listed["rules"][0]["used"] == 1


@pytest.mark.row("X7", "S43")
async def test_a_lookalike_waits_for_a_person_beside_the_rule(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.ask(AddRule(rule=git_status()))
        await daemon.start(prompt="ask git status; rm x")
        asked: PermissionRequested = await daemon.until(PermissionRequested)
        waiting = await daemon.store.open_requests()
        assert [one.request_id for one in waiting] == [asked.request_id]
        assert await daemon.events(PermissionAnswered) == []


@pytest.mark.row("X7")
async def test_a_denied_command_is_denied_with_the_reason_for_the_agent(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        rule = RuleSpec(answer="deny", tool_class="command", argv=("git", "push"), more=True)
        await daemon.ask(AddRule(rule=rule))
        await daemon.start(prompt="ask git push origin", permission_mode="auto")
        answered: PermissionAnswered = await daemon.until(PermissionAnswered)
        assert answered.decision == "deny"
        assert answered.message == "A rule denies this: Deny `git push …` everywhere."
        await daemon.until(lambda event: isinstance(event, TextSaid) and "answered deny" in event.text)


@pytest.mark.row("X7")
async def test_rules_survive_a_restart_and_end_when_they_are_removed_or_their_time_is_over(
    short_dir: Path,
):
    async with running_daemon(short_dir) as daemon:
        kept = await daemon.ask(AddRule(rule=git_status()))
        short = RuleSpec(
            answer="allow", tool_class="command", argv=("make", "test"), expires_at="2100-01-01T00:00:00Z"
        )
        await daemon.ask(AddRule(rule=short))
        await daemon.restart()
        await daemon.start(prompt="ask git status")
        assert (await daemon.until(PermissionAnswered)).rule_ids == (kept["id"],)
        await daemon.until(TurnEnded)
        await say(daemon, "ask make test")
        assert (await daemon.until(PermissionAnswered, times=2)).decision == "allow"
        await daemon.until(TurnEnded, times=2)
        await daemon.ask(RemoveRule(rule_id=kept["id"]))
        daemon.shift += 100 * 366 * 86400
        await say(daemon, "ask git status")
        asked: PermissionRequested = await daemon.until(PermissionRequested, times=3)
        assert len(await daemon.events(PermissionAnswered)) == 2
        allow = AnswerPermission(session_id="s1", request_id=asked.request_id, decision="allow")
        await daemon.ask(allow)
        await daemon.until(TurnEnded, times=3)
        await say(daemon, "ask make test")
        await daemon.until(PermissionRequested, times=4)
        assert len(await daemon.events(PermissionAnswered)) == 3
        listed = await daemon.ask(ListRules())
        assert [(one["argv"], one["expired"]) for one in listed["rules"]] == [(["make", "test"], True)]
        await daemon.restart()
        assert len((await daemon.ask(ListRules()))["rules"]) == 1
        assert any("removed: Allow `git status` everywhere" in one for one in await audit_details(daemon))


@pytest.mark.row("X7")
async def test_a_changed_rule_is_a_new_one_in_the_others_place(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        first = await daemon.ask(AddRule(rule=git_status()))
        with pytest.raises(Refused, match="such a rule already"):
            await daemon.ask(AddRule(rule=git_status()))
        second = await daemon.ask(AddRule(rule=git_status(agent="codex"), replaces=first["id"]))
        assert [one["id"] for one in (await daemon.ask(ListRules()))["rules"]] == [second["id"]]
        with pytest.raises(Refused) as gone:
            await daemon.ask(RemoveRule(rule_id=first["id"]))
        assert gone.value.refusal().code == "RULE_NOT_FOUND"
        assert any(f"{first['id']} gave way to {second['id']}" in one for one in await audit_details(daemon))


@pytest.mark.row("X7")
async def test_a_rule_for_a_folder_that_is_not_there_or_not_ours_is_refused(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        for folder in ("/etc", str(daemon.work / "none"), "../x", str(daemon.work) + "/../../.."):
            with pytest.raises(Refused):
                await daemon.ask(AddRule(rule=git_status(folder=folder)))
        with pytest.raises(Refused, match="over already"):
            await daemon.ask(AddRule(rule=git_status(expires_at="2020-01-01")))
        assert (await daemon.ask(ListRules()))["rules"] == []


@pytest.mark.row("X7")
async def test_a_damaged_rule_stops_every_rule_that_allows(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.ask(AddRule(rule=git_status()))
        denied = await daemon.ask(AddRule(rule=RuleSpec(answer="deny", tool_class="command", argv=("rm",))))
        bad = "UPDATE rules SET body = x'7b7d' WHERE id = ?"
        await daemon.store.transact(lambda step: step.connection.execute(bad, (denied["id"],)) and None)
        await daemon.restart()
        assert "no rule allows anything" in (await daemon.ask(ListRules()))["problem"]
        await daemon.start(prompt="ask git status")
        await daemon.until(PermissionRequested)
        assert await daemon.events(PermissionAnswered) == []


@pytest.mark.row("X7")
async def test_a_dry_run_says_what_a_rule_would_have_answered_and_how_it_was_answered_then(
    short_dir: Path,
):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="ask git status")
        asked: PermissionRequested = await daemon.until(PermissionRequested)
        deny = AnswerPermission(session_id="s1", request_id=asked.request_id, decision="deny")
        await daemon.ask(deny)
        await daemon.until(TurnEnded)
        await say(daemon, "ask git status; rm x")
        second: PermissionRequested = await daemon.until(PermissionRequested, times=2)
        tried = await daemon.ask(TryRule(rule=git_status(folder=str(daemon.work))))
        assert (tried["looked"], tried["fits"], tried["differs"]) == (2, 1, 1)
        [one] = tried["requests"]
        assert (one["text"], one["then"], one["by"], one["now"]) == ("git status", "deny", "ana", "allow")
        # Tried only: nothing was made, nothing was answered.
        assert (await daemon.ask(ListRules()))["rules"] == []
        assert [one.request_id for one in await daemon.store.open_requests()] == [second.request_id]
        denying = RuleSpec(answer="deny", tool_class="command", argv=("git", "status"))
        tried = await daemon.ask(TryRule(rule=denying))
        assert [(one["then"], one["now"]) for one in tried["requests"]] == [("open", "ask"), ("deny", "deny")]
        assert (await daemon.ask(TryRule(rule=git_status(agent="codex"))))["fits"] == 0


@pytest.mark.row("X7")
async def test_a_typed_request_is_tried_on_the_rules_part_by_part(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        rule = RuleSpec(answer="allow", tool_class="command", argv=("pytest",), more=True)
        made = await daemon.ask(AddRule(rule=rule))
        tried = await daemon.ask(TryRequest(text="pytest -q && rm -rf build", folder=str(daemon.work)))
        assert tried["answer"] == "ask"
        assert "no rule covers `rm -rf build`" in tried["why"]
        assert [one["ruleId"] for one in tried["parts"]] == [made["id"], None]
        assert (await daemon.ask(TryRequest(text="pytest -q", folder=str(daemon.work))))["answer"] == "allow"
        tried = await daemon.ask(TryRequest(text="pytest $(x)", folder=str(daemon.work)))
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
    async with running_daemon(short_dir) as daemon:
        (project / ".claude").mkdir()
        own = {
            "permissions": {"allow": ["Bash(make test:*)", "mcp__db__query", "Skill(x)"]},
            "hooks": {"x": 1},
        }
        (project / ".claude" / "settings.local.json").write_text(json.dumps(own))
        (project / ".claude" / "settings.json").symlink_to("/etc/passwd")
        found = await daemon.ask(ProposeRules(folder=str(project)))
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
        assert (await daemon.ask(ListRules()))["rules"] == []
        spec = msgspec.convert(lines["Bash(make test:*)"]["rule"], RuleSpec)
        await daemon.ask(AddRule(rule=spec))
        again = await daemon.ask(ProposeRules(folder=str(project)))
        assert [one["text"] for one in again["proposals"] if one["known"]] == ["Bash(make test:*)"]
