"""Scenes of living: start, queue, interrupt, restart, resume and end."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.conformance.talk import Talk, alive, gone, holds

from bascule.model.events import (
    AgentSpawned,
    AnswerDelivered,
    CommandsChanged,
    ModelsChanged,
    Note,
    PermissionRequested,
    PermissionWithdrawn,
    PromptSent,
    SessionEnded,
    SessionFailed,
    SessionReady,
    SessionStarted,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)

# What is set in the server's own environment and must never be seen by an agent.
FORBIDDEN = {
    "BASCULE_PROBE": "ours",
    "CLAUDECODE": "1",
    "PYTHONPATH": "",
    "AWS_SECRET_ACCESS_KEY": "not-real",
}
MARKERS = {"BASCULE_SESSION", "BASCULE_KEEPER"}  # by which the keeper knows its own again


async def ready_before_a_prompt(talk: Talk) -> None:
    """Without a prompt the agent comes up, says who it is and what it offers, and waits."""
    await talk.open()
    ready = await talk.next(SessionReady)
    holds(ready.version, f"no version in {ready}")
    await talk.next(CommandsChanged)
    models = await talk.next(ModelsChanged)
    record = await talk.record()
    holds(record["phase"] == "waiting", f"the phase is {record['phase']}")
    holds(not record.get("title"), f"the title is {record.get('title')!r}")
    holds(len(models.models) > 1, f"only {models.models} to choose from")
    commands = {one.name: one for one in talk.events(CommandsChanged)[-1].commands}
    holds("compact" in commands and commands["compact"].description, f"commands: {sorted(commands)}")
    holds(not talk.requests(), "the model was asked something")
    _check_environment(talk)
    await talk.send("::text   A name for all this.")
    await talk.turn_ends()
    record = await talk.record()
    holds(record["title"] == "::text A name for all this", f"the title is {record['title']!r}")
    holds(record["agent_session_id"], "the agent's own session id is not known")
    names = {one.name for one in talk.events(CommandsChanged)[-1].commands}
    holds(names >= set(commands), "the list of commands shrank with the first turn")
    holds(talk.events(CommandsChanged)[-1].commands[0].description, "the descriptions were lost")


def _check_environment(talk: Talk) -> None:
    """The agent, and whatever its launcher started, hold nothing of the server's own environment."""
    pid = talk.events(AgentSpawned)[-1].pid
    pairs = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    names = {pair.partition("=")[0] for pair in pairs if pair}
    leaked = names & set(FORBIDDEN)
    holds(not leaked, f"the agent's environment holds {sorted(leaked)}")
    ours = {name for name in names if name.startswith("BASCULE")}
    holds(ours == MARKERS, f"the agent's environment holds {sorted(ours)}")


async def slash_command(talk: Talk) -> None:
    """A slash command is carried out by the CLI; its output is shown and the model is not asked."""
    await talk.open("/context")
    await talk.turn_ends()
    notes = [one.text for one in talk.events(Note)]
    shown = "\n".join([*notes, *(str(one.get("text", "")) for one in await talk.entries())])
    holds("oken" in shown, f"nothing of the context was shown: {shown[:300]!r}")
    holds(not talk.requests(), "the model was asked")


async def files_and_diffs(talk: Talk) -> None:
    """A new file and an edit show what they change."""
    await talk.open(
        "::write poem.txt | one\\ntwo\\nthree\\n ;; ::edit poem.txt | two | TWO ;; ::read poem.txt"
    )
    for _ in range(2):
        await talk.answer(await talk.next(PermissionRequested), "allow")
    await talk.turn_ends()
    holds(talk.made("poem.txt").read_text() == "one\nTWO\nthree\n", "the file holds something else")
    written, edited, read = talk.events(ToolChanged)
    holds([one.added for one in written.diffs] == [3], f"the write shows {written.diffs}")
    holds("-two\n+TWO" in edited.diffs[0].patch, f"the edit shows {edited.diffs}")
    holds(read.locations and not read.diffs, f"the read shows {read}")


async def two_prompts_queue(talk: Talk) -> None:
    """Two prompts sent while a turn runs become turns of their own, in order."""
    await talk.open("::slow 30 0.05")
    await talk.text("piece 2.")
    states = [await talk.send("first in the queue"), await talk.send("second in the queue")]
    holds(states == ["queued", "queued"], f"they were {states}")
    holds((await talk.record())["queued"] == 2, "not both wait")
    for _ in range(3):
        await talk.turn_ends()
    order = [type(row.event).__name__ for row in talk.rows if isinstance(row.event, PromptSent | TurnEnded)]
    holds(order == ["PromptSent", "TurnEnded"] * 3, f"prompts and turns came as {order}")
    seen = [one.prompt() for one in talk.requests()]
    holds(seen[-2:] == ["first in the queue", "second in the queue"], f"the model saw {seen}")


async def interrupt_a_command(talk: Talk) -> None:
    """A command that runs is stopped, shown as failed and really gone; what was queued goes on."""
    await talk.open("::bash echo $$ > pid.txt; sleep 300; touch late.txt")
    await talk.answer(await talk.next(PermissionRequested), "allow")
    await talk.next(AnswerDelivered)
    pid = await _number_in(talk, "pid.txt")
    await talk.command("session:interrupt")
    await talk.turn_ends("interrupted")
    status = [one.status for one in talk.events(ToolChanged)]
    holds(status == ["failed"], f"the command is shown as {status}")
    # The CLI tells the end of the turn as soon as it has sent the signal.
    holds(await gone(pid), f"process {pid} of the command still runs")
    await talk.send("still there?")
    await talk.turn_ends()


