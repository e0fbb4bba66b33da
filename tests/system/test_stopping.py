"""Stopping and coming back: signals, commands sent twice, and requests that wait through all of it."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.hub.running_hub import until
from tests.live import LiveServer
from tests.system.sse import stream
from tests.waiting import PATIENCE, within
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from bascule.model.events import (
    AgentSpawned,
    AnswerDelivered,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    SessionEnded,
    SessionEnding,
    SessionStarted,
    TextAppended,
    ToolChanged,
    TurnEnded,
)

pytestmark = pytest.mark.anyio

Make = Callable[..., LiveServer]


@pytest.mark.row("REL-35", "X1")
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_the_server_politely_and_agents_live_on(make_server: Make, sign: signal.Signals):
    server = make_server()
    await server.start()
    session = await server.create("count 100000 20")
    await server.wait_for(session, TextAppended)
    pid = next(row.event.pid for row in await server.log(session) if isinstance(row.event, AgentSpawned))
    last_words: list[str] = []

    async def watch_stream() -> None:
        async with contextlib.aclosing(stream(server, session)) as events:
            async for event in events:
                last_words.append(event.name)

    watching = asyncio.create_task(watch_stream())
    url = server.url.replace("http", "ws", 1) + "/ws"
    headers = {"authorization": f"Bearer {server.token}"}
    async with connect(url, additional_headers=headers, proxy=None, open_timeout=PATIENCE) as socket:
        async with asyncio.timeout(PATIENCE):
            while "assistant_text" not in last_words:
                await socket.send('{"id":1,"type":"ping"}')
                await socket.recv()
        with within(10):
            assert await server.stop(sign) == 0
        with contextlib.suppress(ConnectionClosed):
            while await socket.recv():
                pass
        assert socket.close_code == 1012
    await asyncio.wait_for(watching, PATIENCE)
    assert last_words[-1] == "shutdown"
    os.kill(pid, 0)  # it is there
    assert not (server.data / "server.json").exists()
    assert "Traceback" not in server.stderr()

    await server.start()
    await server.post(f"/api/sessions/{session}/interrupt")
    await server.wait_for(session, TurnEnded)
    spawned = [row for row in await server.log(session) if isinstance(row.event, AgentSpawned)]
    assert len(spawned) == 1


@pytest.mark.row("REL-35")
async def test_a_second_signal_ends_it_at_once(make_server: Make):
    server = make_server()
    await server.start()
    session = await server.create("count 5 1")
    await server.wait_for(session, TurnEnded)
    # A reader that stopped reading makes the first, polite end take a moment.
    _, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rsplit(":", 1)[1]))
    body = b"POST /api/sessions HTTP/1.1\r\nHost: " + server.url.split("//")[1].encode() + b"\r\n"
    body += f"Authorization: Bearer {server.token}\r\n".encode()
    writer.write(body + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
    await writer.drain()
    assert (await server.http.get("/health")).status_code == 200
    front = server.front
    assert front.process is not None
    front.process.send_signal(signal.SIGTERM)
    await until(lambda: "stopping" in front.stderr())
    with within(3):
        front.process.send_signal(signal.SIGTERM)
        code = await asyncio.wait_for(front.process.wait(), PATIENCE)
    assert code == 130
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    await server.start()  # and nothing is broken by it
    assert (await server.http.get(f"/api/sessions/{session}")).json()["phase"] == "waiting"


@pytest.mark.row("REL-28")
async def test_a_prompt_sent_again_after_a_kill_is_one_turn(make_server: Make):
    server = make_server()
    await server.start()
    session = await server.create()
    key = {"idempotency-key": "once"}
    path = f"/api/sessions/{session}/send"
    first = await server.http.post(path, json={"text": "count 3 1"}, headers=key)
    await server.kill()
    await server.start()
    again = await server.http.post(path, json={"text": "count 3 1"}, headers=key)
    assert again.status_code == 200
    assert again.json() == first.json()
    await server.wait_for(session, TurnEnded)
    other = await server.http.post(path, json={"text": "count 4 1"}, headers=key)
    assert other.status_code == 409
    assert other.json()["error"]["code"] == "KEY_REUSED"
    rows = await server.log(session)
    assert sum(isinstance(row.event, PromptSent) for row in rows) == 1


@pytest.mark.row("REL-29", "R8")
async def test_five_clicks_at_once_are_one_start_one_answer_one_end(make_server: Make):
    server = make_server()
    await server.start()
    body = {"agent": "demo", "cwd": str(server.work), "prompt": "run"}
    clicks = [
        server.http.post("/api/sessions", json=body, headers={"idempotency-key": "start"}) for _ in range(5)
    ]
    answers = await asyncio.gather(*clicks)
    assert [one.status_code for one in answers] == [200] * 5
    assert len({one.json()["id"] for one in answers}) == 1
    session = answers[0].json()["id"]
    assert len((await server.http.get("/api/sessions")).json()["sessions"]) == 1
    asked = (await server.wait_for(session, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    path, answer = f"/api/sessions/{session}/permissions", {"requestId": asked.request_id}
    allows = [server.http.post(path, json={**answer, "decision": "allow"}) for _ in range(5)]
    # The same answer of the same grant is a repetition, not a second answer: the log below has one.
    assert [one.status_code for one in await asyncio.gather(*allows)] == [200] * 5
    await server.wait_for(session, TurnEnded)
    ends = [server.http.delete(f"/api/sessions/{session}") for _ in range(5)]
    assert {one.status_code for one in await asyncio.gather(*ends)} <= {200, 409}
    await server.wait_for(session, SessionEnding)
    events = [row.event for row in await server.log(session)]
    assert sum(isinstance(one, SessionStarted) for one in events) == 1
    assert sum(isinstance(one, PermissionAnswered) for one in events) == 1
    assert sum(isinstance(one, SessionEnding) for one in events) == 1


@pytest.mark.row("X2", "REL-30")
async def test_a_request_waits_through_a_kill_and_is_then_allowed_once(make_server: Make):
    server = make_server(env={"DEMO_LEDGER": "ledger"})
    ledger = server.folder / "ledger"
    server.env["DEMO_LEDGER"] = str(ledger)
    await server.start()
    session = await server.create("run")
    asked = (await server.wait_for(session, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    await server.kill()
    assert '"executed"' not in ledger.read_text()
    await server.start()
    (waiting,) = (await server.http.get("/api/requests")).json()["requests"]
    assert waiting["request_id"] == asked.request_id
    assert waiting["input_sha256"] == asked.input_sha256
    body = {"requestId": asked.request_id, "decision": "allow", "inputSha256": asked.input_sha256}
    assert (await server.http.post(f"/api/sessions/{session}/permissions", json=body)).status_code == 200
    await server.wait_for(session, lambda e: isinstance(e, ToolChanged) and e.status == "done")
    again = await server.http.post(f"/api/sessions/{session}/permissions", json=body)
    assert again.status_code == 200  # a repetition, which changes nothing
    late = await server.http.post(f"/api/sessions/{session}/permissions", json={**body, "decision": "deny"})
    assert late.status_code == 409
    assert late.json()["error"]["by"] == "owner"
    rows = [row.event for row in await server.log(session)]
    assert sum(isinstance(one, AnswerDelivered) for one in rows) == 1
    assert ledger.read_text().count('"executed"') == 1


@pytest.mark.row("REL-30", "S47")
async def test_a_request_nobody_answers_is_denied_once_even_after_a_restart(make_server: Make):
    config = "[limits]\nsessions = 0\npermission_seconds = 2\n"
    server = make_server(config=config)
    ledger = server.folder / "ledger"
    server.env["DEMO_LEDGER"] = str(ledger)
    await server.start()
    session = await server.create("run")
    asked = (await server.wait_for(session, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    await server.kill()
    await server.start()
    answered = (await server.wait_for(session, PermissionAnswered)).event
    assert isinstance(answered, PermissionAnswered)
    assert (answered.decision, answered.by) == ("deny", "timeout")
    await server.wait_for(session, TurnEnded)
    body = {"requestId": asked.request_id, "decision": "allow"}
    late = await server.http.post(f"/api/sessions/{session}/permissions", json=body)
    assert late.status_code == 409
    assert late.json()["error"]["by"] == "timeout"
    text = ledger.read_text()
    assert '"executed"' not in text
    assert text.count("control_response") == 1


@pytest.mark.row("S46")
async def test_a_request_of_a_dead_process_cannot_be_answered_after_the_keeper_died(make_server: Make):
    server = make_server()
    ledger = server.folder / "ledger"
    server.env["DEMO_LEDGER"] = str(ledger)
    await server.start()
    session = await server.create("run")
    asked = (await server.wait_for(session, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    keeper = server.keeper_pid()
    assert keeper is not None
    os.kill(keeper, signal.SIGKILL)
    await server.wait_for(session, lambda e: getattr(e, "reason", "") == "lost")
    body = {"requestId": asked.request_id, "decision": "allow"}
    late = await server.http.post(f"/api/sessions/{session}/permissions", json=body)
    assert late.status_code == 410
    assert (await server.http.get("/api/requests")).json()["requests"] == []
    assert '"executed"' not in ledger.read_text()
    assert (await server.post(f"/api/sessions/{session}/resume")).status_code == 200
    again = await server.http.post(f"/api/sessions/{session}/permissions", json=body)
    assert again.status_code == 410
    assert Path(ledger).read_text().count('"executed"') == 0


@pytest.mark.row("C6")
async def test_an_ended_session_can_be_resumed_the_moment_its_end_is_seen(make_server: Make):
    server = make_server()
    await server.start()
    session = await server.create("count 1 1")
    seen = (await server.wait_for(session, TurnEnded)).seq
    for _ in range(5):
        await server.http.delete(f"/api/sessions/{session}")
        await server.wait_for(session, SessionEnded, seen)
        resumed = await server.post(f"/api/sessions/{session}/resume")
        assert resumed.status_code == 200, resumed.text
        await server.send(session, "count 1 1")
        seen = (await server.wait_for(session, TurnEnded, seen)).seq
