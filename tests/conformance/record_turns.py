"""Recordings of ordinary turns: text, thinking, files, images, commands, sub-agents, queue, settings."""

from __future__ import annotations

from tests.conformance.direct import PLAIN_FLAGS, Claude, Line, Place, claude

# One red pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
FIRST = "aaaaaaaa-0000-4000-8000-000000000001"
SECOND = "aaaaaaaa-0000-4000-8000-000000000002"


async def turn_allowing_everything(agent: Claude) -> None:
    """Go on to the result, allowing whatever is asked."""
    while True:
        message = await agent.until(lambda seen: seen.get("type") in {"control_request", "result"})
        if message["type"] == "result":
            return
        agent.allow(message)


async def text_two_turns(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::text Hello, this is a streamed answer.")
        await agent.result()
        agent.say("and again")
        await agent.result()


async def thinking(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::think I should consider the options before I answer ++ ::text The second one.")
        await agent.result()


async def thinking_then_tool(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::think A file is needed ++ ::text I make it. ++ ::bash touch thought.txt")
        await turn_allowing_everything(agent)


async def write_edit_read(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say(
            "::write poem.txt | one\\ntwo\\nthree\\n ;; ::edit poem.txt | two | TWO and a half"
            " ;; ::write poem.txt | one\\nfour\\n ;; ::read poem.txt"
        )
        await turn_allowing_everything(agent)


async def read_only_command_is_not_asked(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash ls -a ;; ::bash cat no-such-file")
        await turn_allowing_everything(agent)


async def image(place: Place, lines: list[Line]) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    async with claude(place, lines) as agent:
        agent.say([{"type": "text", "text": "what is this?"}, {"type": "image", "source": source}])
        await agent.result()


async def slash_command(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("/context")
        await agent.result()
        agent.say("/no-such-command here")
        await agent.result()


async def compact(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("hello")
        await agent.result()
        agent.say("/compact")
        await agent.result()
        agent.say("still there?")
        await agent.result()


async def subagent(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::task Look around | ::bash touch by-subagent.txt ,, ::text I have looked.")
        await turn_allowing_everything(agent)


async def parallel_subagents(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::task One | ::bash touch s1.txt ++ ::task Two | ::bash touch s2.txt")
        first, second = await agent.request(), await agent.request()
        agent.allow(second)
        agent.deny(first, "Not this one.")
        await turn_allowing_everything(agent)


async def unavailable_tool(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say('::tool NoSuchTool {"x": 1}')
        await turn_allowing_everything(agent)


async def without_partials_or_replay(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, base=PLAIN_FLAGS) as agent:
        agent.say("::think Briefly ++ ::text I make a file. ++ ::bash touch plain.txt")
        await turn_allowing_everything(agent)


async def queued_prompts(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::slow 10 0.1", FIRST)
        await agent.delta(3)
        agent.say("second, sent while busy", SECOND)
        await agent.result()
        await agent.result()


async def prompt_during_tool(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        agent.say("::bash sleep 2; touch slept.txt ;; ::bash touch after.txt", FIRST)
        agent.allow(await agent.request())
        agent.say("by the way, hurry up", SECOND)
        await turn_allowing_everything(agent)


async def initialize(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        await agent.reply(agent.control("initialize", hooks=None))
        agent.say("::text hi")
        await agent.result()


async def settings_while_idle(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines) as agent:
        await agent.reply(agent.control("set_model", model="sonnet"))
        agent.say("::text first")
        await agent.result()
        for mode in ("acceptEdits", "plan", "bypassPermissions", "nonsense", "default"):
            await agent.reply(agent.control("set_permission_mode", mode=mode))
        await agent.reply(agent.control("set_model", model=None))
        await agent.reply(agent.control("set_max_thinking_tokens", max_thinking_tokens=2000))
        await agent.reply(agent.control("get_session_cost"))
        await agent.reply(agent.control("no_such_request"))
        agent.say("::text second")
        await agent.result()


async def accept_edits_mode(place: Place, lines: list[Line]) -> None:
    async with claude(place, lines, "--permission-mode", "acceptEdits") as agent:
        agent.say("::write free.txt | not asked ;; ::bash touch asked.txt")
        await turn_allowing_everything(agent)


async def session_state_events(place: Place, lines: list[Line]) -> None:
    extra = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}
    async with claude(place, lines, environment=extra) as agent:
        agent.say("::bash touch state.txt")
        await turn_allowing_everything(agent)


RECORDINGS = (
    text_two_turns,
    thinking,
    thinking_then_tool,
    write_edit_read,
    read_only_command_is_not_asked,
    image,
    slash_command,
    compact,
    subagent,
    parallel_subagents,
    unavailable_tool,
    without_partials_or_replay,
    queued_prompts,
    prompt_during_tool,
    initialize,
    settings_while_idle,
    accept_edits_mode,
    session_state_events,
)
