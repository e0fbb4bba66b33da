"""A desk for tests of launches: a home with a scripted terminal and a scripted agent, and no real screen."""

import asyncio
import hashlib
import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.live import FAKES
from tests.liveness import end_all_at_home
from tests.waiting import PATIENCE

from bascule.agents.catalogue import Catalogue
from bascule.launch.agent_start import AgentStarts
from bascule.launch.launches import Folders, Launches
from bascule.launch.request import LaunchRequest, request_of
from bascule.model.settings import LaunchSettings, Settings

AGENT = "claude-code"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Desk:
    """`folder` must be short: the launchers' socket lies below it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home, self.bin, self.runtime = folder / "home", folder / "bin", folder / "run"
        for made in (self.home, self.bin, self.runtime, folder / "own"):
            made.mkdir(mode=0o700, exist_ok=True)
        self.notes, self.screen = folder / "notes", folder / "screen"
        self.terminal_notes = folder / "terminal-notes"
        self.terminal("opens")
        self.program("xterm", "fake_terminal.py")
        self.program("claude", "terminal_agent.py", str(self.notes))

    def program(self, name: str, script: str, *words: str) -> Path:
        """A program on the desk's PATH that runs a script of tests/fakes."""
        path = self.bin / name
        line = shlex.join([sys.executable, "-E", "-S", str(FAKES / script), *words])
        path.write_text(f'#!/bin/sh\nexec {line} "$@"\n')
        path.chmod(0o755)
        return path

    def terminal(self, does: str, types: tuple[str, str] | None = None) -> None:
        told = {"does": does, "notes": str(self.terminal_notes), "screen": str(self.screen), "types": types}
        (self.home / "fake_terminal.json").write_text(json.dumps(told))

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(self.runtime),
            "DISPLAY": "elsewhere:0",
            "TERMINAL": "xterm",
        }

    def settings(self, **launch: Any) -> Settings:
        own = str(self.folder / "own")
        # Tests wait for the report, however busy the machine is; those of the answer's time set their own.
        chosen = LaunchSettings(
            **{"answer_ms": int(PATIENCE * 1000), "window_seconds": int(PATIENCE), **launch}
        )
        return Settings(data_dir=own, config_dir=own, roots=(str(self.folder),), launch=chosen)

    def launches(
        self, environ: Mapping[str, str] | None = None, folders: Folders | None = None, **launch: Any
    ) -> Launches:
        environment = {**self.environ, **(environ or {})}
        starts = AgentStarts(Catalogue.load("/nonexistent"), environment, lambda folder: False)
        return Launches(self.settings(**launch), starts, environment, platform="linux", folders=folders)

    def request(self, prompt: str, **fields: Any) -> LaunchRequest:
        return request_of({"prompt": prompt, "workingDirectory": str(self.home), **fields})

    @property
    def bridge_folder(self) -> Path:
        return self.runtime / "claude-bridge"

    def files(self) -> list[str]:
        """What lies in the bridge's folder, but for its socket."""
        return sorted(one for one in os.listdir(self.bridge_folder) if not one.startswith("report-"))

    def read_notes(self) -> list[dict[str, Any]]:
        return _lines(self.notes)

    def terminals(self) -> list[dict[str, Any]]:
        return _lines(self.terminal_notes)

    def shown(self) -> str:
        return self.screen.read_text(errors="replace") if self.screen.exists() else ""

    def close(self) -> None:
        """End every terminal and agent that was started here: those with the desk's folder as their home."""
        end_all_at_home(self.home)

    async def note(self, key: str, count: int = 1) -> dict[str, Any]:
        """The agent's note with this key; the `count`th."""
        async with asyncio.timeout(PATIENCE):
            while len(found := [one for one in self.read_notes() if key in one]) < count:  # noqa: ASYNC110 - a file
                await asyncio.sleep(0.02)
        return found[count - 1]

    async def shows(self, words: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while words not in self.shown():  # noqa: ASYNC110 - a file
                await asyncio.sleep(0.02)


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
