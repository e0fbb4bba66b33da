"""Codex's own protocol, driven by the real server with a scripted agent in Codex's place."""

import asyncio
from pathlib import Path

import pytest
from tests.acp.sharing import pushes
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


def server_in(folder: Path) -> LiveServer:
    server = LiveServer(folder)
    server.add_agent_file("codex", TOML)
    return server


async def test_prompts_approvals_and_an_interrupt(short_dir: Path):
    async with server_in(short_dir) as server:
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


async def test_the_threads_it_knows_are_listed_page_by_page_and_can_be_taken_up(short_dir: Path):
    async with server_in(short_dir) as server, pushes(server) as page:
        early = await page.ask("agents:conversations", agent="scripted-codex")
        assert early["error"]["code"] == "NOT_SUPPORTED"
        session = await server.create("hello", agent="scripted-codex")
        await server.wait_for(session, TurnEnded)
        both = await asyncio.gather(
            *(page.ask("agents:conversations", agent="scripted-codex") for _ in range(2))
        )
        orphan = {
            "id": "thread-0",
            "title": "an orphan",
            "cwd": str(server.work),
            "updatedAt": "2026-11-16T08:49:01.000Z",
        }
        own = {"id": "thread-1", "title": "this one", "session": session}
        for known in both:
            assert known["ok"] == {"conversations": [orphan, own], "more": False}
        other = await server.create(agent="scripted-codex", resume="thread-0")
        await server.wait_for(other, SessionReady)
        # Listing leaves no trace in the conversation it was asked in.
        kinds = [type(row.event).__name__ for row in await server.log(session)]
        assert kinds[-1] == "TurnEnded"


async def test_a_list_that_the_agent_refuses_is_refused_in_its_words(short_dir: Path):
    async with server_in(short_dir) as server, pushes(server) as page:
        (server.work / "unlisted").mkdir()
        session = await server.create(agent="scripted-codex", cwd=str(server.work / "unlisted"))
        await server.wait_for(session, SessionReady)
        refused = await page.ask("agents:conversations", agent="scripted-codex")
        assert refused["error"]["code"] == "AGENT_FAILED"
        assert "no list today" in refused["error"]["message"]
