"""The browser's socket: every message answered, none fatal, commands in order, commands shared with HTTP."""

import asyncio
import socket

import msgspec
import pytest
from tests.hub.running_hub import RunningHub, answer, ask, entries, rest_of, until
from tests.waiting import PATIENCE

from bascule.hub.operation_table import operation_table
from bascule.model.codec import encode
from bascule.model.commands import AnswerPermission, Interrupt, SendPrompt

pytestmark = pytest.mark.anyio


def test_no_two_operations_have_one_route_or_one_message_type() -> None:
    table = operation_table()
    names = [name for operation in table.all for name in operation.names]
    routes = [(operation.method, operation.path) for operation in table.routes]
    assert len(names) == len(set(names)) == len(table.messages)
    assert len(routes) == len(set(routes))


@pytest.mark.row("A5", "R5")
async def test_a_session_is_created_opened_prompted_and_watched_over_the_socket(hub: RunningHub) -> None:
    async with hub.socket(hub.tokens["operator"]) as socket:
        made = (await ask(socket, "session:create", 1, agent="scripted", cwd="/tmp"))["ok"]
        session = made["sessionId"]
        opened = (await ask(socket, "session:open", 2, sessionId=session))["ok"]
        assert (opened["seq"], opened["session"]["status"]) == (1, "starting")
        await ask(socket, "session:subscribe", 3, sessionId=session, after=opened["seq"])
        await socket.send(encode({"type": "session:send", "sessionId": session, "text": "hi"}).decode())
        rows = await entries(socket, 2)
        assert [row["event"]["type"] for row in rows] == ["prompt_sent"]
        sent = (await ask(socket, "session:send", 4, sessionId=session, text="again"))["ok"]
        assert sent["state"] == "sent"
        assert sent["promptId"]
    command = hub.device.commands[-1]
    assert isinstance(command, SendPrompt)
    by = hub.device.asks[-1].by
    assert (by.name, by.address) == ("operator", "127.0.0.1")


@pytest.mark.row("A5")
async def test_the_first_message_names_the_session_and_the_name_is_pushed(hub: RunningHub) -> None:
    async with hub.socket(hub.tokens["operator"]) as socket:
        made = (await ask(socket, "session:create", 1, agent="scripted", cwd="/tmp"))["ok"]
        text = "Trim the wick. Then light the lamp again, and again."
        sent = {"type": "session:send", "sessionId": made["sessionId"], "text": text}
        await socket.send(encode(sent).decode())
        async with asyncio.timeout(PATIENCE):
            while (told := msgspec.json.decode(await socket.recv())).get("type") != "session:title-updated":
                pass
    assert (told["sessionId"], told["title"]) == (made["sessionId"], "Trim the wick")


@pytest.mark.row("R5")
async def test_every_list_message_on_the_socket_is_answered(hub: RunningHub) -> None:
    await hub.session("s1")
    await hub.ask_permission("s1")
    async with hub.socket() as socket:
        assert [one["session_id"] for one in (await ask(socket, "session:list"))["ok"]["sessions"]] == ["s1"]
        assert [one["name"] for one in (await ask(socket, "agents:list"))["ok"]["agents"]] == ["scripted"]
        assert [one["request_id"] for one in (await ask(socket, "requests:list"))["ok"]["requests"]] == ["r1"]
        assert [one["device"] for one in (await ask(socket, "device:list"))["ok"]["devices"]] == ["device-1"]
        assert len((await ask(socket, "grants:list"))["ok"]["grants"]) == 3
        new = (await ask(socket, "grants:create", name="tv", role="viewer"))["ok"]
        renamed = {"grantId": new["grant"]["id"], "name": "the TV"}
        assert (await ask(socket, "grants:rename", **renamed))["ok"] == {}
        assert (await ask(socket, "grants:rename", grantId="nobody", name="x"))["error"][
            "code"
        ] == "GRANT_NOT_FOUND"
        assert (await ask(socket, "grants:revoke", grantId=new["grant"]["id"]))["ok"] == {}
        assert (await ask(socket, "audit:list"))["ok"]["last"] > 0
        assert (await ask(socket, "audit:verify"))["ok"]["ok"] is True
        assert (await ask(socket, "kill-all"))["ok"]["ended"] == 2
        page = (await ask(socket, "session:events", sessionId="s1", after=1))["ok"]
        assert [one["seq"] for one in page["events"]] == [2]


async def test_a_permission_is_answered_by_the_socket_as_by_http(hub: RunningHub) -> None:
    await hub.session("s1")
    await hub.ask_permission("s1")
    async with hub.socket(hub.tokens["operator"]) as socket:
        fields = {"sessionId": "s1", "requestId": "r1", "decision": "deny", "inputSha256": "0" * 64}
        forged = await ask(socket, "session:permission", 1, **fields, updatedInput={"command": "rm"})
        assert forged["error"]["code"] == "INVALID_MESSAGE"
        assert (await ask(socket, "session:permission", 2, **fields))["ok"] == {}
        again = await ask(socket, "session:permission", 3, **fields)
        assert again["error"]["code"] == "ALREADY_ANSWERED"
        missing = await ask(socket, "session:permission", 4, **{**fields, "requestId": "nope"})
        assert missing["error"]["code"] == "REQUEST_NOT_FOUND"
        elsewhere = await ask(socket, "session:permission", 5, **{**fields, "sessionId": "nope"})
        assert elsewhere["error"]["code"] == "SESSION_NOT_FOUND"
    assert [type(command) for command in hub.device.commands] == [AnswerPermission] * 3


