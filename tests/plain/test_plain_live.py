"""An agent that only prints, added by a file and driven by the real server."""

from pathlib import Path

import pytest
from tests.live import LiveServer

from bascule.agents.catalogue import Catalogue
from bascule.agents.command import Launch, build_argv, child_environment
from bascule.agents.spec import FoundProgram
from bascule.model.events import PermissionAnswered, PermissionRequested, TextAppended, TurnEnded

pytestmark = pytest.mark.anyio

FAKE = Path(__file__).parents[1] / "fakes" / "plain_agent.py"
TOML = f"""
name = "printing"
title = "Printing"
search = ["{{python}}"]

[[drivers]]
name = "plain"
args = ["-u", "{FAKE}"]
cues = [
    {{ pattern = '\\(Y\\)es/\\(N\\)o \\[Yes\\]: $', kind = "permission" }},
    {{ pattern = '(^|\\n)> $' }},
]
"""


def server_in(folder: Path) -> LiveServer:
    server = LiveServer(folder)
    server.add_agent_file("printing", TOML)
    return server


async def test_text_is_relayed_and_a_question_outlives_the_server(short_dir: Path):
    async with server_in(short_dir) as server:
        session = await server.create("hello", agent="printing")
        row = await server.wait_for(session, TurnEnded)
        await server.send(session, "run ls")
        asked = (await server.wait_for(session, PermissionRequested, after=row.seq)).event
        assert isinstance(asked, PermissionRequested)
        await server.kill()
        await server.start()
        reply = await server.post(
            f"/api/sessions/{session}/permissions", requestId=asked.request_id, decision="allow"
        )
        assert reply.status_code == 200, reply.text
        await server.wait_for(session, TurnEnded, after=row.seq)
        events = [one.event for one in await server.log(session)]
        said = "".join(one.text for one in events if isinstance(one, TextAppended))
        assert said == "Plain agent 1.0\nYou said: hello\nRun shell command? ls\nIt ran.\n"
        assert sum(isinstance(one, PermissionRequested) for one in events) == 1


async def test_in_auto_mode_turns_end_without_a_person_and_every_yes_is_in_the_log(short_dir: Path):
    async with server_in(short_dir) as server:
        session = await server.create("run ls", agent="printing", permissionMode="auto")
        row = await server.wait_for(session, TurnEnded)
        await server.send(session, "run make")
        await server.wait_for(session, TurnEnded, after=row.seq)
        events = [one.event for one in await server.log(session)]
        asked = [one.request_id for one in events if isinstance(one, PermissionRequested)]
        answers = [one for one in events if isinstance(one, PermissionAnswered)]
        assert len(asked) == 2
        assert [(one.request_id, one.by, one.decision) for one in answers] == [
            (one, "policy", "allow") for one in asked
        ]
        said = "".join(one.text for one in events if isinstance(one, TextAppended))
        assert said.count("It ran.") == 2


def test_aider_is_told_to_ask_even_where_its_environment_says_otherwise() -> None:
    """With `--yes` it says no to commands by itself, and nobody learns of it."""
    aider = Catalogue.load("/nonexistent").get("aider")
    argv = build_argv(aider, FoundProgram("/opt/aider"), Launch(driver="plain"))
    assert not [word for word in argv if word.startswith("--yes")]
    given = child_environment(aider, {"AIDER_YES_ALWAYS": "true", "AIDER_YES": "true"})
    assert given["AIDER_YES_ALWAYS"] == "false"
