"""`bascule doctor --conformance AGENT`: plays an installed agent, with its own model, through scenes."""

import argparse
from collections.abc import Sequence

from bascule.commands import exits
from bascule.commands.console import Console, Keyboard, Style
from bascule.commands.machine import signed_in
from bascule.commands.request_prompt import flat
from bascule.config import load
from bascule.conformance.check import Mark, check
from bascule.conformance.scenes import SCENES, Stage
from bascule.conformance.trial_server import trial
from bascule.link.machine import AgentInfo

_STYLES: dict[Mark, Style] = {"ok": "green", "no": "red", "?": "yellow"}


async def conformance(args: argparse.Namespace) -> int:
    """The command: look, ask, play, and say by the exit code whether all of it holds."""
    terminal = Console()
    settings = load({"data_dir": args.data})
    async with trial(settings) as place:
        found = next((agent for agent in await place.client.agents() if agent.name == args.conformance), None)
        if found is None or not found.available:
            terminal.line(_missing(args.conformance, found), "red")
            return exits.FAILED
        facts = " ".join(one for one in (found.title, found.version, found.path, signed_in(found)) if one)
        terminal.line(flat(facts))
        if not (found.demo or args.yes or await _agreed(terminal, found)):
            terminal.line("Nothing was started.")
            return exits.USAGE
        stage = Stage(place, found.name, args.driver, args.model)
        marks: list[Mark] = [await _play(terminal, stage, name) for name in SCENES]
    terminal.line(_summary(marks))
    return exits.FAILED if "no" in marks else exits.OK


async def _agreed(terminal: Console, agent: AgentInfo) -> bool:
    whose = flat(agent.title or agent.name)
    message = (
        f"This sends seven short messages to the model of {whose}, on your account. "
        "It works in a folder that is removed afterwards."
    )
    terminal.line(message)
    if not terminal.interactive:
        terminal.line("Use --yes where nobody can be asked.")
        return False
    keyboard = Keyboard()
    keyboard.forget_typed_ahead()  # before the question: a quick answer to it counts
    terminal.say("Continue? [y/N] ")
    return (await keyboard.line() or "").strip().lower() in ("y", "yes")


async def _play(terminal: Console, stage: Stage, name: str) -> Mark:
    mark, detail = await check(stage, name)
    word = terminal.style(f"{mark:<4}", _STYLES[mark])
    terminal.line(f"{word}{name}{f': {flat(detail)}' if detail else ''}")
    return mark


def _missing(name: str, found: AgentInfo | None) -> str:
    if found is None:
        return f"There is no agent {name[:80]!r}. `bascule agents` lists them."
    return flat(f"{found.title or name} is not available. {found.problem or ''}".rstrip())


def _summary(marks: Sequence[Mark]) -> str:
    if all(mark == "ok" for mark in marks):
        return "All checks passed."
    if "no" in marks:
        return "Some checks failed: don't rely on this agent for what says no."
    return "No check failed, but the model did not do what it was asked where it says `?`: try again."
