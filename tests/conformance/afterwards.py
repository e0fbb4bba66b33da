"""What must hold after every scene, whatever it was: a whole log, closed tools, a clean end, plain words."""

from __future__ import annotations

import time
from collections import Counter
from datetime import datetime

from tests.conformance.outcome import Figures
from tests.conformance.talk import Talk, alive, holds

from bascule.model.events import (
    AgentSpawned,
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    SessionEnded,
    SessionReady,
    StderrWritten,
    TextAppended,
    TextSaid,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    Unrecognised,
)


async def end_and_check(talk: Talk) -> Figures:
    """End the session if it lives, and look at all of its log."""
    figures = Figures()
    if (await talk.record())["phase"] not in ("ended", "failed"):
        begun = time.monotonic()
        answer = await talk.live.http.delete(f"/api/sessions/{talk.session}")
        holds(answer.status_code == 200, f"ending was answered {answer.text}")
        await talk.next(SessionEnded)
        figures.end = time.monotonic() - begun
    for ended in talk.events(SessionEnded)[-1:]:
        how = f"code {ended.code}" if ended.signal is None else f"signal {ended.signal}"
        figures.exit = f"{ended.reason}, {how}"
    await _check_log(talk)
    _check_words(talk)
    _check_tools(talk)
    _check_turns(talk)
    _check_processes(talk)
    _measure(talk, figures)
    return figures


async def _check_log(talk: Talk) -> None:
    numbers = [row.seq for row in talk.rows]
    holds(numbers == list(range(1, len(numbers) + 1)), "rows came twice or not at all over the socket")
    stored = await talk.live.log(talk.session)
    holds(
        [row.seq for row in stored][: len(numbers)] == numbers, "the stored log differs from the followed one"
    )


def _check_words(talk: Talk) -> None:
    strange = Counter(f"{one.reason}: {one.raw[:160]}" for one in talk.events(Unrecognised))
    holds(not strange, f"not recognised: {dict(strange)}")
    noise = "".join(one.text for one in talk.events(StderrWritten)).strip()
    if noise:
        talk.notes.append(f"stderr: {noise[:300]}")


def _check_tools(talk: Talk) -> None:
    started = Counter(one.tool_id for one in talk.events(ToolStarted))
    closed = Counter(one.tool_id for one in talk.events(ToolChanged) if one.status != "running")
    holds(started == closed, f"tools started {dict(started)}, ended {dict(closed)}")
    tool_of = {one.request_id: one.tool_id for one in talk.events(PermissionRequested)}
    status_of = {one.tool_id: one.status for one in talk.events(ToolChanged)}
    for answer in talk.events(PermissionAnswered):
        if talk.driver == "plain":  # it asks, but tells of no tools
            continue
        status = status_of.get(tool_of[answer.request_id] or "")
        right = ("denied",) if answer.decision == "deny" else ("done", "failed")
        holds(status in right, f"a tool that was answered {answer.decision} is shown as {status}")


def _check_turns(talk: Talk) -> None:
    begun = len(talk.events(PromptSent)) + talk.unprompted_turns
    holds(len(talk.events(TurnEnded)) <= begun, "more turns ended than were begun")
    if not talk.tells_cost:
        return
    costs = [one.cost_usd for one in talk.events(TurnEnded)]
    holds(None not in costs, f"a turn has no cost: {costs}")
    asked = len(talk.requests())
    if asked and talk.events(TurnEnded):
        holds((costs[-1] or 0) > 0, f"the session cost {costs[-1]}")
        holds(any(one.usage for one in talk.events(TurnEnded)), "no turn has usage")


def _check_processes(talk: Talk) -> None:
    left = [one.pid for one in talk.events(AgentSpawned) if alive(one.pid)]
    holds(not left, f"processes {left} are left")


def _measure(talk: Talk, figures: Figures) -> None:
    spawned, ready = _moment(talk, AgentSpawned), _moment(talk, SessionReady)
    if spawned is None or ready is None:
        return
    figures.ready = ready - spawned
    # Only where the prompt came with the start, and nobody was waited for in between.
    prompt_first = isinstance(talk.rows[1].event, PromptSent)
    awaited = TextAppended | TextSaid | PermissionRequested
    first = next((row.event for row in talk.rows if isinstance(row.event, awaited)), None)
    text = _moment(talk, TextAppended, TextSaid)
    if prompt_first and isinstance(first, TextAppended | TextSaid) and text is not None and text > spawned:
        figures.text = text - spawned


def _moment(talk: Talk, *kinds: type[AnyEvent]) -> float | None:
    at = next((row.at for row in talk.rows if isinstance(row.event, kinds)), None)
    return None if at is None else datetime.fromisoformat(at).timestamp()
