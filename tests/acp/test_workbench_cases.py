"""The workbench's server cases by their numbers, over the socket of a real server with an ACP agent."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.acp.sharing import PATIENT, Pushes, add_agent, events_of, pushes
from tests.acp.test_acp_live import said
from tests.live import LiveServer
from tests.parts import Part

from bascule.model.events import PromptSent, SessionReady, TextAppended, TurnEnded

pytestmark = pytest.mark.anyio


async def created(page: Pushes, **fields: Any) -> str:
    answer = await page.ask("session:create", agent="scripted", **fields)
    return answer["ok"]["id"]


@pytest.mark.row("TC-1.1a", "TC-1.2a", "TC-1.2b", "TC-1.2d", "TC-1.3a", "TC-1.3b", "A11")
async def test_projects_are_added_once_in_order_and_removed_alone(
    short_dir: Path,
):
    server = LiveServer(short_dir, env=PATIENT)
    add_agent(server)
    (server.work / "b").mkdir()
    (server.work / "a").mkdir()
    async with server, pushes(server) as page:
        first = (await page.ask("project:add", path=f"{server.work}/b"))["ok"]["project"]
        second = (await page.ask("project:add", path=f"{server.work}/a"))["ok"]["project"]
        assert first["id"] != second["id"]
        added = await page.until(lambda push: push["type"] == "project:added")
        assert added["project"]["id"] == first["id"]
        listed = (await page.ask("project:list"))["ok"]["projects"]
        assert [one["id"] for one in listed] == [first["id"], second["id"]]
        for path in (f"{server.work}/missing", f"{server.work}/../../etc", "relative"):
            refused = await page.ask("project:add", path=path)
            assert refused["error"]["code"] == "PROJECT_PATH_INVALID", path
        twice = await page.ask("project:add", path=f"{server.work}/a/")
        assert twice["error"]["code"] == "PROJECT_DUPLICATE"

        session = await created(page, projectId=first["id"], prompt="hello")
        await server.wait_for(session, TurnEnded)
        await page.ask("project:remove", projectId=first["id"])
        removed = await page.until(lambda push: push["type"] == "project:removed")
        assert removed["projectId"] == first["id"]
        assert [one["id"] for one in (await page.ask("session:list"))["ok"]["sessions"]] == [session]
        gone = await page.ask("session:list", projectId=first["id"])
        assert gone["error"]["code"] == "PROJECT_NOT_FOUND"
        again = (await page.ask("project:add", path=f"{server.work}/b"))["ok"]["project"]
        listed = (await page.ask("session:list", projectId=again["id"]))["ok"]["sessions"]
        assert [one["id"] for one in listed] == [session]


@pytest.mark.row(
    "TC-2.1a",
    "TC-2.1b",
    "TC-2.1c",
    "TC-2.2a",
    "TC-2.3a",
    "TC-2.4a",
    "TC-2.4c",
    "TC-2.5a",
    "TC-2.5b",
    "TC-3.7b",
    "A11",
)
async def test_sessions_are_listed_opened_and_kept(short_dir: Path, part: Part):
    server = LiveServer(short_dir, env=PATIENT)
    add_agent(server, more=', "--no-resume", "--close"')
    (server.work / "empty").mkdir()
    # A conversation that the agent knows and nobody began here.
    orphan = str(uuid.uuid4())
    (server.folder / "conversations" / orphan).write_text(
        json.dumps(["user_message_chunk", "an orphan"]) + "\n"
    )
    async with server:
        async with pushes(server) as page:
            project = (await page.ask("project:add", path=str(server.work)))["ok"]["project"]
            empty = (await page.ask("project:add", path=f"{server.work}/empty"))["ok"]["project"]
            sessions: list[str] = []
            for n in range(3):
                session = await created(page, projectId=project["id"], prompt=f"hello {n}")
                pushed = await page.until(
                    lambda push, one=session: push["type"] == "session:created" and push["sessionId"] == one
                )
                assert pushed["session"]["agent"] == "scripted"
                await server.wait_for(session, TurnEnded)
                sessions.append(session)
            await server.send(sessions[1], "once more")
            row = await server.wait_for(
                sessions[1], lambda event: isinstance(event, TextAppended) and "once more" in event.text
            )
            await server.wait_for(sessions[1], TurnEnded, after=row.seq)

            listed = (await page.ask("session:list", projectId=project["id"]))["ok"]["sessions"]
            with part("TC-2.1a, TC-2.1b, TC-2.4c: sessions are listed by activity, without the agent's own"):
                assert [one["id"] for one in listed] == [sessions[1], sessions[2], sessions[0]]
                assert [one["title"] for one in listed] == ["hello 1", "hello 2", "hello 0"]
                times = [one["updated_at"] for one in listed]
                assert times == sorted(times, reverse=True)
                assert orphan not in [one["agent_session_id"] for one in listed]
            # Whoever asks is told of it, and can take it up.
            with part("the agent's own conversations are listed on request"):
                known = (await page.ask("agents:conversations", agent="scripted"))["ok"]
                here = {one["id"]: one.get("session") for one in known["conversations"]}
                assert here == {orphan: None, **{one["agent_session_id"]: one["id"] for one in listed}}
                refused = await page.ask("agents:conversations", agent="demo")
                assert refused["error"]["code"] == "NOT_SUPPORTED"
            with part("TC-2.1c: a project without sessions has an empty list"):
                assert (await page.ask("session:list", projectId=empty["id"]))["ok"]["sessions"] == []

            opened = (await page.ask("session:open", sessionId=sessions[0]))["ok"]
            with part("TC-2.3a: an opened session has its history"):
                kinds = [entry["kind"] for entry in opened["entries"]]
                assert "prompt" in kinds
                assert "text" in kinds

            await page.ask("session:archive", sessionId=sessions[0])
            hidden = await page.until(lambda push: push["type"] == "session:archived")
            assert (hidden["sessionId"], hidden["archived"]) == (sessions[0], True)
            listed = (await page.ask("session:list"))["ok"]["sessions"]
            assert sessions[0] not in [one["id"] for one in listed]

            with part("TC-3.7b: a cancelled turn ends as interrupted"):
                row = (await server.log(sessions[2]))[-1]
                await server.send(sessions[2], "count 100000 5")
                await server.wait_for(sessions[2], TextAppended, after=row.seq)
                await page.ask("session:cancel", sessionId=sessions[2])
                ended = (await server.wait_for(sessions[2], TurnEnded, after=row.seq)).event
                assert isinstance(ended, TurnEnded)
                assert ended.stop_reason == "interrupted"

            with part("an unknown session is refused"):
                unknown = await page.ask("session:open", sessionId="nobody")
                assert unknown["error"]["code"] == "SESSION_NOT_FOUND"
        await server.stop()
        await server.start()
        async with pushes(server) as page:
            listed = (await page.ask("session:list"))["ok"]["sessions"]
            with part("TC-2.5a: sessions survive a restart"):
                assert {one["id"] for one in listed} == set(sessions[1:])
            with part("TC-2.5b: their history survives a restart"):
                again = (await page.ask("session:open", sessionId=sessions[0]))["ok"]
                assert again["entries"] == opened["entries"]
            # The agent itself tells what was said, in a session that has nothing of it yet.
            with part("the agent's own history fills a new session"):
                first = next(e for e in await events_of(server, sessions[1]) if isinstance(e, SessionReady))
                other = await created(page, cwd=str(server.work), resume=first.agent_session_id)
                await server.wait_for(other, SessionReady)
                events = await events_of(server, other)
                prompts = [event.text for event in events if isinstance(event, PromptSent)]
                assert prompts == ["hello 1", "once more"]
                assert said(events).count("You said") == 2


@pytest.mark.row("A8", "A5", "A11")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[]",
        "null",
        '{"id": 1}',
        '{"id": 1, "type": "no:such"}',
        '{"id": 1, "type": 5}',
        '{"id": 1, "type": "session:reconnect", "cliType": 5}',
        '{"id": 1, "type": "session:reconnect", "cliType": ""}',
        '{"id": 1, "type": "session:reconnect", "more": 1}',
        '{"id": 1, "type": "session:send", "sessionId": "a"}',
        '{"id": "a", "type": "ping"}',
        '{"id": 1, "type": "session:list", "projectId": []}',
        '{"id": 1, "type": "ping", "x": ' + "[" * 5000 + "]" * 5000 + "}",
    ],
)
def test_a_malformed_message_is_refused_by_its_own_code(text: str):
    from bascule.hub.calls.socket_messages import BadMessage, decode_message
    from bascule.hub.operation_table import operation_table

    with pytest.raises(BadMessage) as refused:
        decode_message(operation_table(), text)
    assert refused.value.refusal().code == "INVALID_MESSAGE"
