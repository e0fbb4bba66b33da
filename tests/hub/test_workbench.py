"""What the workbench asks of the hub: search, projects, files, changes, shares, exports, company."""

import asyncio
from typing import Any

import msgspec
import pytest
from msgspec import Raw
from tests.hub.running_hub import RunningHub, ask, rest_of
from tests.hub.scripted_device import append
from tests.parts import Part
from tests.waiting import PATIENCE
from websockets.asyncio.client import ClientConnection

from bascule.hub.operation_table import operation_table
from bascule.model.events import (
    Diff,
    EntryClosed,
    EntryOpened,
    PromptSent,
    TextAppended,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)

pytestmark = pytest.mark.anyio

EVIL = "<script>alert(1)</script>\u202e & ``` <img src=x onerror=alert(1)>"


async def talk(hub: RunningHub, words: str, session_id: str = "s1") -> None:
    await hub.session(session_id)
    await append(
        hub.store,
        session_id,
        PromptSent("p1", f"Tell me: {words}", "ana"),
        EntryOpened("e1", "assistant"),
        TextAppended("e1", "assistant", words),
        EntryClosed("e1"),
        ToolStarted("t1", "Edit", f"Edit {words}", "edit", Raw(msgspec.json.encode({"text": words}))),
        ToolChanged("t1", "done", words, (Diff("/tmp/b.py", "@@ -1 +1 @@\n-a\n+b", 1, 1),)),
        TurnEnded("end_turn"),
    )
    await hub.store.searchable()


async def push(socket: ClientConnection, kind: str, seconds: float = PATIENCE) -> dict[str, Any]:
    async with asyncio.timeout(seconds):
        while True:
            message = msgspec.json.decode(await socket.recv())
            if message.get("type") == kind:
                return message


# Search


@pytest.mark.row("X4")
async def test_a_search_finds_a_message_and_its_page(hub: RunningHub) -> None:
    await talk(hub, "a heron in the reeds")
    async with hub.client(hub.tokens["viewer"]) as client:
        found = (await client.get("/api/search", params={"q": "heron ree"})).json()
        assert found["owed"] == 0
        kinds = [(hit["kind"], hit["firstSeq"]) for hit in found["hits"]]
        assert kinds == [("title", 0), ("tool", 6), ("text", 3), ("prompt", 2)]
        assert found["hits"][2]["snippet"] == ["a ", "heron", " in the ", "reeds", ""]
        one = (await client.get("/api/search", params={"q": "heron", "session": "s1", "limit": 1})).json()
        assert [hit["kind"] for hit in one["hits"]] == ["tool"]
        around = {"around": 3, "limit": 2}
        page = (await client.get("/api/sessions/s1/entries", params=around)).json()
        assert [entry["first_seq"] for entry in page["entries"]] == [2, 3]
        assert (page["before"], page["after"]) == (2, 3)
        down = (await client.get("/api/sessions/s1/entries", params={"after": 3})).json()
        assert [entry["first_seq"] for entry in down["entries"]] == [6, 8]
        both = await client.get("/api/sessions/s1/entries", params={"after": 3, "before": 4})
        assert both.status_code == 400
    async with hub.socket() as socket:
        answer = await ask(socket, "search", q="heron")
        assert len(answer["ok"]["hits"]) == 4
        page = await ask(socket, "session:entries", sessionId="s1", around=3, limit=2)
        assert page["ok"]["after"] == 3


@pytest.mark.row("S37")
@pytest.mark.parametrize("q", ['"', "*", "heron OR x", "NEAR(", "a:b", "'", "%00"])
async def test_no_typed_punctuation_in_a_search_is_a_server_error(hub: RunningHub, q: str) -> None:
    await talk(hub, "a heron")
    async with hub.client(hub.tokens["owner"]) as client:
        assert (await client.get("/api/search", params={"q": q})).status_code in (200, 400)


# Projects


