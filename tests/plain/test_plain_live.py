"""An agent that only prints, added by a file and driven by the real server."""

from pathlib import Path

import pytest
from tests.live import LiveServer

from bascule.model.events import PermissionRequested, TextAppended, TurnEnded

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


async def test_text_is_relayed_and_a_question_outlives_the_server(short_dir: Path):
    server = LiveServer(short_dir)
    folder = server.config / "agents"
    folder.mkdir(mode=0o700)
    (folder / "printing.toml").write_text(TOML)
    (folder / "printing.toml").chmod(0o600)
    async with server:
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
