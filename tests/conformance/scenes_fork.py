"""A fork at an earlier message: the new conversation holds what was said before it, and nothing after."""

from __future__ import annotations

from tests.conformance.candidates import Candidate
from tests.conformance.talk import Talk, holds

from bascule.model.events import SessionEnded


async def forked_at(talk: Talk, _agent: Candidate | None = None) -> None:
    """The second message is edited: the model is told the first one and the edited one, and no other."""
    await talk.open("::text Remember the word heron.")
    kept = await talk.turn_ends()
    holds(kept.fork_at, f"the end of the turn has no id: {kept}")
    for word in ("otter", "badger"):
        await talk.send(f"::text Remember the word {word}.")
        await talk.turn_ends()
    own = (await talk.record())["agent_session_id"]
    fork = talk.beside()
    talk.model.requests.clear()
    copied = {"session": talk.session, "seq": 1}
    await fork.open("::text Edited.", resume=own, fork=True, forkAt=kept.fork_at, copiedFrom=copied)
    try:
        await fork.text("Edited.")
        await fork.turn_ends()
        holds((await fork.record())["agent_session_id"] != own, "it is the same conversation")
        _told(talk, ["heron", "Edited"], ["otter", "badger"])
        await fork.command("session:end")
        await fork.next(SessionEnded)
    finally:
        await fork.close()
    talk.model.requests.clear()
    await talk.send("::text Still here.")
    await talk.turn_ends()
    _told(talk, ["heron", "otter", "badger"], ["Edited"])


def _told(talk: Talk, words: list[str], others: list[str]) -> None:
    told = " ".join(str(message) for one in talk.model.requests for message in one.messages)
    holds(told, "the model was asked nothing")
    for word in words:
        holds(word in told, f"the model was not told {word!r}")
    for word in others:
        holds(word not in told, f"the model was told {word!r}")


FORK = {"fork at an earlier message": forked_at}