@pytest.mark.row("A4")
async def test_projects_are_added_once_kept_in_order_and_removed_without_their_sessions(
    hub: RunningHub,
) -> None:
    await hub.session("s1")
    async with hub.client(hub.tokens["operator"]) as client, hub.socket() as socket:
        first = (await client.post("/api/projects", json={"path": "/tmp/zebra"})).json()
        assert (first["name"], first["path"], first["collapsed"]) == ("zebra", "/tmp/zebra", False)
        assert (await push(socket, "project:added"))["project"] == first
        again = await client.post("/api/projects", json={"path": "/tmp/zebra"})
        assert (again.status_code, again.json()["error"]["code"]) == (409, "PROJECT_DUPLICATE")
        made = await client.post("/api/sessions", json={"projectId": first["id"]})
        assert (await client.get(f"/api/sessions/{made.json()['id']}")).json()["cwd"] == "/tmp/zebra"
        second = (await ask(socket, "project:add", path="/tmp/ant", name="Ants"))["ok"]["project"]
        listed = (await client.get("/api/projects")).json()["projects"]
        assert [one["name"] for one in listed] == ["zebra", "Ants"]
        await client.post(f"/api/projects/{first['id']}", json={"collapsed": True})
        assert (await push(socket, "project:changed"))["project"]["collapsed"] is True
        await ask(socket, "project:remove", projectId=second["id"])
        listed = (await ask(socket, "project:list"))["ok"]["projects"]
        assert [(one["name"], one["collapsed"]) for one in listed] == [("zebra", True)]
        gone = await client.delete(f"/api/projects/{second['id']}")
        assert gone.status_code == 404
        assert (await client.get("/api/sessions/s1")).status_code == 200


@pytest.mark.row("A4")
async def test_recent_directories_and_completions_are_listed(hub: RunningHub) -> None:
    await hub.session("s1")
    async with hub.client(hub.tokens["operator"]) as client:
        assert (await client.get("/api/directories/recent")).json() == {
            "directories": ["/tmp"],
            "folders": [{"path": "/tmp", "device": "device-1"}],
        }
        found = (await client.get("/api/directories", params={"prefix": "/tm"})).json()
        assert found == {"directories": ["/tmx"]}
        assert (await client.get("/api/directories", params={"path": "/tmp"})).json() == {"path": "/tmp"}
        assert (await client.get("/api/directories")).status_code == 400


# Files and changes


async def test_files_are_json_whatever_they_hold(hub: RunningHub) -> None:
    await hub.session("s1")
    async with hub.client(hub.tokens["viewer"]) as client:
        for path in ("/api/sessions/s1/files?path=src", "/api/sessions/s1/files/content?path=a.html"):
            answer = await client.get(path)
            assert answer.headers["content-type"] == "application/json"
            assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.row("X9")
async def test_changes_join_the_sessions_own_edits_with_gits(hub: RunningHub) -> None:
    await talk(hub, "words")
    async with hub.client(hub.tokens["viewer"]) as client:
        found = (await client.get("/api/sessions/s1/changes")).json()
    assert (found["branch"], found["gitProblem"]) == ("trunk", None)
    files = {file["path"]: file for file in found["files"]}
    assert (files["a.py"]["source"], files["a.py"]["status"]) == ("git", "modified")
    own = files["b.py"]
    assert (own["source"], own["edits"], own["added"], own["removed"]) == ("session", [6], 1, 1)
    assert own["patch"] == "@@ -1 +1 @@\n-a\n+b"


# Sharing


@pytest.mark.row("R12", "S61")
async def test_a_shared_link_reads_one_session_and_can_do_nothing_else(hub: RunningHub) -> None:
    await talk(hub, "words")
    await hub.session("s2")
    async with hub.client(hub.tokens["owner"]) as owner:
        made = (await owner.post("/api/sessions/s1/share", json={"expiresIn": 3600})).json()
    assert made["link"] == f"{hub.url}/s#token={made['token']}"
    assert (made["grant"]["role"], made["grant"]["sessionId"]) == ("viewer", "s1")
    assert made["grant"]["expiresAt"] is not None
    readable: set[str] = set()
    async with hub.client(made["token"]) as guest:
        for row in operation_table().routes:
            if row.method == "WS" or row.need == "public" or row.path.endswith("/stream"):
                continue
            path = row.path.replace("{session_id}", "s1")
            body = b"{}" if row.method != "GET" else None
            headers = {"content-type": "application/json"} if body else {}
            answer = await guest.request(row.method, path, content=body, headers=headers)
            if answer.status_code not in (401, 403):
                readable.add(f"{row.method} {row.path}")
        for path in ("/api/sessions/s2", "/api/sessions/s2/entries", "/api/sessions/s2/export"):
            assert (await guest.get(path)).status_code == 401
    one = "GET /api/sessions/{session_id}"
    assert readable == {
        one,
        *(f"{one}/{part}" for part in ("entries", "events", "queue", "export")),
        "POST /api/tickets",
        "GET /openapi.json",
    }
    assert hub.device.commands == []


