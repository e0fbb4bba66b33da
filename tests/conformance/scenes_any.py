"""Scenes that every agent can play, whatever its protocol: text, tools allowed or not, stops, a return."""

from __future__ import annotations

import asyncio

from tests.conformance.candidates import Candidate
from tests.conformance.talk import Talk, holds

from bascule.model.events import (
    PermissionRequested,
    PermissionWithdrawn,
    SessionEnded,
    SessionReady,
    TurnEnded,
)


async def text(talk: Talk, agent: Candidate) -> None:
    """A prompt that came with the start is answered, and so is the next one."""
    await talk.open("::text Hello from the scripted model.")
    await talk.text("Hello from the scripted model.")
    await talk.turn_ends()
    await talk.send("::text And a second time.")
    await talk.text("And a second time.")
    await talk.turn_ends()


async def allow(talk: Talk, agent: Candidate) -> None:
    """A command that a person allowed is run, and the model is told what came of it."""
    await talk.open("::bash echo allowed > allowed.txt; cat allowed.txt ;; ::text It is done.")
    await talk.answer(await talk.next(PermissionRequested), "allow")
    await talk.text("It is done.")
    await talk.turn_ends()
    talk.made("allowed.txt")
    told = [one.last_tool_result() or "" for one in talk.model.requests]
    holds(any("allowed" in one for one in told), f"the model was told {told}")


async def reject(talk: Talk, agent: Candidate) -> None:
    """A command that a person refused is not run; the session goes on."""
    await talk.open("::bash touch rejected.txt ;; ::text Then not.")
    await talk.answer(await talk.next(PermissionRequested), "deny")
    ended = await talk.next(TurnEnded)
    if agent.reject_ends_turn:
        holds(ended.stop_reason in ("interrupted", "refused", "other"), f"the turn ended {ended}")
    else:
        holds(ended.stop_reason == "end_turn", f"the turn ended {ended}")
    talk.not_made("rejected.txt")
    await talk.send("::text Still here.")
    await talk.text("Still here.")
    await talk.turn_ends()


async def write(talk: Talk, agent: Candidate) -> None:
    """A new file is asked about, with what it is to hold, and made when allowed."""
    await talk.open("::write written.txt | one line ;; ::text Written.")
    asked = await talk.next(PermissionRequested)
    holds("written.txt" in asked.title + bytes(asked.input).decode(), f"the file is not named: {asked.title}")
    await talk.answer(asked, "allow")
    await talk.text("Written.")
    await talk.turn_ends()
    holds("one line" in talk.made("written.txt").read_text(), "it holds something else")


async def cancel(talk: Talk, agent: Candidate) -> None:
    """An answer that is stopped in its middle ends there; the next prompt is answered."""
    await talk.open("::slow 200 0.05")
    await talk.text("piece 3.")
    await talk.command("session:interrupt")
    await talk.turn_ends("interrupted")
    await talk.send("::text Still here.")
    await talk.text("Still here.")
    await talk.turn_ends()


async def cancel_asking(talk: Talk, agent: Candidate) -> None:
    """A turn that waits for a permission can be stopped: the request is taken back, nothing runs."""
    await talk.open("::bash touch stopped.txt")
    asked = await talk.next(PermissionRequested)
    await talk.command("session:interrupt")
    await talk.turn_ends("interrupted")
    withdrawn = [one.request_id for one in talk.events(PermissionWithdrawn)]
    holds(asked.request_id in withdrawn, "the request still stands")
    await talk.send("::text Still here.")
    await talk.text("Still here.")
    await talk.turn_ends()
    talk.not_made("stopped.txt")


async def resume(talk: Talk, agent: Candidate) -> None:
    """An ended session is taken up again: the agent still knows what was said before."""
    await talk.open("::text Remember the word heron.")
    await talk.turn_ends()
    await talk.command("session:end")
    await talk.next(SessionEnded)
    await bring_back(talk)
    await talk.next(SessionReady)
    talk.model.requests.clear()
    await talk.send("::text I am back.")
    await talk.text("I am back.")
    await talk.turn_ends()
    told = [str(block) for one in talk.model.requests if one.tools for block in one.messages]
    holds(any("heron" in one for one in told), "the model was not told of the earlier turn")


async def bring_back(talk: Talk) -> None:
    """Bascule says how long to wait where the agent would harm so young a conversation."""
    answer = await talk.live.post(f"/api/sessions/{talk.session}/resume")
    for _ in range(2):  # its last words, and its file, may each be too young
        if answer.status_code != 429:
            break
        talk.notes.append(f"Bascule said: {answer.json()['error']['message']}")
        await asyncio.sleep(int(answer.headers["retry-after"]))
        answer = await talk.live.post(f"/api/sessions/{talk.session}/resume")
    holds(answer.status_code == 200, f"the resume was answered {answer.text}")


async def killed(talk: Talk, agent: Candidate) -> None:
    """The server is killed while an answer streams, and started again: nothing is lost or told twice."""
    await talk.open("::slow 60 0.05")
    await talk.text("piece 3.")
    await talk.live.kill()
    await talk.live.start()
    await talk.connect()
    await talk.text("piece 60.")
    await talk.turn_ends()
    shown = "".join(str(one.get("text", "")) for one in await talk.entries() if one["kind"] == "text")
    wanted = " ".join(f"piece {number}." for number in range(1, 61))
    holds(wanted in shown.replace("\n", " "), f"the answer is not whole: {shown[-200:]!r}")


async def failing(talk: Talk, agent: Candidate) -> None:
    """A model that refuses the key makes a failed turn that says why, and the session goes on."""
    await talk.open("::error 401")
    ended = await talk.turn_ends("error")
    holds((ended.message or "").strip(), f"the turn failed without a word: {ended}")
    await talk.send("::text Still here.")
    await talk.text("Still here.")
    await talk.turn_ends()


ANY = {
    "text": text,
    "tool, allowed": allow,
    "tool, rejected": reject,
    "file written": write,
    "cancel mid-answer": cancel,
    "cancel while asking": cancel_asking,
    "resume": resume,
    "server killed mid-answer": killed,
    "model fails": failing,
}
