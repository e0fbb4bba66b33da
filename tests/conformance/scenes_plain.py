"""Scenes for an agent that speaks plain text: its questions are relayed, what it prints is what it says."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Generator

from tests.conformance.candidates import Candidate
from tests.conformance.talk import Talk, holds

from bascule.model.events import PermissionAnswered, PermissionRequested, PromptSent, TurnEnded


async def text(talk: Talk, agent: Candidate) -> None:
    """A prompt that came with the start is answered, and so is the next one, of several lines."""
    await talk.open("::text Hello from the scripted model.")
    await talk.text("Hello from the scripted model.")
    await talk.turn_ends()
    await talk.send("::text And a\nsecond time.")
    await talk.text("second time.")
    await talk.turn_ends()
    holds(any("And a\nsecond time." in one.prompt() for one in talk.model.requests), "the lines were joined")


async def allow(talk: Talk, agent: Candidate) -> None:
    """Its question whether to make a file is a request; with a yes the file is made."""
    await talk.open("::write allowed.txt | one line")
    await talk.answer(await talk.next(PermissionRequested), "allow")
    await talk.turn_ends()
    holds("one line" in talk.made("allowed.txt").read_text(), "it holds something else")


async def reject(talk: Talk, agent: Candidate) -> None:
    """With a no it is not made, and the session goes on."""
    await talk.open("::write rejected.txt | one line")
    await talk.answer(await talk.next(PermissionRequested), "deny")
    await talk.turn_ends()
    talk.not_made("rejected.txt")
    await talk.send("::text Still here.")
    await talk.text("Still here.")
    await talk.turn_ends()


async def auto(talk: Talk, agent: Candidate) -> None:
    """In the mode that asks nobody its questions are answered, each in the log, and no flag is needed.

    A command is among them: with `--yes` Aider itself would say no to it.
    """
    await talk.open("::write auto.txt | one line", permissionMode="auto")
    await talk.turn_ends()
    talk.made("auto.txt")
    await talk.send("/chat-mode diff")  # in which it acts upon commands
    await talk.turn_ends()
    await talk.send("::bash touch ran.txt")
    await talk.turn_ends()
    talk.made("ran.txt")
    asked, answers = talk.events(PermissionRequested), talk.events(PermissionAnswered)
    holds(len(asked) >= 2, f"only this was asked: {[one.title for one in asked]}")
    holds([one.request_id for one in answers] == [one.request_id for one in asked], "one is not answered")
    holds(all((one.by, one.decision) == ("policy", "allow") for one in answers), f"answers: {answers}")


SLOWLY = """#!{python}
import os, shutil, subprocess, sys, time
real = subprocess.Popen([shutil.which("aider"), *sys.argv[1:]], stdout=subprocess.PIPE)
while piece := os.read(real.stdout.fileno(), 2):
    os.write(1, piece)
    time.sleep(0.004)
sys.exit(real.wait())
"""


@contextlib.contextmanager
def slowly(talk: Talk) -> Generator[None]:
    """Its output comes two bytes at a time, as on a machine that has other things to do."""
    copier = talk.live.home / ".aider" / "local" / "aider"
    copier.parent.mkdir(parents=True, exist_ok=True)
    copier.write_text(SLOWLY.replace("{python}", sys.executable))
    copier.chmod(0o755)
    try:
        yield
    finally:
        copier.unlink()


async def queued(talk: Talk, agent: Candidate) -> None:
    """A prompt that waits is not typed into a question, and a turn of several lines ends when it ends."""
    with slowly(talk):
        await talk.open("/chat-mode diff")
        await talk.turn_ends()
        ended = len(talk.events(TurnEnded))
        await talk.send("please run\n```bash\ntouch run0.txt\n```\nthanks")
        holds(await talk.send("y") == "queued", "the second prompt did not wait")
        asked = await talk.next(PermissionRequested)
        holds(len(talk.events(TurnEnded)) == ended, "the turn ended before its question")
        holds(json.loads(bytes(asked.input)).get("command") == "touch run0.txt", f"asked: {asked.input}")
        talk.not_made("run0.txt")
        await talk.answer(asked, "deny")
        await talk.turn_ends()
        await talk.text("You said: y")
        await talk.turn_ends()
        talk.not_made("run0.txt")
        said = "".join(str(one.get("text", "")) for one in await talk.entries() if one["kind"] == "text")
        holds("> >" not in said and "bascule" not in said, f"its prompts are shown: {said!r}")


async def commands(talk: Talk, agent: Candidate) -> None:
    """Requests say what is to be run; two commands have two hashes; a yes runs just that."""
    await talk.open("/chat-mode diff")
    await talk.turn_ends()
    hashes: set[str] = set()
    for command, decision in (("touch yes.txt", "allow"), ("rm -rf important", "deny")):
        await talk.send(f"please run\n```bash\n{command}\n```\nthanks")
        asked = await talk.next(PermissionRequested)
        holds(json.loads(bytes(asked.input)).get("command") == command, f"asked: {asked.input}")
        holds((asked.kind, asked.title) == ("execute", command), f"asked: {asked}")
        hashes.add(asked.input_sha256)
        await talk.answer(asked, decision)
        await talk.turn_ends()
    holds(len(hashes) == 2, "two commands share a hash")
    talk.made("yes.txt")


async def failing(talk: Talk, agent: Candidate) -> None:
    """A model that answers with an error makes a failed turn, and the session goes on."""
    await talk.open("::error 401")
    ended = await talk.turn_ends("error")
    holds("401" in (ended.message or "") or "Auth" in (ended.message or ""), f"it says {ended.message}")
    await talk.send("::text Still here.")
    await talk.text("Still here.")
    await talk.turn_ends()


async def killed(talk: Talk, agent: Candidate) -> None:
    """The server is killed while an answer streams, and started again: nothing is lost or told twice."""
    await talk.open("::slow 60 0.05")
    await talk.text("piece 3.")
    await talk.live.kill()
    await talk.live.start()
    await talk.connect()
    await talk.turn_ends()
    shown = "".join(str(one.get("text", "")) for one in await talk.entries() if one["kind"] == "text")
    for number in range(1, 61):
        holds(shown.count(f"piece {number}. ") == 1, f"piece {number} is not there once: {shown[-300:]!r}")
    holds(len(talk.events(PromptSent)) == 1, "the prompt was sent again")


PLAIN = {
    "text": text,
    "tool, allowed": allow,
    "tool, rejected": reject,
    "mode that asks nobody": auto,
    "queued prompt, slow output": queued,
    "commands in requests": commands,
    "model fails": failing,
    "server killed mid-answer": killed,
}
