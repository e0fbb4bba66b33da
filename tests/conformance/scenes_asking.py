"""Scenes of asking: rules, plans, modes, several requests at once; who is asked and what then runs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conformance.scenario import COLOUR
from tests.conformance.talk import Talk, holds
from tests.conformance.through import unanswered_by_policy

from bascule.model.events import (
    AnswerDelivered,
    ModeChanged,
    Note,
    PermissionAnswered,
    PermissionRequested,
    QuestionAsked,
    RuleAdded,
    SessionReady,
    ToolChanged,
    ToolStarted,
)


async def only_reading_is_unasked(talk: Talk) -> None:
    """Reading runs unasked; whatever changes something waits, and does nothing while it waits."""
    (talk.project / "here.txt").write_text("old words\n")
    await talk.open(
        "::bash ls -a ;; ::read here.txt ;; ::bash touch new.txt ;; ::write over.txt | x"
        " ;; ::edit here.txt | old | new ;; ::bash rm here.txt"
    )
    expected = ("Bash", "Write", "Edit", "Bash")
    for tool in expected:
        asked = await talk.next(PermissionRequested)
        holds(asked.tool == tool, f"{asked.tool} was asked about, not {tool}")
        holds(sorted(_names(talk)) == ["here.txt"], f"the folder holds {_names(talk)}")
        holds((talk.project / "here.txt").read_text() == "old words\n", "the file was changed unasked")
        await talk.answer(asked, "deny", message="No changes today.")
    await talk.turn_ends()
    statuses = [one.status for one in talk.events(ToolChanged)]
    holds(statuses == ["done", "done", *["denied"] * 4], f"the tools ended {statuses}")


def _names(talk: Talk) -> list[str]:
    return [path.name for path in talk.project.iterdir()]


async def a_suggestion_of_the_agent(talk: Talk) -> None:
    """One of the CLI's own suggestions is chosen: the CLI remembers it, and Bascule adds nothing to it."""
    await talk.open("::bash touch first.txt ;; ::bash touch first.txt ;; ::bash touch other.txt")
    asked = await talk.next(PermissionRequested)
    rules = [one for one in asked.options if one.kind == "allow_always"]
    offered = "; ".join(f"{one.option_id} {one.name!r}" for one in rules)
    rule = next((one for one in rules if "`touch" in one.name), None)
    holds(rule is not None, f"no rule about the command was offered: {offered}")
    assert rule is not None
    await talk.answer(asked, "allow", option=rule.option_id)
    await talk.next(AnswerDelivered)
    second = await talk.next(PermissionRequested)
    holds(
        "other.txt" in second.title or "other.txt" in str(bytes(second.input)), f"asked about {second.title}"
    )
    await talk.answer(second, "deny", message="Only the first.")
    await talk.turn_ends()
    talk.made("first.txt")
    talk.not_made("other.txt")
    talk.notes.append(f"offered: {offered}")


async def a_rule_of_this_session(talk: Talk) -> None:
    """Bascule's own rule answers the same command, and nothing that only looks like it."""
    await talk.open("::bash touch again.txt ;; ::bash rm again.txt ;; ::bash touch again.txt")
    await talk.answer(await talk.next(PermissionRequested), "allow", remember=True)
    holds(talk.events(RuleAdded), "no rule was made")
    await talk.answer(await talk.next(PermissionRequested), "allow")
    answer = await talk.next(PermissionAnswered)
    while answer.by != "policy":
        answer = await talk.next(PermissionAnswered)
    holds(answer.rule is not None and "touch again.txt" in answer.rule, f"answered by {answer.rule}")
    await talk.turn_ends()
    talk.made("again.txt")
    holds(not (talk.project / ".claude").exists(), "the CLI wrote a rule of its own")


async def plan_with_edits(talk: Talk) -> None:
    """A plan approved together with file edits: the write behind it is not asked about."""
    await talk.open("::plan # Plan\\n\\n1. Write it. ;; ::write planned.txt | by plan", mode="plan")
    asked = await talk.next(PermissionRequested)
    holds(asked.kind == "plan" and b"1. Write it." in bytes(asked.input), f"asked {asked}")
    await talk.answer(asked, "allow", option="accept_edits")
    await talk.turn_ends()
    holds(talk.made("planned.txt").read_text().strip() == "by plan", "the file holds something else")
    holds(len(talk.events(PermissionRequested)) == 1, "the write was asked about")
    holds((await talk.record())["mode"] == "acceptEdits", f"mode is {(await talk.record())['mode']}")


