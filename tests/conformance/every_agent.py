"""Drives one real agent after the other through a real Bascule, by the scenes that all of them can play."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct
from tests.conformance.candidates import OTHER_KEY, Candidate
from tests.conformance.greeting import Greeting, greet
from tests.conformance.install import Program, fetch
from tests.conformance.outcome import Outcome
from tests.conformance.playing import folder_of, played, say
from tests.conformance.scenes_acp import ACP
from tests.conformance.scenes_any import ANY
from tests.conformance.scenes_codex import CODEX
from tests.conformance.scenes_found import FOUND
from tests.conformance.scenes_lost import LOST_CODEX
from tests.conformance.scenes_plain import PLAIN
from tests.conformance.talk import Talk
from tests.live import LIMITS, LiveServer
from tests.modelapi.server import ScriptedModel, serve

# By the driver.
SCENES = {"plain": PLAIN, "codex": {**ANY, **CODEX, **LOST_CODEX}, "acp": {**ANY, **ACP}}
PATIENCE = 120.0  # some need six seconds to start, more on a busy machine
QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DO_NOT_TRACK": "1",
    "NO_PROXY": "127.0.0.1,localhost",
}


Scene = Callable[[Talk, Candidate], Awaitable[None]]


class Run(Struct):
    """What one agent did."""

    candidate: Candidate
    version: str
    outcomes: list[Outcome]
    greeting: Greeting | None = None


async def run(candidate: Candidate, only: list[str], keep: bool) -> Run:
    """Play the agent's scenes, one after the other, on one server."""
    program = await asyncio.to_thread(
        fetch, candidate.name, candidate.package, candidate.program, python=candidate.python
    )
    # Unix sockets live below it, so its path must be short; and one agent refuses a home below /tmp.
    folder = Path(tempfile.mkdtemp(prefix="bascule-conf-", dir=short_folder()))
    model = ScriptedModel()
    done = Run(candidate, program.version, [])
    async with serve(model) as url:
        live = LiveServer(folder, config=f'{LIMITS}[pass_on]\ncodex = ["{OTHER_KEY}"]\n')
        live.env = environment_of(candidate, program, live.home, url)
        try:
            async with live:
                if candidate.driver == "acp":
                    done.greeting = await greet(candidate.agent, live.env, live.work / "greeting")
                for name in scenes_of(candidate):
                    if not only or any(part in name for part in only):
                        done.outcomes.append(await _one(live, model, candidate, name))
                        say(done.outcomes[-1])
            logged = live.stderr().strip()
            if logged:
                sys.stdout.write(f"The server's stderr:\n{logged}\n")
        finally:
            if keep:
                sys.stdout.write(f"Kept: {folder}\n")
            else:
                shutil.rmtree(folder, ignore_errors=True)
    return done


def scenes_of(candidate: Candidate) -> dict[str, Scene]:
    return {**SCENES[candidate.driver], **(FOUND if candidate.alone else {})}


def short_folder() -> str | None:
    return "/var/tmp" if Path("/var/tmp").is_dir() else None


def environment_of(candidate: Candidate, program: Program, home: Path, url: str) -> dict[str, str]:
    """The whole environment of the server, built from nothing; the agent's HOME is filled for it."""
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    given = {candidate.start: f"'{program.path}'"} if candidate.start else {}
    return {
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "PATH": program.search_path,
        "LANG": "C.UTF-8",
        "SHELL": "/bin/sh",
        "ACP_START_TIMEOUT_MS": "60000",  # no scene is about it, and one agent needs over 15 s under load
        **QUIET,
        **candidate.settle(home, url),
        **given,
    }


async def _one(live: LiveServer, model: ScriptedModel, candidate: Candidate, name: str) -> Outcome:
    model.requests.clear()
    who = {"agent": candidate.agent, "driver": candidate.driver}
    talk = Talk(live, model, folder_of(name), **who, patience=PATIENCE)
    return await played(name, talk, scenes_of(candidate)[name](talk, candidate))
