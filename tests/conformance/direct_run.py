"""Plays the scenarios against the bare CLI, to know that they hold before Bascule stands between."""

from __future__ import annotations

import asyncio
import shutil
import sys
from typing import assert_never, cast
from uuid import uuid4

from tests.conformance.direct import Claude, Line, Place, Wire, claude
from tests.conformance.install import Installed, install, scratch
from tests.conformance.record_turns import PIXEL
from tests.conformance.scenario import (
    SCENARIOS,
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
from tests.modelapi.server import ScriptedModel, serve


class Broken(Exception):
    """The scenario's promise does not hold."""


async def play(scenario: Scenario, place: Place) -> None:
    """Play one scenario; raise Broken when it does not come out as declared."""
    session = str(uuid4())
    lines: list[Line] = []
    seen: list[Wire] = []
    mode = ("--permission-mode", "plan") if scenario.plan_mode else ()
    flags = (f"--session-id={session}", *mode)
    for part in _between_restarts(scenario.actions):
        async with claude(place, lines, *flags) as agent:
            for action in part:
                await _act(agent, action)
        seen += agent.seen
        flags = (f"--resume={session}",)
    _check(scenario, place, seen)


def _between_restarts(actions: tuple[Action, ...]) -> list[list[Action]]:
    parts: list[list[Action]] = [[]]
    for action in actions:
        if isinstance(action, Restart):
            parts.append([])
        else:
            parts[-1].append(action)
    return parts


async def _act(agent: Claude, action: Action) -> None:
    match action:
        case Prompt(text=text, with_image=with_image):
            source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
            image = [{"type": "image", "source": source}] if with_image else []
            agent.say([{"type": "text", "text": text}, *image], str(uuid4()))
        case Allow(remember=remember):
            request = await agent.request()
            offered = request["request"].get("permission_suggestions", [])
            rules = [{**rule, "destination": "session"} for rule in offered if rule["type"] == "addRules"]
            agent.allow(request, **({"updatedPermissions": rules} if remember else {}))
        case Deny(reason=reason):
            agent.deny(await agent.request(), reason)
        case Answer(answers=answers):
            request = await agent.request()
            given = {**request["request"]["input"], "answers": answers}
            agent.answer(request, {"behavior": "allow", "updatedInput": given})
        case AwaitText(text=text):
            await agent.until(lambda m: text in m.get("event", {}).get("delta", {}).get("text", ""))
        case AwaitRequest():
            await agent.request()
        case Interrupt():
            agent.control("interrupt")
        case TurnEnds(failed=failed):
            result = await agent.result()
            if result["is_error"] != failed:
                raise Broken(f"turn ended with {result}")
        case Restart():
            raise AssertionError("restarts divide the run")
        case _:
            assert_never(action)


def _check(scenario: Scenario, place: Place, seen: list[Wire]) -> None:
    said = "\n".join(_texts([m["message"]["content"] for m in seen if m.get("type") == "assistant"]))
    asked = sum(message.get("type") == "control_request" for message in seen)
    faults = [f"did not say {text!r}" for text in scenario.says if text not in said]
    faults += [f"said {text!r}" for text in scenario.never_says if text in said]
    faults += [f"did not make {name}" for name in scenario.makes if not (place.project / name).exists()]
    faults += [f"made {name}" for name in scenario.never_makes if (place.project / name).exists()]
    if asked != scenario.asked:
        faults.append(f"asked {asked} times, not {scenario.asked}")
    if faults:
        raise Broken("; ".join(faults))


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in cast("list[object]", value) for text in _texts(item)]
    if isinstance(value, dict):
        return [text for item in cast("dict[str, object]", value).values() for text in _texts(item)]
    return []


async def main(installed: Installed) -> int:
    """Play all scenarios and return how many broke."""
    broken = 0
    async with serve(ScriptedModel()) as url:
        for scenario in SCENARIOS:
            root = scratch() / "direct" / scenario.name.replace(" ", "-").replace(",", "")
            shutil.rmtree(root, ignore_errors=True)
            try:
                await play(scenario, Place(root, installed, url))
            except (Broken, TimeoutError, EOFError) as error:
                broken += 1
                sys.stdout.write(f"BROKEN  {scenario.name}: {type(error).__name__} {error}\n")
            else:
                sys.stdout.write(f"holds   {scenario.name}\n")
    return broken


if __name__ == "__main__":
    cli = install()
    sys.stdout.write(f"claude {cli.claude_version}\n")
    sys.exit(1 if asyncio.run(main(cli)) else 0)
