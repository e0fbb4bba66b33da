"""The real CLIs on their own screens: to their prompt in a trusted project, to their question elsewhere."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct
from tests.conformance.candidates import CANDIDATES, Settle, settle_claude
from tests.conformance.every_agent import QUIET, short_folder
from tests.conformance.install import Program, fetch
from tests.conformance.outcome import Figures, Outcome
from tests.conformance.terminal_answers import answers_to
from tests.live import LiveServer
from tests.modelapi.server import ScriptedModel, serve
from tests.terminal.viewing import Viewer, terminal, viewing

from bascule.drivers.terminal.virtual_screen import Screen
from bascule.model.events import Note

COLS, ROWS = 110, 40
PATIENCE = 90.0
STAYS_SECONDS = 5.0  # a question nobody answers is still there after this


class Shown(Struct, frozen=True):
    """One CLI: what its prompt looks like, and its trust question, if it has one."""

    name: str
    agent: str
    package: str
    program: str
    settle: Settle
    prompt: str  # a pattern on the screen
    question: str = ""
    python: bool = False


def _claude(home: Path, url: str) -> dict[str, str]:
    return settle_claude(home, url, key_approved=True)


def _aider(home: Path, url: str) -> dict[str, str]:
    return {
        **_SETTLE["aider"](home, url),
        "AIDER_GITIGNORE": "false",
        "AIDER_SHOW_RELEASE_NOTES": "false",
        "AIDER_SHOW_MODEL_WARNINGS": "false",
    }


_SETTLE = {one.name: one.settle for one in CANDIDATES}
SCREENS: tuple[Shown, ...] = (
    Shown("claude", "claude-code", "@anthropic-ai/claude-code", "claude", _claude, r"manual mode on",
          "Is this a project you created or one you trust?"),
    Shown("codex", "codex", "@openai/codex", "codex", _SETTLE["codex"], r"(?m)^› (?!1\. Trust)",
          "Trust this folder?"),
    Shown("gemini", "gemini", "@google/gemini-cli", "gemini", _SETTLE["gemini"], r"Type your message",
          "Do you trust the files in this folder?"),
    Shown("copilot", "copilot", "@github/copilot", "copilot", _SETTLE["copilot"], r"/ commands",
          "Confirm folder trust"),
    Shown("opencode", "opencode", "opencode-ai", "opencode", _SETTLE["opencode"], r"Ask anything"),
    Shown("aider", "aider", "aider-chat", "aider", _aider, r"(?m)^(?:\w+ )?> ?$", python=True),
)  # fmt: skip


class Looking:
    """A headless terminal: draws what comes and answers what any terminal answers."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.screen = Screen(COLS, ROWS)
        self._drawn = 0
        self._answered = 0

    @property
    def text(self) -> str:
        data = bytes(self.viewer.data)
        self.screen.feed(data[self._drawn :])
        self._drawn = len(data)
        return "\n".join(line.rstrip() for line in self.screen.text())

    async def until(self, fits: Callable[[str], object], what: str) -> str:
        end = time.monotonic() + PATIENCE
        while not fits(self.text):
            if time.monotonic() > end or self.viewer.closed:
                raise AssertionError(f"{what} did not come; the screen is:\n{self.text.strip()}")
            await self.answer()
            await asyncio.sleep(0.1)
        return self.text

    async def answer(self) -> None:
        data = bytes(self.viewer.data[self._answered :])
        self._answered += len(data)
        if reply := answers_to(data):
            await self.viewer.type(reply)


Scene = Callable[[LiveServer, Shown, str, Looking], Awaitable[list[str]]]


