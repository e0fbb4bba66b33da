"""The end of an ACP agent's process, and of a turn that it answers with an error."""

import time
from pathlib import Path

import pytest
from tests.acp.sharing import PATIENT, add_agent, gone, pid_of, pushes
from tests.acp.test_acp_live import FAKE
from tests.live import LiveServer

from bascule.model.events import SessionEnded, TurnEnded

pytestmark = pytest.mark.anyio

STUBBORN = FAKE.with_name("stubborn_acp_agent.py")
GRACE_SECONDS = 5.0


@pytest.mark.row("A3")
async def test_the_last_session_out_closes_stdin_then_comes_term_then_kill(short_dir: Path):
    server = LiveServer(short_dir, env=PATIENT)
    add_agent(server)
    notes = server.folder / "notes"
    file = server.config / "agents" / "scripted.toml"
    own = f'"{FAKE}", "--store"'
    assert own in file.read_text()
    file.write_text(file.read_text().replace(own, f'"{STUBBORN}", "{notes}", "--store"'))
    async with server:
        session = await server.create("hello", agent="scripted")
        await server.wait_for(session, TurnEnded)
        pid = await pid_of(server, session)
        began = time.monotonic()
        await server.http.delete(f"/api/sessions/{session}")
        ended = (await server.wait_for(session, SessionEnded)).event
        await gone(pid)
    assert isinstance(ended, SessionEnded)
    assert (ended.reason, ended.signal) == ("closed", 9)
    assert notes.read_text().split() == ["eof", "term"]
    # It had its five seconds; no machine is so slow that it makes them shorter.
    assert time.monotonic() - began >= GRACE_SECONDS


async def test_an_error_for_an_answer_to_a_prompt_is_pushed_as_a_protocol_error(short_dir: Path):
    server = LiveServer(short_dir, env=PATIENT)
    add_agent(server)
    async with server, pushes(server) as page:
        session = await server.create("fail", agent="scripted")
        await page.until(lambda one: one.get("type") == "error")
        problem = next(one for one in page.heard if one.get("type") == "error")
        assert (problem["sessionId"], problem["error"]["code"]) == (session, "AGENT_PROTOCOL_ERROR")
        assert problem["error"]["message"]
        turn = (await server.wait_for(session, TurnEnded)).event
        assert isinstance(turn, TurnEnded)
        assert turn.stop_reason == "error"
