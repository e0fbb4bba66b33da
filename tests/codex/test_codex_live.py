"""Codex's own protocol, driven by the real server with a scripted agent in Codex's place."""

from pathlib import Path

import pytest
from tests.live import LiveServer

from bascule.model.events import PermissionRequested, SessionReady, TextAppended, ToolChanged, TurnEnded

pytestmark = pytest.mark.anyio

FAKE = Path(__file__).parents[1] / "fakes" / "codex_agent.py"
TOML = f"""
name = "scripted-codex"
title = "Scripted"
search = ["{{python}}"]

[[drivers]]
name = "codex"
args = ["{FAKE}"]
"""


async def test_prompts_approvals_and_an_interrupt(short_dir: Path):
    server = LiveServer(short_dir)
    folder = server.config / "agents"
    folder.mkdir(mode=0o700)
    (folder / "codex.toml").write_text(TOML)
    (folder / "codex.toml").chmod(0o600)
    async with server:
        session = await server.create("hello", agent="scripted-codex")
        row = await server.wait_for(session, TurnEnded)
        ready = next(one.event for one in await server.log(session) if isinstance(one.event, SessionReady))
        assert ready == SessionReady("thread-1", "scripted", "9.9.9", "ask")
        for number, (decision, status) in enumerate([("allow", "done"), ("deny", "denied")]):
            await server.send(session, f"run touch {number}")
            row = await server.wait_for(session, PermissionRequested, after=row.seq)
            asked = row.event
            assert isinstance(asked, PermissionRequested)
            reply = await server.post(
                f"/api/sessions/{session}/permissions", requestId=asked.request_id, decision=decision
            )
            assert reply.status_code == 200, reply.text
            row = await server.wait_for(session, TurnEnded, after=row.seq)
            changes = [one.event for one in await server.log(session) if isinstance(one.event, ToolChanged)]
            assert changes[-1].status == status
        for words, waits_for in (("wait", TextAppended), ("run touch 3", PermissionRequested)):
            await server.send(session, words)
            row = await server.wait_for(session, waits_for, after=row.seq)
            await server.post(f"/api/sessions/{session}/interrupt")
            row = await server.wait_for(session, TurnEnded, after=row.seq)
            assert isinstance(row.event, TurnEnded)
            assert row.event.stop_reason == "interrupted"
