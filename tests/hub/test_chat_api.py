"""The chat API as its document has it: endpoints, bodies, errors, and three ways to show a token."""

import msgspec
import pytest
from tests.hub.running_hub import RunningHub
from tests.hub.scripted_device import append

from bascule.hub.page.web_files import page_files
from bascule.model.commands import Interrupt, SendPrompt, StartSession
from bascule.model.events import PromptQueued

pytestmark = pytest.mark.anyio


async def made(hub: RunningHub) -> tuple[str, str]:
    async with hub.client(hub.tokens["operator"]) as client:
        body = (await client.post("/api/sessions", json={"model": "opus", "cwd": "/tmp"})).json()
    return body["id"], body["token"]


@pytest.mark.row("C2")
async def test_create_answers_id_token_model_and_time(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["operator"]) as client:
        answer = await client.post("/api/sessions", json={"model": "opus"})
    body = answer.json()
    assert answer.status_code == 200
    assert body["model"] == "opus"
    assert body["createdAt"].endswith("Z")
    assert len(body["token"]) >= 43
    command = hub.device.commands[-1]
    assert isinstance(command, StartSession)
    assert (command.agent, command.options.permission_mode) == ("scripted", "relay")
    assert hub.device.asks[-1].by.name == "operator"


@pytest.mark.row("C2")
async def test_list_has_id_model_time_and_status(hub: RunningHub) -> None:
    session, _ = await made(hub)
    async with hub.client(hub.tokens["viewer"]) as client:
        listed = (await client.get("/api/sessions")).json()["sessions"]
    assert [one["id"] for one in listed] == [session]
    assert listed[0]["status"] == "starting"
    assert listed[0]["model"] == "opus"
    assert listed[0]["createdAt"]


@pytest.mark.row("C2")
@pytest.mark.parametrize("way", ["header", "query", "body"])
async def test_a_session_token_may_come_in_header_query_or_body(hub: RunningHub, way: str) -> None:
    session, token = await made(hub)
    where = f"/api/sessions/{session}/send"
    async with hub.client(token if way == "header" else None) as client:
        body = {"text": "hi", "clientMessageId": "m1", **({"token": token} if way == "body" else {})}
        query = {"token": token} if way == "query" else None
        answer = await client.post(where, json=body, params=query)
    assert answer.status_code == 200
    assert answer.json()["ok"] is True
    command = hub.device.commands[-1]
    assert isinstance(command, SendPrompt)
    assert (command.text, command.client_message_id) == ("hi", "m1")


@pytest.mark.row("C2")
async def test_an_owner_token_is_not_taken_from_query_or_body(hub: RunningHub) -> None:
    session, _ = await made(hub)
    owner = hub.tokens["owner"]
    async with hub.client() as client:
        by_query = await client.post(f"/api/sessions/{session}/interrupt", params={"token": owner})
        by_body = await client.post(f"/api/sessions/{session}/interrupt", json={"token": owner})
    assert (by_query.status_code, by_body.status_code) == (401, 401)


@pytest.mark.row("C2")
async def test_a_session_is_interrupted_and_closed_over_http(hub: RunningHub) -> None:
    session, token = await made(hub)
    async with hub.client(token) as client:
        interrupted = await client.post(f"/api/sessions/{session}/interrupt")
        assert isinstance(hub.device.commands[-1], Interrupt)
        closed = await client.delete(f"/api/sessions/{session}")
        shown = (await client.get(f"/api/sessions/{session}")).json()
    assert interrupted.json() == closed.json() == {"ok": True}
    assert shown["status"] == "closed"


@pytest.mark.row("C2")
async def test_missing_session_is_404_and_unknown_request_is_404(hub: RunningHub) -> None:
    session, token = await made(hub)
    async with hub.client(hub.tokens["operator"]) as client:
        assert (await client.post("/api/sessions/nope/send", json={"text": "x"})).status_code == 404
        answer = {"requestId": "nope", "decision": "allow"}
        refused = await client.post(f"/api/sessions/{session}/permissions", json=answer)
    assert refused.status_code == 404
    assert refused.json()["error"]["code"] == "REQUEST_NOT_FOUND"
    async with hub.client(token) as client:
        assert (await client.get("/api/sessions/nope")).status_code == 401


@pytest.mark.row("C2")
async def test_a_permission_is_allowed_once_and_the_second_answer_is_409(hub: RunningHub) -> None:
    session, token = await made(hub)
    await hub.ask_permission(session)
    answer = {"requestId": "r1", "decision": "allow", "message": "fine", "inputSha256": "0" * 64}
    async with hub.client(token) as client:
        first = await client.post(f"/api/sessions/{session}/permissions", json=answer)
        second = await client.post(f"/api/sessions/{session}/permissions", json=answer)
    assert first.json() == {"ok": True}
    assert second.status_code == 409
    assert second.json()["error"]["by"] == f"session {session}"


@pytest.mark.row("S42")
async def test_fields_nobody_asked_for_are_refused_and_the_request_stays_open(hub: RunningHub) -> None:
    session, token = await made(hub)
    await hub.ask_permission(session)
    async with hub.client(token) as client:
        for extra in ({"updatedInput": {"command": "rm"}}, {"input": 1}, {"behavior": "allow"}):
            body = {"requestId": "r1", "decision": "allow", **extra}
            assert (await client.post(f"/api/sessions/{session}/permissions", json=body)).status_code == 400
        assert len(hub.device.commands) == 1
        inbox = await hub.store.open_requests()
        assert [one.request_id for one in inbox] == ["r1"]