async def test_wishes_leave_in_the_order_they_came_though_answers_do_not_wait(hub: RunningHub) -> None:
    await hub.session("s1")
    hub.device.mute = True
    async with hub.socket() as socket:
        for n in range(20):
            await socket.send(
                msgspec.json.encode(
                    {"id": n, "type": "session:send", "sessionId": "s1", "text": str(n)}
                ).decode()
            )
        await socket.send('{"id":99,"type":"session:interrupt","sessionId":"s1"}')
        await until(lambda: len(hub.device.commands) == 21)
        assert [command.text for command in hub.device.commands[:20]] == [str(n) for n in range(20)]
        assert isinstance(hub.device.commands[20], Interrupt)
        assert "ok" in await ask(socket, "ping", 100)
        hub.device.line.closed()
        assert (await answer(socket, 99))["error"]["code"] == "DEVICE_OFFLINE"


BAD = [
    "",
    "{",
    "[]",
    "null",
    "7",
    "nonsense",
    '{"id":1}',
    '{"id":1,"type":7}',
    '{"id":1,"type":"session:fly"}',
    '{"id":"x","type":"ping"}',
    '{"id":1,"type":"session:send"}',
    '{"id":1,"type":"session:send","sessionId":"s1","text":7}',
    '{"id":1,"type":"session:send","sessionId":"s1","text":""}',
    '{"id":1,"type":"session:send","sessionId":"s1","text":"\\ud800"}',
    '{"id":1,"type":"session:subscribe","sessionId":"s1","after":-1}',
    '{"id":1,"type":"session:subscribe","sessionId":"s1","after":' + "9" * 5000 + "}",
    '{"id":1,"type":"ping","x":NaN}',
    '{"id":1,"type":"ping","x":' + "[" * 100_000 + "]" * 100_000 + "}",
]


@pytest.mark.row("A8")
async def test_malformed_messages_are_answered_and_never_fatal(hub: RunningHub) -> None:
    await hub.session("s1")
    async with hub.socket() as socket:
        for text in BAD:
            await socket.send(text)
            said = msgspec.json.decode(await asyncio.wait_for(socket.recv(), PATIENCE))
            # A bad place in a log is refused by the rule for places, whichever way it came.
            expected = "INVALID_INPUT" if '"after":-1' in text else "INVALID_MESSAGE"
            assert said["error"]["code"] == expected, text[:70]
        assert "ok" in await ask(socket, "ping", 2)


async def test_a_flood_of_malformed_messages_is_closed(hub: RunningHub) -> None:
    async with hub.socket() as socket:
        for _ in range(200):
            await socket.send("{")
        said = await rest_of(socket)
    assert socket.close_code == 1008
    assert len(said) <= 32


async def test_agent_status_is_pushed_when_a_device_goes(hub: RunningHub) -> None:
    async with hub.socket() as socket:
        await ask(socket, "ping")
        hub.device.line.closed()
        pushed = msgspec.json.decode(await asyncio.wait_for(socket.recv(), PATIENCE))
    assert pushed["type"] == "agent:status"
    assert pushed["devices"][0]["online"] is False


async def test_a_place_beyond_the_log_is_answered_by_a_resync_rather_than_silence(hub: RunningHub) -> None:
    await hub.session("s1")
    async with hub.socket() as socket:
        await socket.send('{"id":1,"type":"session:subscribe","sessionId":"s1","after":2}')
        told = msgspec.json.decode(await asyncio.wait_for(socket.recv(), PATIENCE))
        assert (told["type"], told["reason"], told["after"]) == ("resync", "ahead", 0)
        assert msgspec.json.decode(await asyncio.wait_for(socket.recv(), PATIENCE))["id"] == 1
        assert (await ask(socket, "session:subscribe", 2, sessionId="s1", after=1))["ok"]["seq"] == 1


async def test_a_large_answer_is_no_sign_of_a_slow_reader(hub: RunningHub) -> None:
    await hub.session("s1")
    for _ in range(60):
        await hub.say("s1", "x" * 100_000)
    # With small buffers of the system's, most of the answer waits in the server, on any machine.
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    narrow.setblocking(False)
    await asyncio.get_running_loop().sock_connect(narrow, ("127.0.0.1", hub.port))
    async with hub.socket(max_size=None, max_queue=1, sock=narrow) as reader:
        await ask(reader, "session:subscribe", 1, sessionId="s1", after=61)
        reader.transport.pause_reading()  # type: ignore[attr-defined]
        connection = next(iter(hub.server.server_state.connections))
        sending = connection.transport.get_extra_info("socket")
        sending.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        await reader.send('{"id":2,"type":"session:events","sessionId":"s1","limit":1000}')
        await until(lambda: connection.transport.get_write_buffer_size() > 2_000_000)
        await hub.say("s1", "meanwhile")
        await until(lambda: hub.services.feed.head("s1") == 62)
        reader.transport.resume_reading()  # type: ignore[attr-defined]
        assert len((await answer(reader, 2))["ok"]["events"]) == 61
        assert [row["seq"] for row in await entries(reader, 62)] == [62]


async def test_unsubscribe_stops_the_pushes(hub: RunningHub) -> None:
    await hub.session("s1")
    async with hub.socket() as socket:
        await ask(socket, "session:subscribe", 1, sessionId="s1", after=1)
        await ask(socket, "session:unsubscribe", 2, sessionId="s1")
        await hub.say("s1", "unheard")
        pushed = msgspec.json.decode(await asyncio.wait_for(socket.recv(), PATIENCE))
        assert pushed["type"] == "session:changed"
        assert hub.services.feed.head("s1") == 0
