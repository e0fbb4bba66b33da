"""Aider's way of talking, by a program that prints what it prints, driven by the real server.

Its file is the shipped one; only the program is another.
"""

import json
import sys
from pathlib import Path

import pytest
from tests.live import LiveServer

from bascule.model.events import PermissionAnswered, PermissionRequested, PromptSent, TextAppended, TurnEnded

pytestmark = pytest.mark.anyio

FAKE = Path(__file__).parents[1] / "fakes" / "aider_like.py"
ASKS_TO_RUN = "please run\n```bash\ntouch run0.txt\n```\nthanks"


def server_in(folder: Path, *, slow: bool = False) -> LiveServer:
    server = LiveServer(folder)
    programs = folder / "bin"
    programs.mkdir()
    aider = programs / "aider"
    aider.write_text(f"#!/bin/sh\nexec {sys.executable} -u {FAKE} {'--slow' if slow else ''}\n")
    aider.chmod(0o755)
    server.env["PATH"] = f"{programs}:/usr/bin:/bin"
    return server


@pytest.mark.row("B2", "R22")
@pytest.mark.parametrize("queued", ["y", "tidy up the docs"])
async def test_a_queued_prompt_is_never_typed_into_a_question(short_dir: Path, queued: str) -> None:
    """Its output comes in pieces of two bytes, so each `> ` of a long message is once all that is there."""
    async with server_in(short_dir, slow=True) as server:
        session = await server.create(ASKS_TO_RUN, agent="aider")
        await server.send(session, queued)
        asked = (await server.wait_for(session, PermissionRequested)).event
        assert isinstance(asked, PermissionRequested)
        events = [one.event for one in await server.log(session)]
        assert not [one for one in events if isinstance(one, TurnEnded)]
        assert [one.text for one in events if isinstance(one, PromptSent)] == [ASKS_TO_RUN]
        assert not (server.work / "run0.txt").exists()
        reply = await server.post(
            f"/api/sessions/{session}/permissions", requestId=asked.request_id, decision="deny"
        )
        assert reply.status_code == 200, reply.text
        ended = await server.wait_for(session, TurnEnded)
        await server.wait_for(session, TurnEnded, after=ended.seq)
        events = [one.event for one in await server.log(session)]
        assert [one.text for one in events if isinstance(one, PromptSent)] == [ASKS_TO_RUN, queued]
        said = "".join(one.text for one in events if isinstance(one, TextAppended))
        assert f"You said: {queued}" in said
        assert "> >" not in said
        assert [one.decision for one in events if isinstance(one, PermissionAnswered)] == ["deny"]
        assert not (server.work / "run0.txt").exists()


@pytest.mark.row("B3")
async def test_a_request_names_the_command_and_no_two_share_a_hash(short_dir: Path) -> None:
    async with server_in(short_dir) as server:
        session = await server.create("/ready", agent="aider")
        row = await server.wait_for(session, TurnEnded)
        hashes: set[str] = set()
        for command in ("touch yes.txt", "rm -rf important"):
            await server.send(session, f"please run\n```bash\n{command}\n```\nthanks")
            asked = (await server.wait_for(session, PermissionRequested, after=row.seq)).event
            assert isinstance(asked, PermissionRequested)
            assert json.loads(bytes(asked.input))["command"] == command
            assert (asked.kind, asked.title) == ("execute", command)
            (listed,) = (await server.http.get("/api/requests")).json()["requests"]
            assert listed["asked"]["input"]["command"] == command
            hashes.add(asked.input_sha256)
            answered = await server.post(
                f"/api/sessions/{session}/permissions", requestId=asked.request_id, decision="allow"
            )
            assert answered.status_code == 200, answered.text
            row = await server.wait_for(session, TurnEnded, after=row.seq)
        assert len(hashes) == 2
        assert (server.work / "yes.txt").exists()


async def test_a_question_outlives_the_server_and_the_probes_too(short_dir: Path) -> None:
    """The server is killed while it is asked; nothing is typed twice, and nothing into another question."""
    async with server_in(short_dir) as server:
        session = await server.create(ASKS_TO_RUN, agent="aider")
        await server.send(session, "y")
        asked = (await server.wait_for(session, PermissionRequested)).event
        assert isinstance(asked, PermissionRequested)
        await server.kill()
        await server.start()
        reply = await server.post(
            f"/api/sessions/{session}/permissions", requestId=asked.request_id, decision="allow"
        )
        assert reply.status_code == 200, reply.text
        ended = await server.wait_for(session, TurnEnded)
        assert (server.work / "run0.txt").exists()
        await server.wait_for(session, TurnEnded, after=ended.seq)
        events = [one.event for one in await server.log(session)]
        assert len([one for one in events if isinstance(one, PermissionRequested)]) == 1
        said = "".join(one.text for one in events if isinstance(one, TextAppended))
        assert said.count("You said: y\n") == 1
        assert "bascule-ready" not in said


async def test_a_model_that_fails_makes_a_failed_turn(short_dir: Path) -> None:
    async with server_in(short_dir) as server:
        session = await server.create("fail please", agent="aider")
        ended = (await server.wait_for(session, TurnEnded)).event
        assert isinstance(ended, TurnEnded)
        assert ended.stop_reason == "error"
        assert "AuthenticationError" in (ended.message or "")


@pytest.mark.row("B10")
async def test_a_reason_given_with_a_no_is_the_next_message(short_dir: Path) -> None:
    async with server_in(short_dir) as server:
        session = await server.create(ASKS_TO_RUN, agent="aider")
        asked = (await server.wait_for(session, PermissionRequested)).event
        assert isinstance(asked, PermissionRequested)
        assert asked.reason_follows
        answered = await server.post(
            f"/api/sessions/{session}/permissions",
            requestId=asked.request_id,
            decision="deny",
            message="Not here.",
        )
        assert answered.status_code == 200, answered.text
        row = await server.wait_for(session, TurnEnded)
        await server.wait_for(session, TurnEnded, after=row.seq)
        sent = [one.event for one in await server.log(session) if isinstance(one.event, PromptSent)]
        assert sent[1].text == "I denied “touch run0.txt”: Not here."