async def plan_kept(talk: Talk) -> None:
    """A plan that is not approved: the agent hears why and stays in plan mode."""
    await talk.open("::plan # Plan\\n\\n1. Delete all.", mode="plan")
    asked = await talk.next(PermissionRequested)
    await talk.answer(asked, "deny", option="deny", message="Smaller steps, please.")
    await talk.turn_ends()
    holds(
        "Smaller steps, please." in (talk.requests()[-1].last_tool_result() or ""), "the model heard nothing"
    )
    record = await talk.record()
    holds(record["mode"] == "plan", f"mode is {record['mode']}")
    statuses = {one.tool_id: one.status for one in talk.events(ToolChanged)}
    holds(statuses[asked.tool_id or ""] == "denied", f"the plan's tool is {statuses}")


async def question_declined(talk: Talk) -> None:
    """A question nobody wants to answer: the agent hears why and goes on."""
    await talk.open(f"::ask {json.dumps(COLOUR)}")
    asked = await talk.next(QuestionAsked)
    await talk.post("questions", requestId=asked.request_id, message="Ask me later.")
    await talk.turn_ends()
    heard = talk.requests()[-1].last_tool_result() or ""
    holds("Ask me later." in heard, f"the model heard {heard!r}")


async def settings_that_ask_less(talk: Talk) -> None:
    """Neither the project's settings nor the person's make the agent act unasked; a hook that ran is told."""
    hook = {"hooks": [{"type": "command", "command": "true"}]}
    rules = {"defaultMode": "acceptEdits", "allow": ["Bash(touch:*)"]}
    settings = {"permissions": rules, "hooks": {"SessionStart": [hook]}}
    _write_settings(talk.project, settings)
    _write_settings(talk.live.home, {"permissions": {"defaultMode": "acceptEdits"}})
    try:
        await talk.open("::bash touch asked.txt ;; ::write asked.txt | x")
        for tool in ("Bash", "Write"):
            asked = await talk.next(PermissionRequested)
            holds(asked.tool == tool, f"{asked.tool} was asked about, not {tool}")
            talk.not_made("asked.txt")
            await talk.answer(asked, "deny")
        await talk.turn_ends()
    finally:
        (talk.live.home / ".claude/settings.json").unlink()
    holds((await talk.record())["mode"] == "default", f"the mode is {(await talk.record())['mode']}")
    holds([one.code for one in talk.events(Note)] == ["hook"], f"notes: {talk.events(Note)}")


def _write_settings(folder: Path, settings: dict[str, object]) -> None:
    (folder / ".claude").mkdir(exist_ok=True)
    (folder / ".claude/settings.json").write_text(json.dumps(settings))


async def two_tools_at_once(talk: Talk) -> None:
    """Two commands in one message: each is asked about, one is allowed and the other is not."""
    await talk.open("::bash touch left.txt ++ ::bash touch right.txt")
    for _ in range(2):
        asked = await talk.next(PermissionRequested)
        left = b"left.txt" in bytes(asked.input)
        await talk.answer(asked, "allow" if left else "deny")
    await talk.turn_ends()
    talk.made("left.txt")
    talk.not_made("right.txt")
    statuses = sorted(one.status for one in talk.events(ToolChanged))
    holds(statuses == ["denied", "done"], f"the tools ended {statuses}")


async def two_sub_agents_at_once(talk: Talk) -> None:
    """Two sub-agents ask side by side; the second answer may come first."""
    await talk.open(
        "::task One | ::bash touch one.txt ++ ::task Two | ::bash touch two.txt ;; ::text Both are done."
    )
    first = await talk.next(PermissionRequested)
    second = await talk.next(PermissionRequested)
    holds((await talk.record())["open_requests"] == 2, "not both are open")
    await talk.answer(second, "allow")
    await talk.answer(first, "allow")
    await talk.text("Both are done.")
    await talk.turn_ends()
    talk.made("one.txt")
    talk.made("two.txt")


