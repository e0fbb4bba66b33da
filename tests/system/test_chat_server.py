"""The chat API as its specification writes it, on a real server with the demo agent behind it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.live import LiveServer
from tests.parts import Part
from tests.system.sse import Event, stream, until
from tests.waiting import PATIENCE

from bascule.model.events import PermissionRequested, SessionEnded, SessionReady, TurnEnded

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    made = LiveServer(module_dir, env={"DEMO_LEDGER": str(module_dir / "ledger")})
    made.add_agent("garbage", "garbage.py")
    made.add_agent("asks-many", "asks_many.py", "3", str(module_dir / "asked"))
    async with made:
        yield made


def heard_by_demo(server: LiveServer, session_words: str) -> list[dict[str, object]]:
    """Lines the demo got on its stdin that hold these words."""
    lines = [json.loads(line) for line in (server.folder / "ledger").read_text().splitlines()]
    return [json.loads(one["stdin"]) for one in lines if session_words in one.get("stdin", "")]


def bare(server: LiveServer) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=PATIENCE)


@pytest.mark.row("C1", "C2")
async def test_a_whole_conversation_by_the_seven_endpoints(server: LiveServer, part: Part):
    made = await server.post("/api/sessions", agent="demo", cwd=str(server.work), model="some-model")
    assert made.status_code == 200
    session = made.json()
    with part("create answers as specified"):
        assert {"id", "token", "model", "createdAt"} <= set(session)
        assert session["model"] == "some-model"
    path, token = f"/api/sessions/{session['id']}", session["token"]

    with part("list has the session without its token"):
        listed = (await server.http.get("/api/sessions")).json()["sessions"]
        mine = next(one for one in listed if one["id"] == session["id"])
        assert mine["status"] in ("starting", "running")
        assert mine["createdAt"] == session["createdAt"]
        assert "token" not in mine

    async with bare(server) as client:  # from here on only the session's own token
        sent = await client.post(
            f"{path}/send", json={"text": "run", "clientMessageId": "m-1", "token": token}
        )
        assert sent.json()["ok"] is True
        events = await until(server, session["id"], "permission_request", token=token)
        asked = events[-1].data
        with part("the stream has the message and the request"):
            assert {"requestId", "toolName", "input", "suggestions", "toolUseId"} <= set(asked)
            assert (asked["toolName"], asked["input"]["command"]) == ("Bash", "echo demo")
            user = next(one.data for one in events if one.name == "user_message")
            assert user == {"text": "run", "clientMessageId": "m-1"}

        bearer = {"authorization": f"Bearer {token}"}
        answer = {"requestId": asked["requestId"], "decision": "allow", "message": ""}
        allowed = await client.post(f"{path}/permissions", json=answer, headers=bearer)
        assert allowed.json() == {"ok": True}
        events = await until(server, session["id"], "turn_ended", token=token)

        with part("an interrupt ends the turn"):
            await client.post(f"{path}/send", params={"token": token}, json={"text": "count 10000 20"})
            await until(server, session["id"], "assistant_text", token=token, last=events[-1].id)
            assert (await client.post(f"{path}/interrupt", params={"token": token})).json() == {"ok": True}
            ended = await server.wait_for(
                session["id"], lambda e: getattr(e, "stop_reason", "") == "interrupted"
            )
            assert isinstance(ended.event, TurnEnded)

        with part("close ends the session"):
            assert (await client.delete(path, headers=bearer)).json() == {"ok": True}
            await server.wait_for(session["id"], SessionEnded)
            assert (await client.get(path, headers=bearer)).json()["status"] == "closed"


@pytest.mark.row("C1")
async def test_the_agent_gets_the_messages_of_the_specification(server: LiveServer):
    session = await server.create("run 4711")
    asked = (await server.wait_for(session, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    answer = {"requestId": asked.request_id, "decision": "deny", "message": "not today"}
    await server.http.post(f"/api/sessions/{session}/permissions", json=answer)
    await server.wait_for(session, TurnEnded)
    (prompt,) = heard_by_demo(server, "run 4711")
    assert prompt["type"] == "user"
    assert prompt["session_id"] == ""
    assert prompt["parent_tool_use_id"] is None
    assert prompt["message"] == {"role": "user", "content": [{"type": "text", "text": "run 4711"}]}
    (told,) = heard_by_demo(server, asked.request_id)
    assert told["type"] == "control_response"
    response = told["response"]
    assert isinstance(response, dict)
    assert (response["subtype"], response["request_id"]) == ("success", asked.request_id)
    assert response["response"]["behavior"] == "deny"
    assert response["response"]["message"] == "not today"


@pytest.mark.row("C1")
async def test_several_requests_are_open_at_once_and_each_gets_its_own_answer(server: LiveServer):
    session = await server.create("go", agent="asks-many")
    await server.wait_for(session, lambda e: getattr(e, "request_id", "") == "req-3")
    waiting = (await server.http.get("/api/requests")).json()["requests"]
    assert [one["request_id"] for one in waiting if one["session_id"] == session] == [
        "req-1",
        "req-2",
        "req-3",
    ]
    for name, decision in (("req-3", "allow"), ("req-1", "deny"), ("req-2", "allow")):
        answer = await server.post(f"/api/sessions/{session}/permissions", requestId=name, decision=decision)
        assert answer.json() == {"ok": True}
    await server.wait_for(session, TurnEnded)
    notes = [json.loads(line) for line in (server.folder / "asked").read_text().splitlines()]
    assert [one["executed"] for one in notes if "executed" in one] == ["req-3", "req-2"]


@pytest.mark.row("C2")
@pytest.mark.parametrize("verb", ["send", "interrupt", "permissions", ""])
async def test_without_a_valid_token_it_is_401_and_for_no_session_404(server: LiveServer, verb: str):
    session = await server.create()
    bodies = {"send": {"text": "x"}, "permissions": {"requestId": "x", "decision": "deny"}}
    method = "POST" if verb else "DELETE"
    async with bare(server) as client:
        for token in ({}, {"token": "x" * 43}):
            for path in (f"/api/sessions/{session}", f"/api/sessions/{session}/stream"):
                assert (await client.get(path, params=token)).status_code == 401
            path = f"/api/sessions/{session}/{verb}".rstrip("/")
            body = {**bodies.get(verb, {}), **token}
            assert (await client.request(method, path, json=body)).status_code == 401
    gone = await server.http.request(
        method, f"/api/sessions/nope/{verb}".rstrip("/"), json=bodies.get(verb, {})
    )
    assert gone.status_code == 404
    unknown = await server.post(f"/api/sessions/{session}/permissions", requestId="nope", decision="deny")
    assert unknown.status_code == 404


@pytest.mark.row("C3")
async def test_the_stream_is_numbered_and_goes_on_after_the_last_number(server: LiveServer):
    session = await server.create("stderr 500 count 30 1")
    ends = ("turn_ended", "claude_stderr")  # two pipes: either may come first
    whole = await until(server, session, *ends)
    names = {one.name for one in whole}
    assert {"session_status", "user_message", "assistant_text"} <= names
    numbered = [one for one in whole if one.id is not None]
    assert [one.id for one in numbered] == list(range(1, len(numbered) + 1))
    assert whole[0].name == "session_status"  # where it stands, said first and without a number
    assert whole[0].id is None
    text = "".join(one.data["text"] for one in whole if one.name == "assistant_text")
    assert "28 29 30" in text
    middle = numbered[len(numbered) // 2].id
    assert middle is not None
    after = numbered[middle:]
    rest = await until(server, session, after[-1].name, last=middle)
    assert [one for one in rest if one.id is not None] == after


@pytest.mark.row("C3")
async def test_broken_json_becomes_error_events_and_the_stream_goes_on(server: LiveServer):
    session = await server.create("go", agent="garbage")
    events = await until(server, session, "turn_ended")
    errors = [one.data for one in events if one.name == "error"]
    assert len(errors) >= 10
    assert all(one["message"] for one in errors)
    assert "this is not JSON" in {one.get("line") for one in errors}
    said = [one.data["text"] for one in events if one.name == "assistant_text"]
    assert said == ["before the garbage", "after the garbage"]
    assert (await server.http.get("/health")).json() == {"status": "ok"}


@pytest.mark.row("C3")
async def test_exit_and_failure_are_pushed_as_session_status(server: LiveServer):
    session = await server.create("crash 5")
    found: list[Event] = []
    async with asyncio.timeout(PATIENCE), contextlib.aclosing(stream(server, session)) as events:
        async for event in events:
            found.append(event)
            if event.id is not None and event.data.get("status") == "exited":
                break
    assert found[-1].data["code"] == 5
    assert {one.data["status"] for one in found if one.name == "session_status"} >= {"running", "exited"}
    over = await server.create("crash 0")  # it left in good order, so it is not started again
    await server.wait_for(over, SessionEnded)
    again = await until(server, over, "session_status")
    assert again[0].data["status"] == "exited"  # who comes later is told at once


@pytest.mark.row("C6")
async def test_a_conversation_is_resumed_and_forked_under_the_agents_own_id(server: LiveServer):
    session = await server.create("count 3 1")
    await server.wait_for(session, SessionReady)
    await server.wait_for(session, TurnEnded)
    view = (await server.http.get(f"/api/sessions/{session}")).json()
    own = view["agent_session_id"]
    assert own
    await server.http.delete(f"/api/sessions/{session}")
    ended = await server.wait_for(session, SessionEnded)

    resumed = await server.post(f"/api/sessions/{session}/resume")
    assert resumed.status_code == 200, resumed.text
    await server.send(session, "count 2 1")
    await server.wait_for(session, TurnEnded, after=ended.seq)
    assert (await server.http.get(f"/api/sessions/{session}")).json()["agent_session_id"] == own

    other = await server.create("count 2 1", resume=own)
    await server.wait_for(other, TurnEnded)
    assert (await server.http.get(f"/api/sessions/{other}")).json()["agent_session_id"] == own
    fork = await server.create("count 2 1", resume=own, fork=True)
    await server.wait_for(fork, TurnEnded)
    assert (await server.http.get(f"/api/sessions/{fork}")).json()["agent_session_id"] not in (own, None)


@pytest.mark.row("C6")
async def test_a_conversation_is_forked_at_an_earlier_turn(server: LiveServer):
    session = await server.create("count 3 1")
    first = await server.wait_for(session, TurnEnded)
    assert isinstance(first.event, TurnEnded)
    await server.send(session, "count 2 1")
    second = await server.wait_for(session, TurnEnded, after=first.seq)
    assert isinstance(second.event, TurnEnded)
    assert first.event.fork_at
    assert first.event.fork_at != second.event.fork_at
    own = (await server.http.get(f"/api/sessions/{session}")).json()["agent_session_id"]
    copied = {"session": session, "seq": first.seq + 1}
    how = {"resume": own, "fork": True, "forkAt": first.event.fork_at, "copiedFrom": copied}
    fork = await server.create("count 4 1", **how)
    await server.wait_for(fork, TurnEnded)
    view = (await server.http.get(f"/api/sessions/{fork}")).json()
    assert view["copied_from"] == copied
    assert view["agent_session_id"] not in (own, None)
    refused = await server.post("/api/sessions", agent="demo", resume=own, forkAt=first.event.fork_at)
    assert refused.status_code == 400, refused.text
    assert "earlier message" in refused.text


@pytest.mark.row("C6")
@pytest.mark.parametrize(
    ("answer", "mode"),
    [({"decision": "allow"}, "default"), ({"decision": "allow", "option": "accept_edits"}, "acceptEdits")],
)
async def test_a_plan_is_approved_and_the_mode_follows(server: LiveServer, answer: dict[str, str], mode: str):
    session = await server.create("plan", mode="plan")
    asked = (await server.wait_for(session, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    assert asked.kind == "plan"
    body = {"requestId": asked.request_id, **answer}
    assert (await server.http.post(f"/api/sessions/{session}/permissions", json=body)).status_code == 200
    await server.wait_for(session, TurnEnded)
    assert (await server.http.get(f"/api/sessions/{session}")).json()["mode"] == mode


@pytest.mark.row("C6")
async def test_a_plan_can_be_sent_back(server: LiveServer):
    session = await server.create("plan")
    asked = (await server.wait_for(session, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    body = {"requestId": asked.request_id, "decision": "deny", "message": "smaller steps"}
    await server.http.post(f"/api/sessions/{session}/permissions", json=body)
    await server.wait_for(session, TurnEnded)
    assert (await server.http.get(f"/api/sessions/{session}")).json()["mode"] == "plan"
    assert [one for one in heard_by_demo(server, asked.request_id) if "smaller steps" in json.dumps(one)]


@pytest.mark.row("C6")
async def test_model_and_mode_are_switched_while_a_turn_runs(server: LiveServer):
    session = await server.create("count 100000 10")
    await server.wait_for(session, lambda e: type(e).__name__ == "TextAppended")
    assert (await server.post(f"/api/sessions/{session}/model", model="other")).json() == {"ok": True}
    assert (await server.post(f"/api/sessions/{session}/mode", mode="acceptEdits")).json() == {"ok": True}
    # The agent does not name such a model: that is said, and shown as its model only once it answers with it.
    await server.wait_for(session, lambda e: getattr(e, "code", "") == "model_unlisted")
    await server.wait_for(session, lambda e: getattr(e, "mode", "") == "acceptEdits")
    view = (await server.http.get(f"/api/sessions/{session}")).json()
    assert (view["model"], view["mode"], view["phase"]) == ("demo", "acceptEdits", "running")
    await server.post(f"/api/sessions/{session}/interrupt")
    await server.wait_for(session, TurnEnded)


@pytest.mark.row("C6")
async def test_slash_commands_images_context_and_cost_are_there(server: LiveServer):
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
    session = await server.create()
    body = {"text": "/help", "images": [{"mediaType": "image/png", "data": pixel}]}
    assert (await server.http.post(f"/api/sessions/{session}/send", json=body)).status_code == 200
    await server.wait_for(session, TurnEnded)
    events = [row.event for row in await server.log(session)]
    commands = next(one for one in events if type(one).__name__ == "CommandsChanged")
    assert [one.name for one in commands.commands] == ["tour", "help"]
    said = "".join(getattr(one, "text", "") for one in events if type(one).__name__ == "TextAppended")
    assert "I got 1 image(s): image/png" in said
    (prompt,) = [one for one in heard_by_demo(server, pixel) if one["type"] == "user"]
    assert prompt["message"]["content"][1]["source"]["data"] == pixel  # type: ignore[index]
    view = (await server.http.get(f"/api/sessions/{session}")).json()
    assert view["cost_usd"] > 0
    assert view["context_size"] == 200_000
    assert view["context_used"] > 0
