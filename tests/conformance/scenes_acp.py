"""Scenes for agents whose one process serves several sessions."""

from __future__ import annotations

from tests.conformance.candidates import Candidate
from tests.conformance.talk import Talk, holds

from bascule.model.events import AgentSpawned, SessionEnded, SessionStarted, TextAppended


async def two_at_once(talk: Talk, agent: Candidate) -> None:
    """A second session joins the process in the middle of an answer, is answered, and ends: the first one
    hears nothing of it, its answer is whole, and it goes on."""
    beside = talk.beside()
    try:
        await talk.open("::slow 120 0.1")
        await talk.text("piece 3.")
        await beside.open("::text From the second session.")
        await beside.text("From the second session.")
        await beside.turn_ends()
        holds(_process(talk) == _process(beside) != "", "they are not on one process")
        holds(_pids(talk) == _pids(beside), f"their processes are {_pids(talk)} and {_pids(beside)}")
        await beside.command("session:end")
        ended = await beside.next(SessionEnded)
        holds(ended.reason == "closed", f"the second session ended {ended}")
        await talk.text("piece 120.")
        await talk.turn_ends()
        await talk.send("::text Still here.")
        await talk.text("Still here.")
        await talk.turn_ends()
    finally:
        await beside.close()
    holds("second session" not in _said(talk), "the first session heard the second one")
    holds("piece" not in _said(beside), "the second session heard the first one")


def _process(talk: Talk) -> str:
    return talk.events(SessionStarted)[-1].process


def _pids(talk: Talk) -> list[int]:
    return [one.pid for one in talk.events(AgentSpawned)]


def _said(talk: Talk) -> str:
    return "".join(one.text for one in talk.events(TextAppended))


ACP = {"two sessions on one process": two_at_once}
