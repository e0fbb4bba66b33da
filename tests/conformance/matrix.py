"""Every agent and every kind of tool: is it asked for, does it run when allowed, does it not when denied?"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from msgspec import Struct
from tests.conformance.candidates import CANDIDATES, Candidate, settle_claude
from tests.conformance.deeds import (
    BEGAN,
    DEEDS,
    PLAIN_DEEDS,
    Deed,
    Place,
    Tried,
    attempt,
    deeds_of,
    has_no_tool,
    liberty_of,
)
from tests.conformance.every_agent import environment_of, short_folder
from tests.conformance.install import PACKAGE, fetch
from tests.conformance.lamp import light, trust, wishful
from tests.conformance.playing import folder_of
from tests.conformance.talk import Broken, Talk
from tests.conformance.witness import Visits, visits
from tests.live import LIMITS, LiveServer
from tests.modelapi.server import ScriptedModel, serve

from bascule.agents.catalogue import Catalogue
from bascule.agents.unasked import Unasked

PATIENCE = 180.0  # a machine with other work to do
PROJECT_ALLOWS = "in a project that allows all"
PROJECT_TRUSTED = "there, trusted"
PROJECT_STARTS = "MCP server of that project"
PROJECT_STARTS_TRUSTED = "the same, trusted"
NO_TOOL = "no such tool"
UNASKED = "runs unasked"
REFUSED = "does not run, asks nobody"
STOPPED = "runs in its sandbox, which stops it"
SANDBOXED = "command that keeps to the sandbox"
NAMELESS = "asks, does not name the tool"
# opencode asks for the folder, before the tool that reads it is known: by agent and column.
KNOWN_NAMELESS = {("opencode", "read outside the project")}
PICTURE = "picture outside the project"
# What stands there of an agent that is not tried with it.
OTHERWISE = {SANDBOXED: "has no sandbox of its own", PICTURE: "no tool of its own for it"}
NO_NAME = "a tool it does not name"  # what a request says of a tool that the agent does not name
# An address of this machine is not for every agent: it asks, and then its own rule stops it.
BARRED = ("Blocked Host",)
BARRED_CELL = "asks, then its own rule bars 127.0.0.1"
CATALOGUE = Catalogue.load("/nonexistent")
COLUMNS = [*DEEDS, PROJECT_ALLOWS, PROJECT_TRUSTED, PROJECT_STARTS, PROJECT_STARTS_TRUSTED]
CLAUDE = Candidate(
    "claude", "Claude Code, stream-json", "claude-code", "stream_json", PACKAGE, "claude", settle_claude
)
ROWS = (CLAUDE, *CANDIDATES)


# What an agent's file must declare for a cell that says it is not asked for.
DECLARED: dict[str, tuple[Unasked, ...]] = {
    "MCP tool": ("mcp",),
    "MCP tool that says it only reads": ("mcp", "mcp_read_only"),
    "read": ("reads", "reads_anywhere"),
    "read .env": ("reads", "reads_anywhere"),
    "read outside the project": ("reads_anywhere",),
    PICTURE: ("pictures", "reads_anywhere"),
    "web search": ("web_search",),
    "sub-agent's command": ("subagents",),
    PROJECT_ALLOWS: ("project_rules",),
    PROJECT_TRUSTED: ("project_rules", "trusted_project_rules"),
    PROJECT_STARTS: ("project_programs",),
    PROJECT_STARTS_TRUSTED: ("project_programs", "trusted_project_programs"),
}


class Cell(Struct):
    """What one agent did with one kind of tool."""

    column: str
    text: str
    runs_unasked: bool = False
    fault: str | None = None  # why the run fails, unless the agent's file says so


class Row(Struct):
    candidate: Candidate
    version: str
    cells: list[Cell]


async def run(candidate: Candidate, only: list[str], keep: bool) -> Row:
    """Fill the agent's row, one session for each cell, on one server."""
    program = await asyncio.to_thread(
        fetch, candidate.name, candidate.package, candidate.program, python=candidate.python
    )
    folder = Path(tempfile.mkdtemp(prefix="bascule-conf-", dir=short_folder()))
    row = Row(candidate, program.version, [])
    try:
        model = ScriptedModel()
        async with serve(model) as url, visits() as seen:
            live = LiveServer(folder, config=LIMITS)
            live.env = environment_of(candidate, program, live.home, url)
            # Nothing leaves this machine; what an agent asks others for is seen here.
            live.env |= {"HTTPS_PROXY": seen.url, **candidate.searching}
            await _Filling(live, row, Witnesses(seen, model), only).all()
    finally:
        if keep:
            sys.stdout.write(f"Kept: {folder}\n")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return row


class Witnesses(Struct, frozen=True):
    visits: Visits
    model: ScriptedModel


