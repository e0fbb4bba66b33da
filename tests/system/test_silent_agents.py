"""Agents that never speak their protocol, or fall silent in a turn: told in words, in bounded time."""

import json
import sys
from pathlib import Path

import pytest
from tests.acp.test_acp_live import add_agent
from tests.cli.program import bascule
from tests.live import FAKES, LIMITS, LiveServer

from bascule.model.events import Note, SessionEnded, SessionFailed, TurnEnded, Unrecognised

pytestmark = pytest.mark.anyio

# Long enough for a program to be started on a busy machine and to say its first words.
SHORT = f"{LIMITS}start_seconds = 8\n"
QUIET = f"{LIMITS}quiet_seconds = 1\n"
SILENT = "import time\nprint('garbage', flush=True)\ntime.sleep(600)\n"
FLOOD = "import itertools\nfor n in itertools.count():\n    print(f'garbage {n}', flush=True)\n"
# Answers the first words, then takes its time over a prompt.
SLOW_CLAUDE = """
import json, sys, time
COMMANDS = {"commands": [{"name": "compact"}]}
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "control_request":
        answer = {"subtype": "success", "request_id": said["request_id"], "response": COMMANDS}
        print(json.dumps({"type": "control_response", "response": answer}), flush=True)
    else:
        time.sleep(2.5)
        print(json.dumps({"type": "result", "is_error": False, "stop_reason": "end_turn"}), flush=True)
"""


def server_with(folder: Path, program: str, name: str, config: str) -> LiveServer:
    """A server whose `claude` or `codex` is this Python program."""
    server = LiveServer(folder, config=config)
    programs = folder / "bin"
    programs.mkdir()
    (programs / "program.py").write_text(program)
    (programs / name).write_text(f"#!/bin/sh\nexec {sys.executable} -E -S {programs}/program.py\n")
    (programs / name).chmod(0o755)
    server.env["PATH"] = f"{programs}:/usr/bin:/bin"
    return server


@pytest.mark.row("B7")
@pytest.mark.parametrize(("agent", "program"), [("claude-code", "claude"), ("codex", "codex")])
@pytest.mark.parametrize("script", [SILENT, FLOOD], ids=["silent", "flood"])
async def test_a_native_agent_that_never_speaks_its_protocol_fails_in_words(
    short_dir: Path, agent: str, program: str, script: str
) -> None:
    async with server_with(short_dir, script, program, SHORT) as server:
        session = await server.create("hello", agent=agent)
        failed = (await server.wait_for(session, SessionFailed)).event
        assert isinstance(failed, SessionFailed)
        assert failed.reason == "no_protocol"
        assert "did not speak its protocol within 8 s" in failed.message
        events = [one.event for one in await server.log(session)]
        kept = [one for one in events if isinstance(one, Unrecognised)]
        assert 1 <= len(kept) <= 30, "what is kept of garbage is bounded"
        if script is FLOOD:
            notes = [one for one in events if isinstance(one, Note)]
            assert "unrecognised_left_out" in {one.code for one in notes}, "the rest is counted"


@pytest.mark.row("B10")
async def test_a_long_silence_in_a_turn_is_told_once(short_dir: Path) -> None:
    async with server_with(short_dir, SLOW_CLAUDE, "claude", QUIET) as server:
        session = await server.create("hello", agent="claude-code")
        await server.wait_for(session, TurnEnded)
        events = [one.event for one in await server.log(session)]
        told = [one for one in events if isinstance(one, Note) and one.code == "no_answer"]
        assert [one.text for one in told] == [
            "No answer from the agent for 1 s. It may be waiting for its model."
        ]


@pytest.mark.row("B10")
async def test_an_adapter_whose_model_refuses_its_key_is_said_to_be_silent_and_its_turn_fails(
    short_dir: Path,
) -> None:
    """Claude's adapter reports no retries: for minutes there is nothing, then an error."""
    server = LiveServer(short_dir, config=QUIET)
    add_agent(server)
    async with server:
        session = await server.create("hello", agent="scripted")
        first = await server.wait_for(session, TurnEnded)
        await server.send(session, "unauthorised 2.5")
        ended = (await server.wait_for(session, TurnEnded, first.seq)).event
        assert isinstance(ended, TurnEnded)
        assert ended.stop_reason == "error"
        assert ended.message == "Internal error: Invalid API key · Fix external API key"
        # Of this turn alone: a busy machine can be silent in the first one, too.
        notes = [one.event for one in await server.log(session, first.seq) if isinstance(one.event, Note)]
        assert [one.code for one in notes] == ["no_answer"]


@pytest.mark.row("B10")
async def test_an_adapter_that_ends_its_turn_without_a_word_has_failed(short_dir: Path) -> None:
    server = LiveServer(short_dir)
    add_agent(server)
    async with server:
        session = await server.create("mute", agent="scripted")
        ended = (await server.wait_for(session, TurnEnded)).event
        assert isinstance(ended, TurnEnded)
        assert ended.stop_reason == "error"
        assert "ended this turn without a word" in (ended.message or "")
        run = ("run", "--agent", "scripted", "--cwd", str(server.work), "mute")
        done = await bascule(server.data, *run, "--data", str(server.data))
        assert done.code != 0, done.out
        assert "ended this turn without a word" in done.out + done.err


@pytest.mark.row("F11")
async def test_an_agent_that_takes_no_model_is_resumed_though_it_named_one(short_dir: Path) -> None:
    server = LiveServer(short_dir)
    args = ["-E", "-S", str(FAKES / "well_behaved.py")]
    server.add_agent_file(
        "mine",
        f'name = "mine"\ntitle = "Mine"\nsearch = ["{sys.executable}"]\n'
        f'[[drivers]]\nname = "stream_json"\nargs = {json.dumps(args)}\nresume = ["--resume={{value}}"]\n',
    )
    async with server:
        session = await server.create("hello", agent="mine")
        await server.wait_for(session, TurnEnded)
        assert (await server.http.get(f"/api/sessions/{session}")).json()["model"] == "fake"
        await server.http.delete(f"/api/sessions/{session}")
        await server.wait_for(session, SessionEnded)
        resumed = await server.post(f"/api/sessions/{session}/resume")
        assert resumed.status_code == 200, resumed.text