async def sub_agent(talk: Talk) -> None:
    """A sub-agent's tools and words hang below the call that started it."""
    await talk.open(
        "::task Look around | ::bash touch below.txt ,, ::text Below is done. ;; ::text Above too."
    )
    await talk.answer(await talk.next(PermissionRequested), "allow")
    await talk.turn_ends()
    talk.made("below.txt")
    tools = {one.name: one for one in talk.events(ToolStarted)}
    above = next(one for one in talk.events(ToolStarted) if one.kind == "agent")
    holds(tools["Bash"].parent == above.tool_id, f"the command's parent is {tools['Bash'].parent}")
    report = next(one.output for one in talk.events(ToolChanged) if one.tool_id == above.tool_id)
    holds(report == "Below is done.", f"the sub-agent's report is {report!r}")
    texts = {one["text"]: one.get("parent") for one in await talk.entries() if one["kind"] == "text"}
    holds(texts == {"Above too.": None}, f"texts and their parents: {texts}")


async def deny_mode(talk: Talk) -> None:
    """Bascule refuses all by itself: nobody is asked and nothing is made."""
    await talk.open("::bash touch never.txt ;; ::write never.txt | x", permissionMode="deny")
    await talk.turn_ends()
    talk.not_made("never.txt")
    holds(not unanswered_by_policy(talk), "a person was asked")
    holds(len(talk.events(PermissionAnswered)) == 2, "not both were refused")


async def auto_mode_lasts_until_a_restart(talk: Talk) -> None:
    """Bascule allows all by itself, until nobody may be there any more: after a restart it asks."""
    await talk.open("::bash touch auto.txt", permissionMode="auto")
    await talk.turn_ends()
    talk.made("auto.txt")
    await talk.live.kill()
    await talk.live.start()
    await talk.connect()
    await talk.send("::bash touch asked.txt")
    asked = await talk.next(PermissionRequested)
    holds(unanswered_by_policy(talk) == [asked], "policy answered after the restart")
    talk.not_made("asked.txt")
    await talk.answer(asked, "allow")
    await talk.turn_ends()
    talk.made("asked.txt")


async def model_and_mode_while_running(talk: Talk) -> None:
    """Both change in the middle of a turn and count from then on."""
    await talk.open()
    ready = await talk.next(SessionReady)
    holds(ready.mode == "default", f"the mode at first is {ready.mode}")
    await talk.send("::slow 40 0.05 ;; ::write free.txt | unasked")
    await talk.text("piece 3.")
    await talk.post("mode", mode="acceptEdits")
    await talk.until(lambda event: isinstance(event, ModeChanged) and event.mode == "acceptEdits", "the mode")
    await talk.post("model", model="haiku")
    await talk.turn_ends()
    before = talk.requests()[0].model
    await talk.send("which model are you?")
    await talk.turn_ends()
    after, record = talk.requests()[-1].model, await talk.record()
    holds("haiku" in after and before != after, f"the model was {before} and is {after}")
    holds(record["model"] == after, f"the list shows {record['model']}, the model asked was {after}")
    holds(record["mode"] == "acceptEdits", f"the list shows the mode {record['mode']}")
    await talk.send("::write free.txt | unasked")
    await talk.turn_ends()
    talk.made("free.txt")
    holds(not talk.events(PermissionRequested), "an edit was asked about")


ASKING = {
    "only reading is unasked": only_reading_is_unasked,
    "settings that ask less": settings_that_ask_less,
    "question declined": question_declined,
    "rule of this session": a_rule_of_this_session,
    "the agent's own suggestion": a_suggestion_of_the_agent,
    "plan approved with edits": plan_with_edits,
    "keep planning": plan_kept,
    "two tools at once": two_tools_at_once,
    "sub-agent": sub_agent,
    "two sub-agents at once": two_sub_agents_at_once,
    "permission mode deny": deny_mode,
    "permission mode auto, restart": auto_mode_lasts_until_a_restart,
    "model and mode while running": model_and_mode_while_running,
}
