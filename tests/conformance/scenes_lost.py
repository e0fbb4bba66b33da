"""Scenes of an agent whose own process is killed: it comes back and still knows the conversation."""

from __future__ import annotations

import os
import signal

from tests.conformance.candidates import Candidate
from tests.conformance.talk import Talk, gone, holds

from bascule.model.events import (
    AgentSpawned,
    Note,
    PermissionRequested,
    PermissionWithdrawn,
    PromptSent,
    ReconnectScheduled,
    SessionEnded,
    SessionReady,
    SessionStarted,
)


async def mid_answer(talk: Talk) -> None:
    """kill -9 of the agent while it answers: it is back, and the cut turn is said and not repeated."""
    await talk.open("::text Remember the word heron.")
    await talk.turn_ends()
    own = (await talk.record())["agent_session_id"]
    await talk.send("::slow 300 0.05")
    await talk.text("piece 3.")
    waiting = await talk.send("::text I am back.")
    holds(waiting == "queued", f"the next prompt is {waiting}")
    talk.model.requests.clear()
    await _lose(talk)
    await talk.text("I am back.")
    await talk.turn_ends()
    await _same(talk, own)
    cut = [one for one in talk.events(Note) if one.code == "turn_cut"]
    holds(len(cut) == 1, f"the cut turn is told {len(cut)} times")
    sent = [one.text for one in talk.events(PromptSent)]
    holds(sent.count("::slow 300 0.05") == 1, f"it was sent again: {sent}")
    text = "".join(str(one.get("text", "")) for one in await talk.entries() if one["kind"] == "text")
    holds(text.count("piece 3.") == 1, "a piece of the cut answer was told twice")


async def while_asking(talk: Talk) -> None:
    """kill -9 while a permission is open: the request is lost, nothing runs, the next prompt is answered."""
    await talk.open("::text Remember the word heron.")
    await talk.turn_ends()
    own = (await talk.record())["agent_session_id"]
    await talk.send("::bash touch asked.txt")
    asked = await talk.next(PermissionRequested)
    await _lose(talk)
    withdrawn = talk.events(PermissionWithdrawn)
    holds([one.request_id for one in withdrawn] == [asked.request_id], f"withdrawn: {withdrawn}")
    holds(withdrawn[0].reason == "lost", f"withdrawn as {withdrawn[0].reason}")
    talk.model.requests.clear()
    await talk.send("::text I am back.")
    await talk.text("I am back.")
    await talk.turn_ends()
    await _same(talk, own)
    talk.not_made("asked.txt")


async def _lose(talk: Talk) -> None:
    """Kill the process, and wait until another one is ready."""
    pid = talk.events(AgentSpawned)[-1].pid
    os.kill(pid, signal.SIGKILL)
    ended = await talk.next(SessionEnded)
    holds((ended.reason, ended.signal) == ("disconnected", 9), f"it ended {ended}")
    await talk.next(ReconnectScheduled)
    await talk.next(SessionStarted)
    await talk.next(SessionReady)
    holds(await gone(pid), f"process {pid} is still there")
    holds(talk.events(AgentSpawned)[-1].pid != pid, "no other process was started")


async def _same(talk: Talk, own: str) -> None:
    record = await talk.record()
    holds(record["agent_session_id"] == own, f"it talks about {record['agent_session_id']}, not {own}")
    told = [str(message) for one in talk.model.requests if one.tools for message in one.messages]
    holds(any("heron" in one for one in told), "the model was not told of the earlier turn")


async def _codex_mid_answer(talk: Talk, agent: Candidate) -> None:
    """As `mid_answer`."""
    await mid_answer(talk)


async def _codex_while_asking(talk: Talk, agent: Candidate) -> None:
    """As `while_asking`."""
    await while_asking(talk)


LOST = {"agent killed mid-answer": mid_answer, "agent killed while asking": while_asking}
LOST_CODEX = {"agent killed mid-answer": _codex_mid_answer, "agent killed while asking": _codex_while_asking}
