"""The real CLIs, launched as a web page launches them: the scripted model has the prompt byte for byte."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path

from msgspec import Struct
from tests.conformance import answering_terminal
from tests.conformance.candidates import CANDIDATES, Settle, settle_claude
from tests.conformance.every_agent import QUIET, short_folder
from tests.conformance.install import Program, fetch
from tests.conformance.outcome import Figures, Outcome
from tests.launch.desk import Desk
from tests.modelapi.server import ScriptedModel, serve

from bascule.agents.catalogue import Catalogue
from bascule.launch.errors import LaunchError
from bascule.launch.record import LaunchRecord

PATIENCE = 900.0  # a busy machine is no defect
LARGE = 200_000
SAVED = re.compile(r'<pasted_content file="([^"]+)"')  # Copilot's words for a large paste
# Neither holds what the scripted model or an agent would take for a command.
SMALL = "Explain \"this\" & 'that', $(date) and `date`, in one line.\n  - second line, 漢字 👩‍👩‍👧\nThe end."


class Launched(Struct, frozen=True):
    name: str
    agent: str
    package: str
    program: str
    settle: Settle


def _claude(home: Path, url: str) -> dict[str, str]:
    return settle_claude(home, url, key_approved=True)


_SETTLE = {one.name: one.settle for one in CANDIDATES}
LAUNCHED: tuple[Launched, ...] = (
    Launched("claude", "claude-code", "@anthropic-ai/claude-code", "claude", _claude),
    Launched("codex", "codex", "@openai/codex", "codex", _SETTLE["codex"]),
    Launched("gemini", "gemini", "@google/gemini-cli", "gemini", _SETTLE["gemini"]),
    Launched("copilot", "copilot", "@github/copilot", "copilot", _SETTLE["copilot"]),
    Launched("opencode", "opencode", "opencode-ai", "opencode", _SETTLE["opencode"]),
    Launched("qwen", "qwen", "@qwen-code/qwen-code", "qwen", _SETTLE["qwen"]),
)


def large_prompt() -> str:
    """200 KB in lines that are all different, so that none can be lost unseen."""
    text = "Read these lines and say how many there are.\n"
    number = 0
    while len(text.encode()) < LARGE - 50:
        number += 1
        text += f"line {number:05d}: some words, 漢字, and more\n"
    return text + "." * (LARGE - len(text.encode()))


PROMPTS = {"as an argument": SMALL, "200 KB": large_prompt()}


async def run(launched: Launched, only: list[str], keep: bool) -> tuple[Program, list[Outcome]]:
    """`only` may name prompts; else all are launched."""
    program = await asyncio.to_thread(fetch, launched.name, launched.package, launched.program)
    names = [name for name in PROMPTS if any(part in name for part in only)] or list(PROMPTS)
    return program, [await _one(launched, program, name, keep) for name in names]


async def _one(launched: Launched, program: Program, name: str, keep: bool) -> Outcome:
    """One launch in a home of its own."""
    folder = Path(tempfile.mkdtemp(prefix="b-conf-", dir=short_folder()))
    began, fault = time.monotonic(), None
    notes: list[str] = []
    desk = Desk(folder)
    model = ScriptedModel()
    try:
        async with serve(model) as url:
            notes = await _launch(launched, program, desk, model, url, PROMPTS[name])
    except (AssertionError, OSError, TimeoutError) as error:
        shown = desk.home / "screen.txt"
        text = shown.read_text().strip() if shown.exists() else "nothing was shown"
        fault = f"{type(error).__name__}: {error}\n{text}"
    finally:
        desk.close()
        if keep:
            sys.stdout.write(f"Kept: {folder}\n")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return Outcome(f"{launched.name}, {name}", time.monotonic() - began, fault, Figures(), notes)


async def _launch(
    launched: Launched, program: Program, desk: Desk, model: ScriptedModel, url: str, prompt: str
) -> list[str]:
    trust = Catalogue.load("/nonexistent").get(launched.agent).trust
    question = {"text": trust.text, "accept": trust.accept, "marker": trust.marker} if trust else None
    (desk.home / "question.json").write_text(json.dumps(question))
    (desk.home / "tmp").mkdir()
    (desk.home / "project").mkdir()
    terminal = desk.bin / "answering"
    words = shlex.join([sys.executable, answering_terminal.__file__])
    terminal.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    terminal.chmod(0o755)
    (desk.bin / "claude").unlink()  # the scripted one
    environ = {
        "PATH": program.search_path,
        "TMPDIR": str(desk.home / "tmp"),
        "SHELL": "/bin/sh",
        "TERMINAL": str(terminal),
        **QUIET,
        **launched.settle(desk.home, url),
    }
    launches = desk.launches(environ, window_seconds=120)
    try:
        fields = {"agent": launched.agent, "mode": "normal", "workingDirectory": str(desk.home / "project")}
        try:
            record = await launches.launch(desk.request(prompt, **fields))
        except LaunchError as refused:  # known to be lost, and told so
            if refused.error != "prompt_too_large":
                raise AssertionError(refused.message) from None
            return [f"refused: at most {refused.fields['limit']:,} bytes are typed"]
        assert record.error is None, record.error
        where = await _arrived(model, prompt, record)
        how = "one argument" if record.prompt == "argument" else f"typed and {record.prompt}"
        return [f"{how}: {len(prompt.encode()):,} bytes, all of them{where}"]
    finally:
        await launches.close()


async def _arrived(model: ScriptedModel, prompt: str, record: LaunchRecord) -> str:
    """Until a request to the model holds the prompt exactly, and once; else tells what it holds."""
    end, texts = time.monotonic() + PATIENCE, list[str]()
    while time.monotonic() < end:
        texts = [
            block.text for one in model.requests for message in one.messages for block in message.blocks()
        ]
        files = next(filter(None, map(SAVED.findall, texts)), [])
        times = max((text.count(prompt) for text in texts), default=0) or len(files)
        assert times < 2, f"the prompt stands {times} times in what the model was asked"
        if times and not files:
            return ""
        if files:
            assert Path(files[0]).read_text() == prompt, (
                "the file that the model is told of is not the prompt"
            )
            return ", in a file that the model is told of"
        await asyncio.sleep(0.2)
    nearest = max(texts, key=len, default="")
    raise AssertionError(
        f"the prompt ({record.prompt}) did not reach the model; its longest text has {len(nearest):,} "
        f"characters and begins {nearest[:80]!r}"
    )
