"""Plays the declared scenarios through Bascule, by the same words the bare CLI is played with."""

from __future__ import annotations

from typing import assert_never

from tests.conformance.record_turns import PIXEL
from tests.conformance.scenario import (
    Action,
    Allow,
    Answer,
    AwaitRequest,
    AwaitText,
    Deny,
    Interrupt,
    Prompt,
    Restart,
    Scenario,
    TurnEnds,
)
from tests.conformance.talk import Talk, holds

from bascule.model.events import (
    PermissionAnswered,
    PermissionRequested,
    QuestionAsked,
    SessionEnded,
    SessionReady,
    TurnEnded,
)


async def play(scenario: Scenario, talk: Talk) -> None:
    """Play it, then compare the transcript, the folder and the number of requests with what was declared."""
    await talk.open(mode="plan" if scenario.plan_mode else None)
    await talk.next(SessionReady)
    for action in scenario.actions:
        await _act(talk, action)
    await _check(scenario, talk)


async def _act(talk: Talk, action: Action) -> None:
    match action:
        case Prompt(text=text, with_image=with_image):
            await talk.send(text, images=[{"mediaType": "image/png", "data": PIXEL}] if with_image else [])
        case Allow(remember=remember):
            await talk.answer(await talk.next(PermissionRequested), "allow", remember=remember)
        case Deny(reason=reason):
            await talk.answer(await talk.next(PermissionRequested), "deny", message=reason)
        case Answer(answers=answers):
            await talk.reply(await talk.next(QuestionAsked), answers)
        case AwaitText(text=text):
            await talk.text(text)
        case AwaitRequest():
            await talk.next(PermissionRequested)
        case Interrupt():
            await talk.command("session:interrupt")
        case TurnEnds(failed=failed):
            ended = await talk.next(TurnEnded)
            holds((ended.stop_reason != "end_turn") == failed, f"the turn ended {ended}")
        case Restart():
            await restart_and_resume(talk)
        case _:
            assert_never(action)


async def restart_and_resume(talk: Talk) -> None:
    """kill -9 the server, start it again, end the session and bring its agent back."""
    await talk.live.kill()
    await talk.live.start()
    await talk.connect()
    await talk.command("session:end")
    await talk.next(SessionEnded)
    await talk.command("session:resume")
    await talk.next(SessionReady)


async def _check(scenario: Scenario, talk: Talk) -> None:
    shown = [str(entry.get("text", "")) for entry in await talk.entries() if entry["kind"] == "text"]
    shown += [*_plans(talk), *(one.message or "" for one in talk.events(TurnEnded))]
    for text in scenario.says:
        places = sum(text in one for one in shown)
        holds(places == 1, f"{text!r} is shown in {places} places")
    for text in scenario.never_says:
        holds(not any(text in one for one in shown), f"{text!r} is shown")
    for name in scenario.makes:
        talk.made(name)
    for name in scenario.never_makes:
        talk.not_made(name)
    asked = len(unanswered_by_policy(talk)) + len(talk.events(QuestionAsked))
    holds(asked == scenario.asked, f"a person was asked {asked} times, not {scenario.asked}")


def unanswered_by_policy(talk: Talk) -> list[PermissionRequested]:
    """The requests that went to a person."""
    by_policy = {one.request_id for one in talk.events(PermissionAnswered) if one.by == "policy"}
    return [one for one in talk.events(PermissionRequested) if one.request_id not in by_policy]


def _plans(talk: Talk) -> list[str]:
    """Plans are shown where they are approved."""
    inputs = [bytes(one.input).decode() for one in talk.events(PermissionRequested) if one.kind == "plan"]
    return [one.replace("\\n", "\n") for one in inputs]
