"""Scenes of Codex's own protocol: a plan with a question, a rule for commands, a model changed, a fork."""

from __future__ import annotations

import json

from tests.conformance.candidates import OTHER_KEY, Candidate
from tests.conformance.scenes_fork import FORK
from tests.conformance.scenes_found import alone
from tests.conformance.talk import Talk, holds

from bascule.model.events import ModeChanged, PermissionRequested, QuestionAsked, SessionEnded, SessionReady

QUESTION = {
    "id": "colour",
    "header": "Colour",
    "question": "Which colour?",
    "options": [
        {"label": "Blue", "description": "calm"},
        {"label": "Green", "description": "fresh"},
    ],
}


async def planned(talk: Talk, agent: Candidate) -> None:
    """In plan mode the model may ask; the answer reaches it, and the next turn may act again."""
    asking = f"::tool request_user_input {json.dumps({'questions': [QUESTION]})}"
    await talk.open(f"{asking} ;; ::text Thank you.", mode="plan")
    await talk.reply(await talk.next(QuestionAsked), {"Which colour?": "Green"})
    await talk.text("Thank you.")
    await talk.turn_ends()
    told = [one.last_tool_result() or "" for one in talk.model.requests]
    holds(any("Green" in one for one in told), f"the model was told {told}")
    await talk.command("session:mode", mode="ask")
    await talk.next(ModeChanged)
    await talk.send("::bash touch after.txt ;; ::text Acted.")
    await talk.answer(await talk.next(PermissionRequested), "allow")
    await talk.text("Acted.")
    await talk.turn_ends()
    talk.made("after.txt")


async def for_session(talk: Talk, agent: Candidate) -> None:
    """A command that was allowed for the session is not asked about again; another one is."""
    await talk.open(
        "::bash touch again.txt ;; ::bash touch again.txt ;; ::bash touch other.txt ;; ::text Done."
    )
    first = await talk.next(PermissionRequested)
    await talk.answer(first, "allow", option="acceptForSession")
    other = await talk.next(PermissionRequested)
    holds("other.txt" in other.title, f"it asked again: {other.title}")
    await talk.answer(other, "deny", option="decline")
    await talk.text("Done.")
    await talk.turn_ends()
    talk.made("again.txt")
    talk.not_made("other.txt")


async def forked(talk: Talk, agent: Candidate) -> None:
    """A fork knows what was said, under another name; the first conversation stays as it was."""
    await talk.open("::text Remember the word heron.")
    ready = await talk.next(SessionReady)
    await talk.turn_ends()
    fork = Talk(
        talk.live, talk.model, "fork-of-it", agent=talk.agent, driver=talk.driver, patience=talk.patience
    )
    await fork.open(resume=ready.agent_session_id, fork=True)
    try:
        again = await fork.next(SessionReady)
        holds(again.agent_session_id != ready.agent_session_id, "it is the same conversation")
        talk.model.requests.clear()
        await fork.send("::text A fork.")
        await fork.text("A fork.")
        await fork.turn_ends()
        told = [str(message) for one in talk.model.requests for message in one.messages]
        holds(any("heron" in one for one in told), "the model was not told of the earlier turn")
        await fork.command("session:end")
    finally:
        await fork.close()


async def listed(talk: Talk, agent: Candidate) -> None:
    """It lists its threads of this folder, by whatever they were begun, and one of them is taken up."""
    await alone(talk, (agent.program, *agent.alone), "::text Begun elsewhere.")
    await talk.open("::text Begun here.")
    ready = await talk.next(SessionReady)
    await talk.turn_ends()
    answer = await talk.ask("agents:conversations", agent=talk.agent)
    known = {one["id"]: one for one in answer["conversations"]}
    holds(not answer["more"], "it says that there are more")
    holds({one["cwd"] for one in known.values()} == {str(talk.project)}, f"of other folders: {known}")
    own = known.pop(ready.agent_session_id or "", {})
    holds(own.get("session") == talk.session, f"its own thread is listed as {own}")
    holds([one["title"] for one in known.values()] == ["::text Begun elsewhere."], f"others: {known}")
    (other,) = known
    holds("session" not in known[other], "a session is said to hold it")
    again = talk.beside()
    await again.open(resume=other)
    try:
        taken_up = await again.next(SessionReady)
        holds(taken_up.agent_session_id == other, f"it took up {taken_up}")
        talk.model.requests.clear()
        await again.send("::text Gone on with.")
        await again.text("Gone on with.")
        await again.turn_ends()
        told = [str(message) for one in talk.model.requests for message in one.messages]
        holds(any("Begun elsewhere." in one for one in told), "the model was not told of the earlier turn")
        await again.command("session:end")
        await again.next(SessionEnded)
    finally:
        await again.close()


async def other_key(talk: Talk, agent: Candidate) -> None:
    """A provider whose key has a name of its own: Codex is given it because the settings pass it on."""
    config = talk.live.home / ".codex" / "config.toml"
    usual = config.read_text(encoding="utf-8")
    config.write_text(usual.replace('"OPENAI_API_KEY"', f'"{OTHER_KEY}"'), encoding="utf-8")
    try:
        await talk.open("::text Paid with another key.")
        await talk.text("Paid with another key.")
        await talk.turn_ends()
    finally:
        config.write_text(usual, encoding="utf-8")


CODEX = {
    "plan and question": planned,
    "allowed for the session": for_session,
    "fork": forked,
    **FORK,
    "list": listed,
    "key passed on": other_key,
}