@pytest.mark.row("R12", "S61")
async def test_a_shared_link_watches_over_the_socket_and_ends_when_revoked(hub: RunningHub) -> None:
    await talk(hub, "words")
    await hub.session("s2")
    token = await hub.trust("guest", "viewer", session_id="s1")
    async with hub.socket(token) as socket:
        assert "ok" in await ask(socket, "session:subscribe", sessionId="s1", after=0)
        assert "ok" in await ask(socket, "session:open", sessionId="s1")
        refused = [
            await ask(socket, "session:subscribe", sessionId="s2"),
            await ask(socket, "session:send", sessionId="s1", text="hi"),
            await ask(socket, "session:typing", sessionId="s1"),
            await ask(socket, "session:files", sessionId="s1"),
            await ask(socket, "session:changes", sessionId="s1"),
            await ask(socket, "session:permission", sessionId="s1", requestId="r", decision="allow"),
            await ask(socket, "session:list"),
            await ask(socket, "search", q="words"),
            await ask(socket, "project:list"),
            await ask(socket, "requests:list"),
        ]
        assert {answer["error"]["code"] for answer in refused} == {"FORBIDDEN"}
        await hub.session("s3")
        await hub.grants.revoke(hub.grant["guest"].id)
        said = await rest_of(socket)
        assert not any('"s3"' in message for message in said)
    async with hub.client(token) as client:
        assert (await client.get("/api/sessions/s1/entries")).status_code == 401


# Export


@pytest.mark.row("S61", "R12")
@pytest.mark.parametrize("form", ["markdown", "html", "json"])
async def test_an_export_holds_the_transcript_without_secrets_or_script(
    hub: RunningHub, form: str, part: Part
) -> None:
    secret = "sk-ant-0123456789abcdefghijklmnop"
    await talk(hub, f"{EVIL} the key {secret} ends")
    async with hub.client(hub.tokens["viewer"]) as client:
        answer = await client.get("/api/sessions/s1/export", params={"format": form})
    assert answer.status_code == 200
    with part("it is a download with a safe name and policy"):
        disposition = answer.headers["content-disposition"]
        assert disposition.startswith('attachment; filename="Tell-me-script-alert-1-script')
        assert all(letter.isascii() and letter.isprintable() for letter in disposition)
        assert "sandbox" in answer.headers["content-security-policy"]
    text = answer.text
    with part("it holds no secret"):
        assert secret not in text
        assert "the key" in text
    with part("its format is inert"):
        if form == "html":
            assert "<script" not in text
            assert "<img" not in text
            assert "\u202e" not in text
            assert "&lt;script&gt;" in text
            assert "default-src &#x27;none&#x27;" in text
        if form == "markdown":
            assert "\u202e" not in text
            assert "````\n" in text
        if form == "json":
            whole = answer.json()
            assert whole["session"]["id"] == "s1"
            assert [entry["kind"] for entry in whole["entries"]] == [
                "event",
                "prompt",
                "text",
                "tool",
                "turn",
            ]


async def test_an_export_of_many_entries_comes_whole(hub: RunningHub) -> None:
    await hub.session("s1")
    prompts = [PromptSent(f"p{n}", f"prompt number {n}", "ana") for n in range(1050)]
    await append(hub.store, "s1", *prompts)
    async with hub.client(hub.tokens["viewer"]) as client:
        whole = (await client.get("/api/sessions/s1/export", params={"format": "json"})).json()
        page = (await client.get("/api/sessions/s1/export", params={"format": "html"})).text
    assert [entry["first_seq"] for entry in whole["entries"]] == list(range(1, 1052))
    assert page.count('<section class="user-message">') == 1050
    assert page.endswith("</body></html>\n")


# Company


@pytest.mark.row("R12")
async def test_viewers_see_who_else_is_viewing_and_typing(hub: RunningHub) -> None:
    await hub.session("s1")
    async with hub.socket() as ana, hub.socket(hub.tokens["operator"]) as ben:
        await ask(ana, "session:subscribe", sessionId="s1")
        assert (await push(ana, "session:presence"))["viewers"] == ["owner"]
        await ask(ben, "session:subscribe", sessionId="s1")
        seen = await push(ana, "session:presence")
        assert (seen["sessionId"], seen["viewers"], seen["typing"]) == ("s1", ["operator", "owner"], [])
        for n in range(20):
            await ask(ben, "session:typing", n, sessionId="s1")
        assert (await push(ana, "session:presence"))["typing"] == ["operator"]
        await ask(ben, "session:typing", 50, sessionId="s1", typing=False)
        # Twenty words about one thing are told once: the next news is the next change.
        assert (await push(ana, "session:presence"))["typing"] == []
        await ask(ben, "session:unsubscribe", sessionId="s1")
        assert (await push(ana, "session:presence"))["viewers"] == ["owner"]