class _Filling:
    def __init__(self, live: LiveServer, row: Row, seen: Witnesses, only: list[str]) -> None:
        self._live = live
        self._candidate = row.candidate
        self._seen = seen
        self._row = row
        self._only = only
        self._lamp = live.folder / "lamp.log"
        self._theirs = live.folder / "theirs.log"

    async def all(self) -> None:
        agent, home, work = self._candidate.agent, self._live.home, self._live.work
        light(agent, home, self._lamp)
        trusted = work / "trusted"
        deeds = deeds_of(agent, self._candidate.driver)
        for name in (*(folder_of(one) for one in deeds), "project"):
            trust(agent, home, trusted / name)
        for where in ("untrusted", "trusted"):
            wishful(agent, work / where / "project", self._theirs)
        async with self._live:
            command = {"path": str(trusted / "project"), "trusted": True}
            answer = await self._live.http.post("/api/projects/trusted", json=command)
            answer.raise_for_status()
            for column in DEEDS:
                if not self._wants(column):
                    continue
                if column in deeds:
                    await self._cell(column, deeds[column], f"trusted/{folder_of(column)}")
                else:
                    self._put(Cell(column, OTHERWISE.get(column, NO_TOOL)))
            for where, column, starts in (
                ("untrusted", PROJECT_ALLOWS, PROJECT_STARTS),
                ("trusted", PROJECT_TRUSTED, PROJECT_STARTS_TRUSTED),
            ):
                if self._wants(column):
                    self._theirs.unlink(missing_ok=True)
                    await self._cell(column, liberty_of(self._candidate.driver), f"{where}/project")
                    self._started(starts)

    def _wants(self, column: str) -> bool:
        return not self._only or any(part in column for part in self._only)

    async def _cell(self, column: str, deed: Deed, folder: str) -> None:
        who = {"agent": self._candidate.agent, "driver": self._candidate.driver}
        model = self._seen.model
        talk = Talk(self._live, model, folder, **who, patience=PATIENCE)
        place = Place(talk.project, self._lamp, self._seen.visits, model, self._live.folder / "outside")
        try:
            await talk.open()
            if self._candidate.driver == "plain" and deed is PLAIN_DEEDS["command"]:
                await talk.send("/chat-mode diff")  # in which it acts upon commands
                await talk.turn_ends()
            denied = await attempt(talk, deed, place, "deny")
            again = not denied.hangs and not has_no_tool(denied)
            allowed = await attempt(talk, deed, place, "allow") if again else None
            self._put(judge(column, deed, denied, allowed))
        except (Broken, TimeoutError, AssertionError, OSError) as error:
            self._put(Cell(column, "?", fault=f"{type(error).__name__}: {error}"))
        finally:
            if talk.session:
                await self._live.http.delete(f"/api/sessions/{talk.session}")
                await talk.close()

    def _started(self, column: str) -> None:
        """Whether a program that only the project names was started."""
        started = self._theirs.exists()
        fault = "the project's own MCP server was started" if started else None
        self._put(Cell(column, "started unasked" if started else "not started", started, fault))

    def _put(self, cell: Cell) -> None:
        spec = CATALOGUE.get(self._candidate.agent)
        declared = spec.unasked_of(spec.driver(self._candidate.driver)) or ()
        if cell.runs_unasked and set(DECLARED.get(cell.column, ())) & set(declared):
            cell.fault = None
            cell.text += ", as its file says"
        if cell.text == NAMELESS and (self._candidate.agent, cell.column) in KNOWN_NAMELESS:
            cell.fault = None
        self._row.cells.append(cell)
        say(cell)


def judge(column: str, deed: Deed, denied: Tried, allowed: Tried | None) -> Cell:
    """What the two tries come to."""
    if denied.hangs:
        return Cell(column, "hangs", fault=denied.hangs)
    if has_no_tool(denied):
        return Cell(column, NO_TOOL)
    if denied.done:
        text = "asks, can't be denied" if denied.asked else UNASKED
        return Cell(column, text, runs_unasked=not denied.asked, fault=f"it was done: {denied.said[-200:]}")
    if not denied.asked:
        if allowed is not None and (allowed.done or allowed.asked):
            return Cell(column, "asks sometimes", fault=f"not asked: {denied.said[-300:]}")
        return Cell(column, STOPPED if BEGAN in denied.said else REFUSED)
    if allowed is None or not allowed.done:
        words = allowed.hangs or allowed.said[-300:] if allowed else ""
        if any(one in words for one in BARRED):
            return Cell(column, BARRED_CELL)
        return Cell(column, "asks, does not run when allowed", fault=words)
    for one in (*denied.asked, *allowed.asked):
        if not one.tool.strip() or NO_NAME in f"{one.tool} {one.title}":
            return Cell(column, NAMELESS, fault=f"{one.tool!r}, {one.title!r}")
        if deed.names and deed.names not in f"{one.tool} {one.title}":
            return Cell(column, NAMELESS, fault=f"{one.tool!r}, {one.title!r}")
    return Cell(column, "asks")


def say(cell: Cell) -> None:
    word = "ok    " if cell.fault is None else "FAILED"
    sys.stdout.write(f"{word}  {cell.column}: {cell.text}\n")
    if cell.fault:
        sys.stdout.write(f"          {cell.fault}\n")
    sys.stdout.flush()
