"""Recordings of what stops: interrupts, signals, closed input, API errors, resumed and refused sessions."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from pathlib import Path

from tests.conformance.direct import PATIENCE, PLAIN_FLAGS, Line, Place, claude
from tests.conformance.record_turns import FIRST, SECOND, turn_allowing_everything
from tests.conformance.scenario import COLOUR

SESSION = "11111111-2222-4333-8444-555555555555"
UNKNOWN = "99999999-2222-4333-8444-555555555555"


async def _appears(path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        while not path.exists():  # noqa: ASYNC110  another process makes the file: there is no event to await
            await asyncio.sleep(0.02)


async def interrupt_midstream(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::slow 100 0.05")
        await agent.delta(3)
        agent.control("interrupt")
        await agent.result()
        agent.say("still there?")
        await agent.result()


async def interrupt_pending_permission(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch pending.txt")
        await agent.request()
        agent.control("interrupt")
        await agent.result()


async def interrupt_pending_question(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say(f"::ask {json.dumps([COLOUR])}")
        await agent.request()
        agent.control("interrupt")
        await agent.result()


async def interrupt_running_tool(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch running.txt; python3 -c 'import time; time.sleep(30)'")
        agent.allow(await agent.request())
        await _appears(place.project / "running.txt")
        agent.control("interrupt")
        await agent.result()


async def interrupt_idle(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::text hi")
        await agent.result()
        await agent.reply(agent.control("interrupt"))
        agent.say("still there?")
        await agent.result()


async def interrupt_with_queue(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::slow 100 0.05", FIRST)
        await agent.delta(2)
        agent.say("queued behind", SECOND)
        await agent.until(lambda seen: seen.get("command_uuid") == SECOND)
        agent.control("interrupt")
        await agent.result()
        await agent.result()


async def sigint_midstream(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::slow 100 0.05")
        await agent.delta(2)
        lines.append(Line("note", "SIGINT"))
        agent.process.send_signal(signal.SIGINT)
        await agent.result()


async def sigterm_midstream(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::slow 100 0.05")
        await agent.delta(2)
        lines.append(Line("note", "SIGTERM"))
        agent.process.send_signal(signal.SIGTERM)


async def eof_during_turn(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::slow 10 0.05")
        await agent.delta(2)
        agent.close_input()
        await agent.result()


async def eof_pending_permission(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash touch eof.txt")
        await agent.request()
        agent.close_input()
        await agent.result()


async def _api_error(place: Place, lines: list[Line], prompt: str) -> None:
    async with claude(place, lines) as agent:
        agent.say(prompt)
        await agent.result()
        agent.say("still there?")
        await agent.result()


async def api_error_529(place: Place, lines: list[Line]) -> None:
    await _api_error(place, lines, "::error 529")


async def api_error_529_recovered(place: Place, lines: list[Line]) -> None:
    await _api_error(place, lines, "::error 529 1 ;; ::text It went through.")


async def api_error_401(place: Place, lines: list[Line]) -> None:
    await _api_error(place, lines, "::error 401")


async def api_error_400(place: Place, lines: list[Line]) -> None:
    await _api_error(place, lines, "::error 400")


async def cut_in_first_block(place: Place, lines: list[Line]) -> None:
    await _api_error(place, lines, "::cut This answer will be cut off somewhere ;; ::text resumed here.")


async def cut_after_a_block(place: Place, lines: list[Line]) -> None:
    await _api_error(place, lines, "::think hm ++ ::text One. ++ ::cut Two is cut ;; ::text resumed here.")


async def stream_ended_early(place: Place, lines: list[Line]) -> None:
    await _api_error(place, lines, "::endearly This answer will end too early ;; ::text resumed here.")


async def bad_json(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::text hi")
        await agent.result()
        agent.send_line('{"type":"user", oops')


async def unknown_type_and_blank_line(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.send_line("")
        agent.send({"type": "no_such_type", "x": 1})
        agent.send({"type": "user", "message": {"role": "user", "content": "a plain string"}})
        await agent.result()


async def missing_message(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.send({"type": "user"})


async def resume(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, f"--session-id={SESSION}") as agent:
        agent.say("remember the word banana")
        await agent.result()
    async with claude(place, lines, f"--resume={SESSION}") as agent:
        agent.say("::bash touch resumed.txt")
        await turn_allowing_everything(agent)


async def fork(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, f"--session-id={SESSION}") as agent:
        agent.say("remember the word banana")
        await agent.result()
    async with claude(place, lines, f"--resume={SESSION}", "--fork-session") as agent:
        agent.say("what was it?")
        await agent.result()


async def resume_unknown(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, f"--resume={UNKNOWN}") as agent:
        agent.say("hi")


async def session_id_in_use(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, f"--session-id={SESSION}") as agent:
        agent.say("hi")
        await agent.result()
    async with claude(place, lines, f"--session-id={SESSION}") as agent:
        agent.say("hi again")


async def resume_from_another_folder(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, f"--session-id={SESSION}") as agent:
        agent.say("remember the word banana")
        await agent.result()
    other = place.home / "other"
    other.mkdir()
    async with claude(place, lines, f"--resume={SESSION}", folder=other) as agent:
        agent.say("what was it?")
        await agent.result()


async def killed_before_the_session_file(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, f"--session-id={SESSION}") as agent:
        agent.say("::bash touch killed.txt")
        await agent.request()
        lines.append(Line("note", "SIGKILL"))
        agent.process.kill()
    async with claude(place, lines, f"--resume={SESSION}") as agent:
        agent.say("still there?")
        await agent.result()


async def without_verbose(place: Place, lines: list[Line]) -> None:
    flags = tuple(flag for flag in PLAIN_FLAGS if flag != "--verbose")
    async with claude(place, lines, base=flags) as agent:
        agent.say("hi")


async def without_permission_prompt_tool(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, base=PLAIN_FLAGS[:-2]) as agent:
        agent.say("::bash touch unasked.txt")
        await agent.result()


async def resume_after_kill_with_open_permission(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, f"--session-id={SESSION}") as agent:
        agent.say("::bash touch killed.txt")
        await agent.request()
        # The CLI writes its session file a moment later; killed before that, there is nothing to resume.
        slug = re.sub(r"[^A-Za-z0-9]", "-", str(place.project))
        await _appears(place.home / ".claude/projects" / slug / f"{SESSION}.jsonl")
        lines.append(Line("note", "SIGKILL"))
        agent.process.kill()
    async with claude(place, lines, f"--resume={SESSION}") as agent:
        agent.say("still there?")
        await turn_allowing_everything(agent)


RECORDINGS = (
    interrupt_midstream,
    interrupt_pending_permission,
    interrupt_pending_question,
    interrupt_running_tool,
    interrupt_idle,
    interrupt_with_queue,
    sigint_midstream,
    sigterm_midstream,
    eof_during_turn,
    eof_pending_permission,
    api_error_529,
    api_error_529_recovered,
    api_error_401,
    api_error_400,
    cut_in_first_block,
    cut_after_a_block,
    stream_ended_early,
    bad_json,
    unknown_type_and_blank_line,
    missing_message,
    resume,
    fork,
    resume_unknown,
    session_id_in_use,
    resume_from_another_folder,
    killed_before_the_session_file,
    without_verbose,
    without_permission_prompt_tool,
    resume_after_kill_with_open_permission,
)
