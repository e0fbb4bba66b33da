"""A scene in which a conversation is begun with the agent's own program, found on the disk, and continued."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.conformance.candidates import Candidate
from tests.conformance.scenes_any import bring_back
from tests.conformance.talk import Talk, holds

from bascule.model.events import Note, SessionReady

SAID = "The heron stands in the reeds."
NAME = "found on disk, continued"


async def alone(talk: Talk, words: tuple[str, ...], prompt: str) -> None:
    """One prompt given to the agent's own program, as a person without Bascule would."""
    process = await asyncio.create_subprocess_exec(
        *words,
        prompt,
        cwd=talk.project,
        env={**talk.live.env, "TERM": "dumb"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = await asyncio.wait_for(process.communicate(), talk.patience)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    holds(process.returncode == 0, f"it ended with {process.returncode}: {said.decode()[-600:]}")


async def found_here(talk: Talk) -> dict[str, Any]:
    """The one session on the disk that was had in this scene's folder."""
    answer = await talk.live.http.get("/api/found-sessions", params={"wait": "true", "limit": 500})
    holds(answer.status_code == 200, f"the list was answered {answer.text}")
    here = [one for one in answer.json()["sessions"] if one["cwd"] == str(talk.project)]
    holds(len(here) == 1, f"found here: {here}; looked: {answer.json()['looking']}")
    return here[0]


async def continued(talk: Talk, words: tuple[str, ...]) -> None:
    """It is listed with what was said, taken up on the same log, and its agent still knows of it."""
    await alone(talk, words, f"::text {SAID}")
    shown = await found_here(talk)
    holds(shown["agent"] == talk.agent, f"it is found as {shown}")
    talk.session = shown["sessionId"]
    texts = [str(one.get("text", "")) for one in await talk.entries() if one["kind"] == "text"]
    holds(any(SAID in one for one in texts), f"its transcript has {texts}")
    told_before = (await talk.record())["seq"]
    await bring_back(talk)
    await talk.connect()
    await talk.catch_up(told_before)
    await talk.next(SessionReady)
    talk.model.requests.clear()
    await talk.send("::text It flew to the other bank.")
    await talk.text("It flew to the other bank.")
    await talk.turn_ends()
    told = [str(message) for one in talk.model.requests if one.tools for message in one.messages]
    holds(any(SAID in one for one in told), "the model was not told of what was said before")
    shown = [str(one.get("text", "")) for one in await talk.entries() if one["kind"] == "text"]
    for said in (SAID, "It flew to the other bank."):
        times = sum(said in one for one in shown)
        holds(times == 1, f"{said!r} is shown {times} times")
    refused = [one.text for one in talk.events(Note) if one.code.endswith("_refused")]
    holds(not refused, f"the agent refused {refused}")
    holds(not (await talk.record()).get("found"), "it still counts as found")


async def found(talk: Talk, agent: Candidate) -> None:
    await continued(talk, (agent.program, *agent.alone))


async def found_of_claude(talk: Talk) -> None:
    talk.tells_cost = False  # its file tells none of a single turn
    await continued(talk, (talk.live.env["CLAUDE_BIN"], "-p"))


FOUND = {NAME: found}
FOUND_OF_CLAUDE = {NAME: found_of_claude}
