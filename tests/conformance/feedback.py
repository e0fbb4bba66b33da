"""The real Claude Code in a plain terminal: messages left in Bascule reach it there, at its idle moments."""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.conformance.candidates import settle_claude
from tests.conformance.every_agent import QUIET, short_folder
from tests.conformance.install import PACKAGE, Program, fetch
from tests.conformance.outcome import Figures, Outcome
from tests.conformance.terminals import COLS, PATIENCE, ROWS, Looking
from tests.live import LiveServer
from tests.modelapi.server import ScriptedModel, serve
from tests.terminal.viewing import terminal, viewing

from bascule.model.events import PromptSent, TextAppended, TextSaid

AT_THE_END = "::text Heard at the end of the turn."
WHEN_IDLE = "The wick is too short."
AFTER_STOP = "Heard after a stop."


async def run(keep: bool) -> tuple[Program, list[Outcome]]:
    """One server, one Claude, one story."""
    program = await asyncio.to_thread(fetch, "claude", PACKAGE, "claude")
    folder = Path(tempfile.mkdtemp(prefix="bascule-conf-", dir=short_folder()))
    model = ScriptedModel()
    begun = time.monotonic()
    fault: str | None = None
    notes: list[str] = []
    async with serve(model) as url:
        live = LiveServer(folder)
        try:
            _settle(live, program, url)
            async with live:
                await _play(live, model, notes)
        except (AssertionError, OSError, TimeoutError) as error:
            fault = f"{type(error).__name__}: {error}"
        finally:
            if keep:
                sys.stdout.write(f"Kept: {folder}\n")
            else:
                shutil.rmtree(folder, ignore_errors=True)
    return program, [Outcome("feedback in a terminal", time.monotonic() - begun, fault, Figures(), notes)]


def _settle(live: LiveServer, program: Program, url: str) -> None:
    """A script that starts Claude as a person's shell would, and its hooks, put in by the owner."""
    surroundings = {
        "HOME": str(live.home),
        "PATH": program.search_path,
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        **QUIET,
        **settle_claude(live.home, url, key_approved=True),
    }
    known = json.loads((live.home / ".claude.json").read_text())
    trusted = {"projects": {str(live.work): {"hasTrustDialogAccepted": True}}}
    (live.home / ".claude.json").write_text(json.dumps({**known, **trusted}))
    words = " ".join(f"{name}={shlex.quote(value)}" for name, value in surroundings.items())
    start = f"exec env -i {words} {shlex.quote(str(program.path))} --permission-mode default\n"
    (live.work / "start.sh").write_text(start)
    subprocess.run(
        [sys.executable, "-m", "bascule", "feedback", "on", "--data", str(live.data)],
        env={"HOME": str(live.home), "PATH": "/usr/bin:/bin", "BASCULE_CONFIG_DIR": str(live.config)},
        stdout=subprocess.DEVNULL,
        check=True,
    )


async def _play(live: LiveServer, model: ScriptedModel, notes: list[str]) -> None:
    shell = await terminal(live, "shell", cols=COLS, rows=ROWS)
    async with viewing(live, shell, after=0) as viewer:
        await viewer.line.resize(COLS, ROWS)
        screen = Looking(viewer)
        await viewer.type("sh start.sh\r")
        await screen.until(lambda text: "manual mode on" in text, "the prompt")
        await _typed(screen, "::slow 30 0.2")
        session = await _found(live, screen, "working")
        await live.send(session, AT_THE_END)
        await screen.until(lambda text: "Message from Bascule, written by" in text, "the message")
        await screen.until(lambda text: "● Heard at the end of the turn." in text, "its answer")
        notes.append("end of a turn: its words and their writer stand in the terminal, and it answers")

        await _found(live, screen, "idle")
        await viewer.type("half a sentence")
        asked = len(model.requests)
        begun = time.monotonic()
        await live.send(session, WHEN_IDLE)
        await screen.until(
            lambda _: any(_holds(one, WHEN_IDLE) for one in list(model.requests)[asked:]), "it"
        )
        seconds = time.monotonic() - begun
        await screen.until(lambda text: "● Message from Bascule" in text, "the line that it came")
        await screen.until(lambda text: "half a sentence" in text, "what was being typed")
        notes.append(f"idle: woken in {seconds:.1f} s; the terminal says that a message came, not its words")

        await _found(live, screen, "idle")
        await viewer.type("\x15")
        await _typed(screen, "::slow 50 0.2")
        await screen.until(lambda text: "piece 2." in text.rpartition("::slow 50")[2], "the answer")
        await viewer.type("\x1b")
        await screen.until(lambda text: "Interrupted" in text, "the stop")
        await live.send(session, AFTER_STOP)
        await screen.until(lambda _: any(_holds(one, AFTER_STOP) for one in model.requests), "the message")
        notes.append("after a stop by Escape: woken as well")

        await _found(live, screen, "idle")
        await _check_log(live, session)
        begun = time.monotonic()
        await viewer.type("\x03")
        await asyncio.sleep(0.3)
        await viewer.type("\x03")
        while (await _sessions(live))[0]["terminal"] is not None:
            assert time.monotonic() - begun < PATIENCE, "Claude did not end"
            await asyncio.sleep(0.2)
        left = await asyncio.to_thread(
            subprocess.run,
            ["pgrep", "-f", f"feedback_hook wait {live.data}"],
            capture_output=True,
            check=False,
        )
        assert left.stdout == b"", f"hooks are left: {left.stdout!r}"
        notes.append("closed: no hook is left")
    await live.http.delete(f"/api/sessions/{shell}")


async def _typed(screen: Looking, text: str) -> None:
    await screen.viewer.type(text)
    await screen.until(lambda shown: text in shown, "what was typed")
    await screen.viewer.type("\r")


async def _sessions(live: LiveServer) -> list[dict[str, Any]]:
    return (await live.http.get("/api/found-sessions", params={"wait": True})).json()["sessions"]


async def _found(live: LiveServer, screen: Looking, status: str) -> str:
    """The session's id, once its agent says that it is in this state and its hook asks for messages."""
    end = time.monotonic() + PATIENCE
    while True:
        for one in await _sessions(live):
            state = one["terminal"]
            if state and state["status"] == status and state.get("listens"):
                return one["sessionId"]
        assert time.monotonic() < end, f"no session is {status}:\n{screen.text}"
        await screen.answer()
        await asyncio.sleep(0.2)


async def _check_log(live: LiveServer, session: str) -> None:
    """Each message once, by its writer, behind what was said before it and before what was answered."""
    await live.wait_for(session, lambda event: isinstance(event, PromptSent) and event.text == AFTER_STOP)
    rows = [one.event for one in await live.log(session)]
    said = [one.text.strip() for one in rows if isinstance(one, PromptSent | TextAppended | TextSaid)]
    for text in (AT_THE_END, WHEN_IDLE, AFTER_STOP):
        assert said.count(text) == 1, said
    place = said.index(AT_THE_END)
    assert said[place - 1].endswith("piece 30."), said
    assert said[place + 1] == "Heard at the end of the turn.", said


def _holds(request: Any, text: str) -> bool:
    return any(text in block.text for message in request.messages[-1:] for block in message.blocks())
