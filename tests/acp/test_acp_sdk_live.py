"""An agent written with the official SDK, on a real server: one process, several sessions, our services."""

import asyncio
from pathlib import Path

import pytest
from tests.acp.sharing import PATIENT, events_of, pid_of
from tests.acp.test_acp_live import answer, said
from tests.live import FAKES, LiveServer

from bascule.model.events import PermissionRequested, TextAppended, TurnEnded, Unrecognised

pytestmark = pytest.mark.anyio

TOML = """
name = "sdk"
title = "Made with the SDK"
search = ["{{python}}"]
[version]
args = ["-c", "print('1.0.0')"]
[[drivers]]
name = "acp"
args = ["{script}"]
services = ["read", "write", "terminal"]
"""


@pytest.mark.row("A1", "A2")
async def test_an_agent_made_with_the_sdk_serves_several_sessions_and_uses_our_services(
    short_dir: Path,
):
    server = LiveServer(short_dir, env=PATIENT)
    server.add_agent_file("sdk", TOML.format(script=FAKES / "sdk_agent.py"))
    (server.work / "notes.txt").write_text("one note")
    async with server:
        asking = await server.create("edit it", agent="sdk")
        asked = (await server.wait_for(asking, PermissionRequested)).event
        waiting = await server.create("wait", agent="sdk")
        await server.wait_for(waiting, TextAppended)
        reading = await server.create(f"read {server.work}/notes.txt", agent="sdk")
        running = await server.create("run echo hello", agent="sdk", permissionMode="auto")
        await asyncio.gather(*(server.wait_for(one, TurnEnded) for one in (reading, running)))
        assert said(await events_of(server, reading)) == "sdk-3 read one note"
        assert said(await events_of(server, running)) == "sdk-4 ran hello 0"

        assert isinstance(asked, PermissionRequested)
        await answer(server, asking, asked, "allow")
        await server.post(f"/api/sessions/{waiting}/interrupt")
        for session in (asking, waiting):
            await server.wait_for(session, TurnEnded)
        assert said(await events_of(server, asking)) == "chosen: ok"
        sessions = (asking, waiting, reading, running)
        assert len({await pid_of(server, session) for session in sessions}) == 1
        for session in sessions:
            assert not any(isinstance(one, Unrecognised) for one in await events_of(server, session))
