"""Real agents at each capability level: they work in their cage, and what is outside stays out of reach."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct
from tests.conformance.candidates import CANDIDATES, Candidate
from tests.conformance.every_agent import environment_of, short_folder
from tests.conformance.install import fetch
from tests.conformance.matrix import CLAUDE
from tests.conformance.outcome import Outcome
from tests.conformance.playing import folder_of, played, say
from tests.conformance.talk import Talk, holds
from tests.live import LIMITS, LiveServer
from tests.modelapi.server import ScriptedModel, serve

from bascule.model.events import PermissionRequested, SessionEnded, SessionReady, TurnEnded

PATIENCE = 120.0
SECRET = "nobody is to read this"
ROWS = (CLAUDE, *(one for one in CANDIDATES if one.name == "codex"))

Scene = Callable[[Talk], Awaitable[None]]


class Row(Struct):
    candidate: Candidate
    version: str
    outcomes: list[Outcome]


def _outside(talk: Talk) -> Path:
    return talk.live.folder / "outside"


async def _allowed(talk: Talk, prompt: str) -> None:
    """Have the model do it, and allow whatever is asked, until the turn ends."""
    await talk.send(prompt)
    while True:
        row = await talk.until(lambda event: isinstance(event, PermissionRequested | TurnEnded), "end")
        if not isinstance(row.event, PermissionRequested):
            return
        await talk.answer(row.event, "allow")


async def _open(talk: Talk, level: str) -> None:
    await talk.open("::text Ready in here.", capability=level)
    await talk.text("Ready in here.")
    await talk.turn_ends()
    holds((await talk.record())["capability"] == level, f"the record does not say {level}")


async def _reaches_nothing(talk: Talk) -> None:
    """Commands that a person allowed read and write nothing outside, whatever they try."""
    outside = _outside(talk)
    await _allowed(talk, f"::bash cat {outside}/secret ; echo x > {outside}/made ;; ::text Tried.")
    await _allowed(talk, f"::bash setsid sh -c 'echo x > {outside}/left' ; sleep 1 ;; ::text Tried again.")
    holds(sorted(one.name for one in outside.iterdir()) == ["secret"], "something was written outside")
    told = " ".join(one.last_tool_result() or "" for one in talk.model.requests)
    holds(SECRET not in told, "the model was told what is outside")
    holds("ermission denied" in told, f"the kernel refused nothing: {told[-300:]}")


async def project_scoped(talk: Talk) -> None:
    await _open(talk, "project_scoped")
    await _allowed(talk, "::bash echo inside > made.txt; cat made.txt ;; ::text Made.")
    talk.made("made.txt")
    await _allowed(talk, "::write written.txt | one line ;; ::text Written.")
    talk.made("written.txt")
    await _reaches_nothing(talk)


async def resumed(talk: Talk) -> None:
    """Its conversation is where it can read and write it: an ended session is taken up, at the same level."""
    await _open(talk, "project_scoped")
    await talk.command("session:end")
    await talk.next(SessionEnded)
    await talk.command("session:resume")
    await talk.next(SessionReady)
    await talk.send("::text Back again.")
    await talk.text("Back again.")
    await talk.turn_ends()
    told = str(talk.model.requests[-1])
    holds("Ready in here." in told, "the model was not told what was said before")
    holds((await talk.record())["capability"] == "project_scoped", "it came back at another level")


async def sandboxed(talk: Talk) -> None:
    await _open(talk, "sandboxed")
    await _allowed(talk, "::bash touch made.txt ;; ::text Tried.")
    talk.not_made("made.txt")
    await _reaches_nothing(talk)


async def read_only(talk: Talk) -> None:
    await _open(talk, "read_only")
    (talk.project / "here.txt").write_text("in the project")
    await _allowed(talk, "::bash touch made.txt ;; ::text Tried.")
    await _allowed(talk, "::write written.txt | one line ;; ::text Tried.")
    talk.not_made("made.txt")
    talk.not_made("written.txt")


SCENES: dict[str, Scene] = {
    "project_scoped": project_scoped,
    "resumed in project_scoped": resumed,
    "sandboxed": sandboxed,
    "read_only": read_only,
}


async def run(candidate: Candidate, only: list[str], keep: bool) -> Row:
    program = await asyncio.to_thread(
        fetch, candidate.name, candidate.package, candidate.program, python=candidate.python
    )
    folder = Path(tempfile.mkdtemp(prefix="bascule-conf-", dir=short_folder()))
    (folder / "outside").mkdir()
    (folder / "outside" / "secret").write_text(SECRET)
    model = ScriptedModel()
    row = Row(candidate, program.version, [])
    try:
        async with serve(model) as url:
            live = LiveServer(folder, config=LIMITS)
            live.env = environment_of(candidate, program, live.home, url)
            # Codex has its model's address in a settings file: the port is named where the cage looks for it.
            live.env.setdefault("OPENAI_BASE_URL", url)
            async with live:
                for name, scene in SCENES.items():
                    if not only or any(part in name for part in only):
                        row.outcomes.append(await _one(live, model, candidate, name, scene))
                        say(row.outcomes[-1])
            logged = live.stderr().strip()
            if logged:
                sys.stdout.write(f"The server's stderr:\n{logged}\n")
    finally:
        if keep:
            sys.stdout.write(f"Kept: {folder}\n")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return row


async def _one(
    live: LiveServer, model: ScriptedModel, candidate: Candidate, name: str, scene: Scene
) -> Outcome:
    model.requests.clear()
    who = {"agent": candidate.agent, "driver": candidate.driver}
    talk = Talk(live, model, folder_of(name), **who, patience=PATIENCE)
    talk.tells_cost = False
    return await played(name, talk, scene(talk))