async def test_every_other_verb_reaches_the_device_as_its_command(hub: RunningHub) -> None:
    session, _ = await made(hub)
    verbs = {
        "questions": {"requestId": "q", "answers": {"a?": "b"}},
        "queue": {"op": "reorder", "order": ["p2", "p1"]},
        "mode": {"mode": "plan"},
        "model": {"model": "haiku"},
        "permission-mode": {"mode": "auto_read"},
        "title": {"title": "A title"},
        "archive": {},
        "resume": {},
    }
    async with hub.client(hub.tokens["operator"]) as client:
        for path, body in verbs.items():
            answer = await client.post(f"/api/sessions/{session}/{path}", json=body)
            assert answer.status_code == 200, (path, answer.text)
    names = [type(command).__name__ for command in hub.device.commands[1:]]
    assert names == [
        "AnswerQuestion",
        "ReorderPrompts",
        "SetMode",
        "SetModel",
        "SetPermissionMode",
        "RenameSession",
        "ArchiveSession",
        "ResumeSession",
    ]


@pytest.mark.row("R4")
async def test_spawn_answers_as_the_remote_api_specifies(hub: RunningHub) -> None:
    command = {"prompt": "go", "cwd": "/tmp", "harness": "scripted", "permission_mode": "deny"}
    async with hub.client(hub.tokens["operator"]) as client:
        answer = await client.post("/api/sessions/spawn", json=command)
        status = (await client.get("/api/daemon/status")).json()
    body = answer.json()
    assert body == {"session_id": body["session_id"], "status": "starting", "harness": "scripted"}
    assert status["connected"] is True
    assert status["client_id"] == "device-1"
    assert status["capabilities"] == {"can_spawn_sessions": True, "supported_harnesses": ["scripted"]}


@pytest.mark.row("R15")
async def test_the_sixth_session_in_a_minute_is_refused_with_429(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["operator"]) as client:
        codes = [(await client.post("/api/sessions", json={})).status_code for _ in range(6)]
    assert codes == [200] * 5 + [429]


async def test_pages_of_entries_and_events(hub: RunningHub) -> None:
    session, token = await made(hub)
    await hub.say(session, "a", "b", "c")
    async with hub.client(token) as client:
        events = (await client.get(f"/api/sessions/{session}/events", params={"after": 1, "limit": 2})).json()
        page = (await client.get(f"/api/sessions/{session}/entries")).json()
        wrong = await client.get(f"/api/sessions/{session}/entries", params={"limit": 0})
    assert [one["seq"] for one in events["events"]] == [2, 3]
    assert events["last"] == 3
    assert page["seq"] == 4
    assert wrong.status_code == 400


@pytest.mark.row("R8")
async def test_the_queue_is_shown_in_its_order(hub: RunningHub) -> None:
    session, token = await made(hub)
    await append(hub.store, session, PromptQueued("p1", "first", "ana"), PromptQueued("p2", "second", "ana"))
    async with hub.client(token) as client:
        queue = (await client.get(f"/api/sessions/{session}/queue")).json()["queue"]
    assert [one["text"] for one in queue] == ["first", "second"]


async def test_the_inbox_lists_open_requests_of_all_sessions(hub: RunningHub) -> None:
    for name in ("a", "b"):
        await hub.session(name)
        await hub.ask_permission(name)
    async with hub.client(hub.tokens["viewer"]) as client:
        requests = (await client.get("/api/requests")).json()["requests"]
    assert [(one["session_id"], one["request_id"]) for one in requests] == [("a", "r1"), ("b", "r1")]


async def test_a_silent_device_is_503(hub: RunningHub) -> None:
    session, token = await made(hub)
    hub.device.line.closed()
    async with hub.client(token) as client:
        answer = await client.post(f"/api/sessions/{session}/interrupt")
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "DEVICE_OFFLINE"


async def test_grants_are_made_listed_and_revoked_by_the_owner(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["owner"]) as client:
        new = (
            await client.post("/api/grants", json={"name": "phone", "role": "viewer", "expiresIn": 60})
        ).json()
        listed = (await client.get("/api/grants")).json()["grants"]
        assert "phone" in [one["name"] for one in listed]
        assert new["token"] not in str(listed)
        assert (await client.delete(f"/api/grants/{new['grant']['id']}")).json() == {"ok": True}
        assert (await client.delete("/api/grants/nope")).status_code == 404
        audit = (await client.get("/api/audit")).json()
        verdict = (await client.get("/api/audit/verify")).json()
    assert any(one["entry"]["record"]["action"] == "grant" for one in audit["records"])
    assert verdict["ok"] is True
    async with hub.client(new["token"]) as client:
        assert (await client.get("/api/sessions")).status_code == 401


@pytest.mark.row("X12")
async def test_the_description_names_every_route_of_the_table(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["viewer"]) as client:
        described = (await client.get("/openapi.json")).json()
    rows = [row for row in hub.app.table.routes if row.method != "WS" and row.described]
    assert described["openapi"] == "3.1.0"
    assert {(path, method) for path, ops in described["paths"].items() for method in ops} == {
        (row.path, row.method.lower()) for row in rows
    }
    assert msgspec.json.encode(described)


async def test_the_first_page_and_health_need_no_token(hub: RunningHub) -> None:
    async with hub.client() as client:
        page = await client.get("/")
        assert "<title>Bascule</title>" in page.text
        assert page.text.count("<script") == 1
        assert f'<script type="module" src="/assets/{page_files().version}/' in page.text
        assert (await client.get("/health")).json() == {"status": "ok"}
        assert (await client.get("/healthz")).text == "ok"