async def run(shown: Shown, keep: bool) -> tuple[Program, list[Outcome]]:
    """Play both scenes of one CLI on one server."""
    program = await asyncio.to_thread(fetch, shown.name, shown.package, shown.program, python=shown.python)
    folder = Path(tempfile.mkdtemp(prefix="bascule-conf-", dir=short_folder()))
    outcomes: list[Outcome] = []
    async with serve(ScriptedModel()) as url:
        live = LiveServer(folder)
        (live.home / "tmp").mkdir(parents=True, exist_ok=True)
        live.env = {
            "HOME": str(live.home),
            "TMPDIR": str(live.home / "tmp"),
            "PATH": program.search_path,
            "LANG": "C.UTF-8",
            "SHELL": "/bin/sh",
            **QUIET,
            **shown.settle(live.home, url),
        }
        try:
            async with live:
                for name, scene in (("trusted", _trusted), ("untrusted", _untrusted)):
                    outcomes.append(await _one(live, shown, name, scene))
        finally:
            if keep:
                sys.stdout.write(f"Kept: {folder}\n")
            else:
                shutil.rmtree(folder, ignore_errors=True)
    return program, outcomes


async def _one(live: LiveServer, shown: Shown, name: str, scene: Scene) -> Outcome:
    project = live.work / name
    project.mkdir()
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", str(project)], check=True)
    begun = time.monotonic()
    fault: str | None = None
    notes: list[str] = []
    session = ""
    try:
        if name == "trusted":
            answer = await live.http.post(
                "/api/projects/trusted", json={"path": str(project), "trusted": True}
            )
            assert answer.status_code == 200, answer.text
        session = await terminal(live, shown.agent, cwd=str(project), cols=COLS, rows=ROWS)
        async with viewing(live, session, after=0) as viewer:
            await viewer.line.resize(COLS, ROWS)
            notes = await scene(live, shown, session, Looking(viewer))
    except (AssertionError, OSError, TimeoutError) as error:
        fault = str(error)
    finally:
        if session:
            await live.http.delete(f"/api/sessions/{session}")
    return Outcome(f"{shown.name}, {name}", time.monotonic() - begun, fault, Figures(), notes)


async def _trusted(live: LiveServer, shown: Shown, session: str, looking: Looking) -> list[str]:
    if not shown.question:
        await looking.until(lambda text: _at_prompt(shown, text), "the prompt")
        return ["it asks nothing"]
    # Some show their prompt for a moment before they ask.
    end = time.monotonic() + PATIENCE
    while "trust_answered" not in (noted := await _notes(live, session)):
        assert time.monotonic() < end, f"nobody answered the question: {noted}\n{looking.text.strip()}"
        await looking.answer()
        await asyncio.sleep(0.1)
    await looking.until(lambda text: _at_prompt(shown, text), "the prompt")
    assert (await _notes(live, session)).count("trust_answered") == 1
    return ["the question was answered by Bascule, once, and noted"]


async def _untrusted(live: LiveServer, shown: Shown, session: str, looking: Looking) -> list[str]:
    if not shown.question:
        await looking.until(lambda text: _at_prompt(shown, text), "the prompt")
        return ["it has no question"]
    await looking.until(lambda text: _asks(shown, text), "the question")
    await asyncio.sleep(STAYS_SECONDS)
    assert _asks(shown, looking.text), f"the question went away by itself:\n{looking.text}"
    assert not _at_prompt(shown, looking.text), looking.text
    noted = await _notes(live, session)
    assert noted == ["trust_asked"], noted
    return ["the question is left to a person"]


async def _notes(live: LiveServer, session: str) -> list[str]:
    return [one.event.code for one in await live.log(session) if isinstance(one.event, Note)]


def _asks(shown: Shown, text: str) -> bool:
    return bool(shown.question) and "".join(shown.question.split()) in "".join(text.split())


def _at_prompt(shown: Shown, text: str) -> bool:
    """Some leave their question on the screen: what stands lower came later."""
    places = [found.start() for found in re.finditer(shown.prompt, text)]
    question = text.rfind(shown.question[:12]) if shown.question else -1
    return bool(places) and places[-1] > question
