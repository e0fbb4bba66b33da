"""Recordings of what the CLI asks: permissions, questions, plans."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from tests.conformance.direct import Line, Place, claude
from tests.conformance.record_turns import turn_allowing_everything
from tests.conformance.scenario import CHECKS, COLOUR, Question

PLAN = "::plan # Plan\\n\\n1. Write the file.\\n2. Check it. ;; ::write planned.txt | x"


async def allow(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash echo one > one.txt; cat one.txt")
        agent.allow(await agent.request())
        await agent.result()


async def allow_changed_input(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch wrong.txt")
        changed = {"command": "touch right.txt; ls", "description": "Changed by a person"}
        agent.answer(await agent.request(), {"behavior": "allow", "updatedInput": changed})
        await agent.result()


async def allow_without_input(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch bare.txt")
        agent.answer(await agent.request(), {"behavior": "allow"})
        await agent.result()


async def deny(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch no.txt ;; ::text I leave it.")
        agent.deny(await agent.request(), "Not in this folder, please.")
        await agent.result()


async def deny_and_interrupt(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch no.txt ;; ::text never said")
        agent.deny(await agent.request(), "Stop.", interrupt=True)
        await agent.result()
        agent.say("still there?")
        await agent.result()


async def deny_without_message(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch no.txt")
        agent.answer(await agent.request(), {"behavior": "deny"})
        await agent.result()


async def error_reply(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch no.txt")
        request = await agent.request()
        body = {"subtype": "error", "request_id": request["request_id"], "error": "nobody is there"}
        agent.send({"type": "control_response", "response": body})
        await agent.result()


async def parallel_tools(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch p1.txt ++ ::bash touch p2.txt ++ ::write p3.txt | three")
        await turn_allowing_everything(agent)


async def parallel_tools_are_asked_one_by_one(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch q1.txt ++ ::bash touch q2.txt")
        request = await agent.request()
        with contextlib.suppress(TimeoutError):
            await agent.until(lambda seen: seen.get("type") == "control_request", patience=2)
        lines.append(Line("note", "two seconds pass"))
        agent.deny(request, "Not the first.")
        await turn_allowing_everything(agent)


async def bad_behavior(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch no.txt")
        agent.answer(await agent.request(), {"behavior": "maybe"})
        await agent.result()


async def always_allow_one_rule(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch aa.txt ;; ::bash touch aa.txt ;; ::bash touch bb.txt")
        request = await agent.request()
        rules = [s for s in request["request"]["permission_suggestions"] if s["type"] == "addRules"]
        agent.allow(request, updatedPermissions=rules)
        await turn_allowing_everything(agent)


async def always_allow_for_session(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch aa.txt ;; ::bash touch aa.txt ;; ::bash touch bb.txt")
        rule = {"toolName": "Bash", "ruleContent": "touch:*"}
        update = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}
        agent.allow(await agent.request(), updatedPermissions=[update])
        await turn_allowing_everything(agent)


async def late_answer(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch late.txt")
        request = await agent.request()
        agent.control("interrupt")
        await agent.result()
        agent.allow(request)
        agent.say("still there?")
        await agent.result()


async def answer_to_unknown_request(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch once.txt")
        request = await agent.request()
        agent.allow({**request, "request_id": "no-such-request"})
        agent.allow(request)
        agent.allow(request)
        await agent.result()


async def _ask(place: Place, lines: list[Line], questions: list[Question], **answer: Any) -> None:
    async with claude(place, lines) as agent:
        agent.say(f"::ask {json.dumps(questions)}")
        request = await agent.request()
        asked = request["request"]["input"]
        agent.answer(request, {"behavior": "allow", "updatedInput": {**asked, **answer}})
        await agent.result()


async def ask_single(place: Place, lines: list[Line]) -> None:
    await _ask(place, lines, [COLOUR], answers={str(COLOUR["question"]): "Green"})


async def ask_multi(place: Place, lines: list[Line]) -> None:
    await _ask(place, lines, [CHECKS], answers={str(CHECKS["question"]): "Lint, E2E"})


async def ask_free_text(place: Place, lines: list[Line]) -> None:
    await _ask(place, lines, [COLOUR], answers={str(COLOUR["question"]): 'A warm "orange", please'})


async def ask_two_questions(place: Place, lines: list[Line]) -> None:
    answers = {str(COLOUR["question"]): "Blue", str(CHECKS["question"]): "Unit"}
    notes = {str(COLOUR["question"]): {"notes": "the darker one"}}
    await _ask(place, lines, [COLOUR, CHECKS], answers=answers, annotations=notes)


async def ask_unanswered(place: Place, lines: list[Line]) -> None:
    await _ask(place, lines, [COLOUR])


async def ask_answers_as_array(place: Place, lines: list[Line]) -> None:
    await _ask(place, lines, [CHECKS], answers={str(CHECKS["question"]): ["Lint", "E2E"]})


async def ask_keyed_by_header(place: Place, lines: list[Line]) -> None:
    await _ask(place, lines, [COLOUR], answers={str(COLOUR["header"]): "Green"})


async def ask_deny(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say(f"::ask {json.dumps([COLOUR])}")
        agent.deny(await agent.request(), "Decide yourself.")
        await agent.result()


async def plan_allow(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, "--permission-mode", "plan") as agent:
        agent.say(PLAN)
        await turn_allowing_everything(agent)


async def plan_deny(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, "--permission-mode", "plan") as agent:
        agent.say("::plan # Plan\\n\\n1. Write the file. ;; ::text I keep planning.")
        agent.deny(await agent.request(), "Think of the tests first.")
        await agent.result()


async def plan_accept_edits(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, "--permission-mode", "plan") as agent:
        agent.say(PLAN)
        update = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
        agent.allow(await agent.request(), updatedPermissions=[update])
        await turn_allowing_everything(agent)


async def plan_without_file(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, "--permission-mode", "plan") as agent:
        agent.say("::exitplan")
        await turn_allowing_everything(agent)


async def plan_mode_write(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        await agent.reply(agent.control("set_permission_mode", mode="plan"))
        agent.say("::write in-plan.txt | x")
        await turn_allowing_everything(agent)


RECORDINGS = (
    allow,
    allow_changed_input,
    allow_without_input,
    deny,
    deny_and_interrupt,
    deny_without_message,
    error_reply,
    parallel_tools,
    parallel_tools_are_asked_one_by_one,
    bad_behavior,
    always_allow_one_rule,
    always_allow_for_session,
    late_answer,
    answer_to_unknown_request,
    ask_single,
    ask_multi,
    ask_free_text,
    ask_two_questions,
    ask_unanswered,
    ask_answers_as_array,
    ask_keyed_by_header,
    ask_deny,
    plan_allow,
    plan_deny,
    plan_accept_edits,
    plan_without_file,
    plan_mode_write,
)
