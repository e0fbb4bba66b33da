"""`python -m tests.conformance AGENT`: real agents driven through a real Bascule, scene by scene."""

from __future__ import annotations

import argparse
import asyncio
import functools
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.conformance import (
    cages,
    every_agent,
    feedback,
    launches,
    matrix,
    report,
    report_all,
    report_cages,
    report_matrix,
    terminals,
)
from tests.conformance.candidates import CANDIDATES, Candidate
from tests.conformance.environment import clean_environment, make_home
from tests.conformance.install import Installed, install
from tests.conformance.outcome import Outcome
from tests.conformance.playing import folder_of, played, say
from tests.conformance.report_table import LAUNCHES, TERMINALS
from tests.conformance.scenario import SCENARIOS
from tests.conformance.scenes_asking import ASKING
from tests.conformance.scenes_fork import FORK
from tests.conformance.scenes_found import FOUND_OF_CLAUDE
from tests.conformance.scenes_living import FORBIDDEN, LIVING
from tests.conformance.scenes_lost import LOST
from tests.conformance.scenes_screen import SCREEN
from tests.conformance.talk import Talk
from tests.conformance.through import play
from tests.live import LiveServer
from tests.modelapi.server import ScriptedModel, serve

Scene = Callable[[Talk], Awaitable[None]]
SCENES: dict[str, Scene] = {
    **{scenario.name: functools.partial(play, scenario) for scenario in SCENARIOS},
    **ASKING,
    **LIVING,
    **LOST,
    **SCREEN,
    **FOUND_OF_CLAUDE,
    **FORK,
}


async def run(installed: Installed, names: list[str], keep: bool) -> list[Outcome]:
    """Play the named scenes, one after the other, on one server."""
    # Unix sockets live below it, so its path must be short.
    folder = Path(tempfile.mkdtemp(prefix="bascule-conf-"))
    model = ScriptedModel()
    outcomes: list[Outcome] = []
    async with serve(model) as url:
        live = LiveServer(folder, env=_environment(installed, folder, url))
        make_home(live.home, live.work)
        try:
            async with live:
                for name in names:
                    outcomes.append(await _one(live, model, name))
                    say(outcomes[-1])
            logged = live.stderr().strip()
            if logged:
                sys.stdout.write(f"The server's stderr:\n{logged}\n")
        finally:
            if keep:
                sys.stdout.write(f"Kept: {folder}\n")
            else:
                shutil.rmtree(folder, ignore_errors=True)
    return outcomes


def _environment(installed: Installed, folder: Path, url: str) -> dict[str, str]:
    return {
        **clean_environment(installed, folder / "home", url),
        **FORBIDDEN,
        "CLAUDE_BIN": str(installed.claude),
    }


async def _one(live: LiveServer, model: ScriptedModel, name: str) -> Outcome:
    model.requests.clear()
    talk = Talk(live, model, folder_of(name))
    return await played(name, talk, SCENES[name](talk))


def main() -> int:
    """Play, report, and say by the exit code whether all went well."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("agent", choices=[*AGENTS, "all"])
    parser.add_argument("--only", action="append", metavar="NAME", help="scenes whose name holds this")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the server's state")
    args = parser.parse_args()
    names = list(AGENTS) if args.agent == "all" else [args.agent]
    return max(AGENTS[name](args.only or [], args.keep) for name in names)


def _claude_code(only: list[str], keep: bool) -> int:
    names = [name for name in SCENES if not only or any(part in name for part in only)]
    installed = install()
    sys.stdout.write(f"claude-code {installed.claude_version}, node {installed.node_version}\n")
    outcomes = asyncio.run(run(installed, names, keep))
    if len(names) == len(SCENES):
        report.write(installed, outcomes)
    return _count(outcomes)


def _candidate(candidate: Candidate, only: list[str], keep: bool) -> int:
    sys.stdout.write(f"{candidate.name}\n")
    done = asyncio.run(every_agent.run(candidate, only, keep))
    if not only:
        report_all.write(done)
    if done.greeting is not None:
        report_all.write_greeting(done, done.greeting)
    return _count(done.outcomes)


def _terminals(only: list[str], keep: bool) -> int:
    outcomes: list[Outcome] = []
    for shown in terminals.SCREENS:
        if only and shown.name not in only:
            continue
        program, played = asyncio.run(terminals.run(shown, keep))
        sys.stdout.write(f"{shown.name} {program.version}\n")
        for outcome in played:
            say(outcome)
        TERMINALS.write(shown.name, program.version, played)
        outcomes += played
    return _count(outcomes)


def _launch(only: list[str], keep: bool) -> int:
    outcomes: list[Outcome] = []
    for launched in launches.LAUNCHED:
        if only and launched.name not in only:
            continue
        program, played = asyncio.run(launches.run(launched, only, keep))
        sys.stdout.write(f"{launched.name} {program.version}\n")
        for outcome in played:
            say(outcome)
        if len(played) == len(launches.PROMPTS):
            LAUNCHES.write(launched.name, program.version, played)
        outcomes += played
    return _count(outcomes)


def _matrix(only: list[str], keep: bool) -> int:
    """`only` names agents or columns."""
    agents = [one for one in matrix.ROWS if one.name in only] or list(matrix.ROWS)
    columns = [one for one in only if one not in {row.name for row in matrix.ROWS}]
    failed = 0
    for candidate in agents:
        sys.stdout.write(f"{candidate.name}\n")
        row = asyncio.run(matrix.run(candidate, columns, keep))
        failed += sum(cell.fault is not None for cell in row.cells)
        report_matrix.write(row)
    sys.stdout.write(f"{failed} cells failed\n")
    return 1 if failed else 0


def _cages(only: list[str], keep: bool) -> int:
    """`only` names agents or scenes."""
    agents = [one for one in cages.ROWS if one.name in only] or list(cages.ROWS)
    scenes = [one for one in only if one not in {row.name for row in cages.ROWS}]
    outcomes: list[Outcome] = []
    for candidate in agents:
        sys.stdout.write(f"{candidate.name}\n")
        row = asyncio.run(cages.run(candidate, scenes, keep))
        outcomes += row.outcomes
        if not scenes:
            report_cages.write(row)
    return _count(outcomes)


def _feedback(_only: list[str], keep: bool) -> int:
    program, outcomes = asyncio.run(feedback.run(keep))
    sys.stdout.write(f"claude {program.version}\n")
    for outcome in outcomes:
        say(outcome)
    return _count(outcomes)


def _count(outcomes: list[Outcome]) -> int:
    failed = sum(outcome.fault is not None for outcome in outcomes)
    sys.stdout.write(f"{len(outcomes) - failed} passed, {failed} failed\n")
    return 1 if failed else 0


# Whatever can be driven, by the name that `make conformance AGENT=` takes: (scenes, keep) -> exit code.
AGENTS: dict[str, Callable[[list[str], bool], int]] = {
    "claude-code": _claude_code,
    **{one.name: functools.partial(_candidate, one) for one in CANDIDATES},
    "matrix": _matrix,
    "cages": _cages,
    "terminals": _terminals,
    "launch": _launch,
    "feedback": _feedback,
}


if __name__ == "__main__":
    sys.exit(main())
