"""A client that speaks the words of the workbench's specification alone: no numbers, no entries of ours."""

import asyncio
from typing import Any

import msgspec
import pytest
from msgspec import Raw
from tests.hub.running_hub import RunningHub, ask
from tests.hub.scripted_device import append
from tests.waiting import PATIENCE
from websockets.asyncio.client import ClientConnection

from bascule.model.commands import SendPrompt, StartSession
from bascule.model.events import (
    AnyEvent,
    EntryClosed,
    EntryOpened,
    PromptSent,
    SessionEnded,
    TextAppended,
    TextSaid,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)

pytestmark = pytest.mark.anyio

TOOL = ToolStarted("t1", "Bash", "ls", "execute", Raw(b"{}"))


async def says(socket: ClientConnection, kind: str, **fields: Any) -> None:
    await socket.send(msgspec.json.encode({"type": kind, **fields}).decode())


async def hears(socket: ClientConnection, *kinds: str) -> list[dict[str, Any]]:
    """The next message of each of these types, in this order; others pass by."""
    heard: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE):
        while len(heard) < len(kinds):
            message = msgspec.json.decode(await socket.recv())
            if message["type"] == kinds[len(heard)]:
                heard.append(message)
    return heard


async def stream(socket: ClientConnection, last: str) -> list[dict[str, Any]]:
    """Everything about sessions up to and with the first message of this type."""
    heard: list[dict[str, Any]] = []
    while not heard or heard[-1]["type"] != last:
        message = msgspec.json.decode(await asyncio.wait_for(socket.recv(), PATIENCE))
        if message["type"] in ("session:update", "session:chunk", "session:complete", "session:cancelled"):
            heard.append(message)
    return heard


@pytest.mark.row("A11", "TC-2.3a")
async def test_an_opened_session_gives_its_history_and_streams_in_the_workbench_s_words(
    hub: RunningHub,
) -> None:
    await hub.session("s1")
    await append(hub.store, "s1", PromptSent("p1", "Hello", "ana"), TextSaid("m1", "assistant", "Hi."))
    async with hub.socket(path="/ws?words=workbench") as socket:
        await says(socket, "session:open", sessionId="s1")
        [history] = await hears(socket, "session:history")
        assert history["sessionId"] == "s1"
        user, assistant = history["entries"]
        assert (user["type"], user["content"], user["entryId"]) == ("user", "Hello", "2")
        assert (assistant["type"], assistant["content"], assistant["entryId"]) == ("assistant", "Hi.", "3")
        assert {"timestamp"} <= user.keys() & assistant.keys()
        await append(
            hub.store,
            "s1",
            PromptSent("p2", "List", "ana"),
            EntryOpened("h", "thinking"),
            TextAppended("h", "thinking", "Hm"),
            TextAppended("h", "thinking", "m."),
            EntryOpened("m2", "assistant"),
            TextAppended("m2", "assistant", "I "),
            TextAppended("m2", "assistant", "look."),
            EntryClosed("m2"),
            TOOL,
            ToolChanged("t1", "running", "a"),
            ToolChanged("t1", "failed", "no such folder"),
            TurnEnded("end_turn"),
        )
        heard = await stream(socket, "session:complete")
    assert {one["sessionId"] for one in heard} == {"s1"}
    updates = [one["entry"] for one in heard if one["type"] == "session:update"]
    assert [(one["type"], one.get("content"), one.get("status")) for one in updates] == [
        ("user", "List", None),
        ("thinking", "", None),
        ("thinking", "Hm", None),
        ("thinking", "Hmm.", None),
        ("assistant", "", None),
        ("tool-call", None, "running"),
        ("tool-call", None, "running"),
        ("tool-call", None, "error"),
    ]
    assert updates[-1] == {
        "type": "tool-call",
        "entryId": updates[-2]["entryId"],
        "toolCallId": "t1",
        "name": "Bash",
        "status": "error",
        "error": "no such folder",
    }
    chunks = [(one["entryId"], one["content"]) for one in heard if one["type"] == "session:chunk"]
    assert chunks == [(updates[4]["entryId"], "I "), (updates[4]["entryId"], "look.")]
    assert heard[-1]["entryId"] == updates[-1]["entryId"]


