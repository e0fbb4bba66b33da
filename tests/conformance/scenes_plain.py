"""Scenes for an agent that speaks plain text: its questions are relayed, what it prints is what it says."""

from __future__ import annotations

from tests.conformance.candidates import Candidate
from tests.conformance.talk import Talk, holds

from bascule.model.events import PermissionAnswered, PermissionRequested, PromptSent


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
    "server killed mid-answer": killed,
}
