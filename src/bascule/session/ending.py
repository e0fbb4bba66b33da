"""Starts and ends a session's process: end reasons in words, and the steps that all kinds share."""

import asyncio
from datetime import datetime

from bascule.model.errors import AgentFailed, HostError
from bascule.model.events import AgentSpawned, AnyEvent, EndReason, Note, SessionEnded, SessionFailed
from bascule.model.lifecycle import Phase
from bascule.model.records import SessionRecord
from bascule.session.agent import AgentProcess, Exit, SpawnPlan
from bascule.session.ledger import Ledger

STORE_SECONDS = 2.0  # that an end waits to be stored before the agent is stopped all the same
OVER = frozenset({Phase.ENDING, Phase.ENDED, Phase.FAILED})

END_WORDS: dict[EndReason, str] = {
    "idle_limit": "Ended after a time without a message. Everything is kept. Resume goes on from here.",
    "time_limit": "Ended because it reached the longest time a session may run. Everything is kept.",
    "size_limit": "Ended because the agent wrote more than a session may. Everything so far is kept.",
    "lost": "The agent stopped together with the process that kept it. Resume goes on from here.",
}


async def spawn(ledger: Ledger, process: AgentProcess, plan: SpawnPlan) -> SessionFailed | None:
    """Start the process and log that it runs; or why it does not."""
    try:
        pid = await process.spawn(plan)
    except AgentFailed as error:
        return SessionFailed(str(error.fields.get("reason") or "spawn_failed"), error.message)
    await ledger.log([AgentSpawned(pid, plan.argv[0])])
    return None


def ended(record: SessionRecord, exit: Exit, failure: SessionFailed | None) -> AnyEvent:
    """The last fact of a session. `failure`: what to say if nobody asked it to end."""
    if record.phase is Phase.ENDING and record.end_reason is not None:
        reason: EndReason = record.end_reason  # pyright: ignore[reportAssignmentType] - set by SessionEnding
        return SessionEnded(reason, exit.code, exit.signal, END_WORDS.get(reason))
    if exit.lost:
        return SessionEnded("lost", message=END_WORDS["lost"])
    return failure or SessionEnded("exited", exit.code, exit.signal, exit_words(exit))


def never_spoke(record: SessionRecord, why: str, stderr_tail: str, exit: Exit) -> SessionFailed:
    words = f"Could not talk to {record.agent}: {why}. Check that it runs by itself, then try again."
    return SessionFailed("no_protocol", words, stderr_tail.strip(), exit.code, exit.signal)


async def stop_after(committed: "asyncio.Future[None]", ledger: Ledger, process: AgentProcess) -> None:
    """Stop it once the command is stored. A disk that takes nothing must not keep an agent alive."""
    await asyncio.wait([committed], timeout=STORE_SECONDS)
    await stop(ledger, process)


async def stop(ledger: Ledger, process: AgentProcess) -> None:
    """Tell the process to stop; its exit notice finishes the session."""
    try:
        await process.end()
    except HostError as error:  # it is gone already
        if ledger.record.phase not in (Phase.ENDED, Phase.FAILED):
            ledger.log([Note("end_failed", error.message, "warning")])


def left_by_itself(exit: Exit) -> bool:
    """It went in good order: an agent that chose to leave is not started again."""
    return exit.code == 0 and exit.signal is None and not exit.lost


def how_it_went(exit: Exit) -> str:
    if exit.lost:
        return "together with the process that kept it"
    return exit_words(exit) or "exit code 0"


def exit_words(exit: Exit) -> str | None:
    if exit.signal is not None:
        return f"stopped by signal {exit.signal}"
    return f"exit code {exit.code}" if exit.code else None


def seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp() if at else 0.0