@pytest.mark.row("TC-3.7b")
@pytest.mark.parametrize("end", [TurnEnded("interrupted"), SessionEnded("closed")])
async def test_a_cancelled_turn_finalizes_its_entry(hub: RunningHub, end: AnyEvent) -> None:
    await hub.session("s1")
    await append(hub.store, "s1", PromptSent("p1", "Hello", "ana"), EntryOpened("m1", "assistant"))
    async with hub.socket(path="/ws?words=workbench") as socket:
        await says(socket, "session:open", sessionId="s1")
        await hears(socket, "session:history")
        await append(hub.store, "s1", TextAppended("m1", "assistant", "Hal"), end)
        chunk, cancelled = await stream(socket, "session:cancelled")
    # The entry was open when the session was opened: it grows under the name that the history gave it.
    assert (chunk["entryId"], chunk["content"], cancelled["entryId"]) == ("3", "Hal", "3")


@pytest.mark.row("A11", "TC-2.1a")
async def test_sessions_are_created_sent_to_listed_and_archived_without_numbers(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["owner"]) as client:
        project = (await client.post("/api/projects", json={"path": "/tmp"})).json()
    async with hub.socket(path="/ws?words=workbench") as socket:
        await says(socket, "project:list")
        [projects] = await hears(socket, "project:list")
        assert [one["id"] for one in projects["projects"]] == [project["id"]]
        await says(socket, "session:create", projectId=project["id"], cliType="scripted")
        [created] = await hears(socket, "session:created")
        session = created["sessionId"]
        assert created["projectId"] == project["id"]
        assert [one.agent for one in hub.device.commands if isinstance(one, StartSession)] == ["scripted"]
        await says(socket, "session:send", sessionId=session, content="Hello there")
        await append(hub.store, session, PromptSent("p1", "Hello there", "owner"))
        [update] = await hears(socket, "session:update")
        assert update["entry"]["content"] == "Hello there"
        assert [one.text for one in hub.device.commands if isinstance(one, SendPrompt)] == ["Hello there"]
        await says(socket, "session:list", projectId=project["id"])
        [listed] = await hears(socket, "session:list")
        [item] = listed["sessions"]
        assert (item["id"], item["title"], item["cliType"]) == (session, "Hello there", "scripted")
        assert item["lastActiveAt"] >= item["createdAt"]
        await says(socket, "session:archive", sessionId=session, requestId="r-7")
        [archived] = await hears(socket, "session:archived")
        while "requestId" not in archived:
            [archived] = await hears(socket, "session:archived")
        assert (archived["sessionId"], archived["requestId"]) == (session, "r-7")


@pytest.mark.row("A11")
async def test_a_refusal_without_a_number_is_an_error_message(hub: RunningHub) -> None:
    async with hub.socket(path="/ws?words=workbench") as socket:
        await says(socket, "session:archive", sessionId="nobody", requestId="r-1")
        [error] = await hears(socket, "error")
        assert (error["code"], error["requestId"]) == ("SESSION_NOT_FOUND", "r-1")
        assert error["message"]
        await says(socket, "session:dance")
        [error] = await hears(socket, "error")
        assert error["code"] == "INVALID_MESSAGE"


@pytest.mark.row("A11")
async def test_our_own_words_take_the_workbench_s_names_too(hub: RunningHub) -> None:
    async with hub.socket() as socket:
        made = await ask(socket, "session:create", cwd="/tmp", cliType="scripted", requestId="r-1")
        assert made["requestId"] == "r-1"
        session = made["ok"]["id"]
        assert "ok" in await ask(socket, "session:send", sessionId=session, content="Hello")
        assert hub.device.commands[-1].text == "Hello"
        both = await ask(socket, "session:send", sessionId=session, content="a", text="b")
        assert both["error"]["code"] == "INVALID_MESSAGE"
        # A parameter of this name stays one.
        answer = await ask(
            socket, "session:permission", sessionId=session, requestId="r-9", decision="deny", message="no"
        )
        assert "requestId" not in answer