async def _number_in(talk: Talk, name: str) -> int:
    """A number the agent's command writes; the file appears when the command runs."""
    path = talk.project / name
    for _ in range(200):
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        await asyncio.sleep(0.05)
    holds(False, f"{name} never appeared")
    return 0


async def interrupt_with_a_request_open(talk: Talk) -> None:
    """The open request is taken back and its tool closed."""
    await talk.open("::bash touch asked.txt")
    asked = await talk.next(PermissionRequested)
    await talk.command("session:interrupt")
    gone = await talk.next(PermissionWithdrawn)
    await talk.turn_ends("interrupted")
    holds((gone.request_id, gone.reason) == (asked.request_id, "interrupted"), f"withdrawn: {gone}")
    closed = [(one.tool_id, one.status) for one in talk.events(ToolChanged)]
    holds(len(closed) == 1 and closed[0][1] in ("denied", "failed"), f"the tool is shown as {closed}")
    late = await talk.live.post(
        f"/api/sessions/{talk.session}/permissions", requestId=asked.request_id, decision="allow"
    )
    holds(late.status_code == 410, f"a late answer got {late.status_code} {late.text}")
    talk.not_made("asked.txt")


async def killed_mid_turn(talk: Talk) -> None:
    """kill -9 of the server while text streams: the turn goes on, and every piece is there once."""
    await talk.open("::slow 100 0.05")
    await talk.text("piece 5.")
    await talk.live.kill()
    await talk.live.start()
    await talk.connect()
    await talk.turn_ends()
    text = "".join(str(one.get("text", "")) for one in await talk.entries() if one["kind"] == "text")
    missing = [n for n in range(1, 101) if text.count(f"piece {n}.") != 1]
    holds(not missing, f"pieces not there exactly once: {missing}")
    holds(len(talk.requests()) == 1, f"the model was asked {len(talk.requests())} times")
    own_id = (await talk.record())["agent_session_id"]
    await talk.command("session:end")
    await talk.next(SessionEnded)
    await talk.command("session:resume")
    started = await talk.next(SessionStarted)
    holds(started.resumed_from == own_id, f"resumed from {started.resumed_from}, not {own_id}")
    await talk.next(SessionReady)
    await talk.send("what did I say before?")
    await talk.turn_ends()
    holds((await talk.record())["agent_session_id"] == own_id, "the resumed agent has another id")
    history = [block.text for one in talk.requests()[-1].messages for block in one.blocks()]
    holds(any("::slow 100 0.05" in one for one in history), "the agent forgot the conversation")


async def killed_with_a_request_open(talk: Talk) -> None:
    """kill -9 while a permission is open: it stays open, and the first thing after the start answers it."""
    await talk.open("::bash touch survived.txt")
    asked = await talk.next(PermissionRequested)
    await talk.live.kill()
    await talk.live.start()
    await talk.connect()
    await talk.answer(asked, "allow")
    await talk.next(AnswerDelivered)
    await talk.turn_ends()
    talk.made("survived.txt")
    holds(len(talk.events(PermissionRequested)) == 1, "it was asked again")


async def killed_before_ready(talk: Talk) -> None:
    """kill -9 right after the start was answered: the agent is taken up, and the prompt reaches it once."""
    await talk.open("::text Once.")
    await talk.live.kill()
    await talk.live.start()
    await talk.connect()
    await talk.turn_ends()
    holds(len(talk.requests()) == 1, f"the model was asked {len(talk.requests())} times")


async def retried_api_error(talk: Talk) -> None:
    """An API error that passes: the retry is shown, the turn ends well."""
    await talk.open("::error 529 1 ;; ::text Better now.")
    await talk.text("Better now.")
    await talk.turn_ends()
    holds([one.code for one in talk.events(Note)] == ["api_retry"], f"notes: {talk.events(Note)}")


async def end_mid_turn(talk: Talk) -> None:
    """Ending while a command runs ends the command too, and nothing of it is left."""
    await talk.open("::bash echo $$ > pid.txt; sleep 300; touch late.txt")
    await talk.answer(await talk.next(PermissionRequested), "allow")
    pid = await _number_in(talk, "pid.txt")
    await talk.command("session:end")
    ended = await talk.next(SessionEnded)
    holds(ended.reason == "closed", f"it ended {ended}")
    holds(not alive(pid), f"process {pid} of the command still runs")
    talk.not_made("late.txt")
    holds(len(talk.events(ToolChanged)) == len(talk.events(ToolStarted)), "a tool is left open")


async def unknown_conversation(talk: Talk) -> None:
    """Resuming what the agent does not know fails in words, and no process is left."""
    await talk.open(resume="00000000-0000-4000-8000-000000000000")
    row = await talk.until(lambda event: isinstance(event, SessionEnded | SessionFailed), "the end")
    shown = str(row.event) + str([str(one) for one in await talk.entries()])
    holds("No conversation found" in shown, f"the reason is not shown: {row.event}")
    pid = talk.events(AgentSpawned)[-1].pid
    holds(not alive(pid), f"process {pid} still runs")
    talk.unprompted_turns = 1


LIVING = {
    "ready before a prompt": ready_before_a_prompt,
    "slash command": slash_command,
    "files and diffs": files_and_diffs,
    "queue of two prompts": two_prompts_queue,
    "interrupt a running command": interrupt_a_command,
    "interrupt, request taken back": interrupt_with_a_request_open,
    "server killed mid-turn, then resume": killed_mid_turn,
    "server killed, request open": killed_with_a_request_open,
    "server killed right after start": killed_before_ready,
    "API error that passes": retried_api_error,
    "end during a command": end_mid_turn,
    "resume of an unknown conversation": unknown_conversation,
}
