"""Faults of ours, forced and provoked: a short id and a sentence outside, everything else in the log only."""

import asyncio
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.hub.running_hub import RunningHub, ask, raw_exchange, status_of
from tests.hub.scripted_device import append
from tests.hub.valid_parameters import message_of, parameters_of, path_of
from tests.waiting import PATIENCE
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from bascule.hub.calls.operation import Operation
from bascule.hub.operation_table import operation_table
from bascule.model.events import SessionStarted
from bascule.store.grants import Grant

pytestmark = pytest.mark.anyio

ROWS = operation_table().routes
HTTP = [row for row in ROWS if row.method != "WS"]
SOCKETS = [row for row in ROWS if row.method == "WS"]
MESSAGES = operation_table().messages
INSIDE = "canary-of-the-inside"
FAULT = re.compile(r"fault ([0-9a-f]{8})")


class Broken(Exception):
    pass


async def boom(*_: object, **__: object) -> Any:
    raise Broken(INSIDE)


@contextmanager
def broken(hub: RunningHub) -> Iterator[None]:
    """Every handler of the running app raises."""
    operations: list[Operation] = list(hub.app.table.all)
    kept = [operation.run for operation in operations]
    for operation in operations:
        object.__setattr__(operation, "run", boom)
    try:
        yield
    finally:
        for operation, run in zip(operations, kept, strict=True):
            object.__setattr__(operation, "run", run)


def logged_faults(caplog: pytest.LogCaptureFixture) -> set[str]:
    """The ids in the log, each in one record that has the traceback beside it."""
    found = [(FAULT.search(one.getMessage()), one) for one in caplog.records]
    faults = [match[1] for match, record in found if match is not None and record.exc_info]
    assert len(faults) == len(set(faults))
    return set(faults)


def fault_in(words: str) -> str:
    assert INSIDE not in words
    assert "Broken" not in words
    assert "Traceback" not in words
    found = FAULT.search(words)
    assert found, words
    return found[1]


@pytest.mark.row("S62", "X6")
async def test_every_handler_that_fails_answers_with_an_id_from_the_log(
    hub: RunningHub, caplog: pytest.LogCaptureFixture
) -> None:
    await hub.session("s1")
    told: list[str] = []
    with broken(hub):
        async with hub.client(hub.tokens["owner"]) as client:
            for row in HTTP:
                given = parameters_of(row)
                sent = {"params": given} if row.method == "GET" else {"json": given}
                answer = await client.request(row.method, path_of(row), **sent)
                assert answer.status_code == 500, (row.method, row.path, answer.text)
                error = answer.json()["error"]
                assert set(error) == {"code", "message", "fault"}
                assert error["code"] == "INTERNAL_ERROR"
                told.append(fault_in(error["message"]))
                assert error["fault"] == told[-1]
    assert len(set(told)) == len(HTTP)
    assert set(told) == logged_faults(caplog)


@pytest.mark.row("S62", "X6")
async def test_every_socket_that_fails_to_open_is_refused_with_an_id_from_the_log(
    hub: RunningHub, caplog: pytest.LogCaptureFixture
) -> None:
    await hub.session("s1")
    await hub.trust("daemon", "daemon", device="device-2")
    key = "the key that nodes show each other"
    hub.grants.admit(key, Grant("node", "another node", "node", "ephemeral", 0.0))
    told: list[str] = []
    with broken(hub):
        for row in SOCKETS:
            token = {**hub.tokens, "node": key}.get(row.need, hub.tokens["owner"])
            with pytest.raises(InvalidStatus) as refused:
                async with hub.socket(token, path_of(row)):
                    pass
            assert refused.value.response.status_code == 500, row.path
            told.append(fault_in((refused.value.response.body or b"").decode()))
    assert len(set(told)) == len(SOCKETS) == len(ROWS) - len(HTTP)
    assert set(told) == logged_faults(caplog)


@pytest.mark.row("S62", "X6")
async def test_every_message_whose_handler_fails_is_answered_with_an_id_from_the_log(
    hub: RunningHub, caplog: pytest.LogCaptureFixture
) -> None:
    await hub.session("s1")
    told: list[str] = []
    async with hub.socket() as socket:
        with broken(hub):
            for number, (name, operation) in enumerate(MESSAGES.items()):
                error = (await ask(socket, name, number, **message_of(operation)))["error"]
                assert error["code"] == "INTERNAL_ERROR", (name, error)
                told.append(fault_in(error["message"]))
    assert len(set(told)) == len(MESSAGES)
    assert set(told) == logged_faults(caplog)


@pytest.mark.row("S62")
async def test_a_socket_message_that_breaks_is_answered_with_its_id_and_the_socket_goes_on(
    hub: RunningHub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await hub.session("s1")
    told: set[str] = set()
    async with hub.socket() as socket:
        monkeypatch.setattr(hub.store, "session", boom)
        shown = await ask(socket, "session:show", sessionId="not in memory")
        told.add(fault_in(shown["error"]["message"]))
        monkeypatch.undo()
        monkeypatch.setattr(hub.store, "list_sessions", boom)
        listed = await ask(socket, "session:list", 2)
        assert listed["error"]["code"] == "INTERNAL_ERROR"
        told.add(fault_in(listed["error"]["message"]))
        monkeypatch.undo()
        monkeypatch.setattr(hub.store, "read", boom)
        await socket.send('{"id":3,"type":"session:subscribe","sessionId":"s1","after":0}')
        async with asyncio.timeout(PATIENCE):
            while '"type":"error"' not in (said := str(await socket.recv())):
                pass
        told.add(fault_in(said))
        monkeypatch.undo()
        assert "ok" in await ask(socket, "ping", 4)
    assert told == logged_faults(caplog)


@pytest.mark.row("S62")
async def test_a_stream_that_breaks_ends_with_an_error_and_its_id(
    hub: RunningHub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await hub.session("s1")
    monkeypatch.setattr(hub.store, "read", boom)
    async with (
        hub.client(hub.tokens["owner"]) as client,
        client.stream("GET", "/api/sessions/s1/stream") as stream,
    ):
        body = (await stream.aread()).decode()
    assert "event: error" in body
    assert {fault_in(body)} == logged_faults(caplog)


@pytest.mark.row("S62")
async def test_a_terminal_that_breaks_while_it_is_shown_says_its_id_and_closes(
    hub: RunningHub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun = SessionStarted(agent="shell", driver="terminal", cwd="/tmp", by="ana", cols=80, rows=24)
    await append(hub.store, "t1", begun)

    class BrokenTape:
        base = end = 0
        over = False
        tail = read = staticmethod(boom)

        def close(self) -> None: ...

    class Tapes:
        async def open(self, *_: object, **__: object) -> BrokenTape:
            return BrokenTape()

    monkeypatch.setattr(hub.services.switchboard, "tapes", lambda _: Tapes())
    headers = {"authorization": f"Bearer {hub.tokens['owner']}"}
    url = f"ws://127.0.0.1:{hub.port}/ws/terminal/t1?after=tail"
    async with connect(url, additional_headers=headers, proxy=None) as socket:
        told = fault_in(str(await asyncio.wait_for(socket.recv(), PATIENCE)))
        await asyncio.wait_for(socket.wait_closed(), PATIENCE)
        assert (socket.close_code, socket.close_reason) == (1011, f"fault {told}")
    assert {told} == logged_faults(caplog)


@pytest.mark.row("B10")
async def test_a_text_that_is_too_long_is_413_with_its_length_and_what_to_do(hub: RunningHub) -> None:
    session = await hub.session("s1")
    words = "The message is 2,000,000 characters long; at most 1,048,576 fit. Attach a file or split it."
    async with hub.client(hub.tokens["owner"]) as client:
        answer = await client.post(f"/api/sessions/{session}/send", json={"text": "x" * 2_000_000})
        assert answer.status_code == 413
        assert answer.json()["error"] == {"code": "BODY_TOO_LARGE", "message": words}
        made = await client.post("/api/sessions", json={"prompt": "x" * 2_000_000})
        assert (made.status_code, made.json()["error"]["message"]) == (413, words)
        named = await client.post(f"/api/sessions/{session}/title", json={"title": "x" * 501})
        assert named.json()["error"]["message"] == "`title` is 501 characters long; at most 500 fit."
    async with hub.socket() as socket:
        sent = await ask(socket, "session:send", sessionId=session, text="x" * 2_000_000)
        assert sent["error"]["message"] == words


@pytest.mark.row("B10")
async def test_who_may_not_is_told_who_may(hub: RunningHub) -> None:
    await hub.session("s1")
    own = await hub.trust("own", "session", session_id="s1")
    guest = await hub.trust("guest", "viewer", session_id="s1")
    expected = [
        (own, "/api/sessions/s1/resume", "the owner and operators", "one session's own"),
        (guest, "/api/sessions/s1/send", "the session's own token", "a link to read one session"),
        (hub.tokens["viewer"], "/api/sessions/s1/send", "operators", "a viewer's"),
        (hub.tokens["operator"], "/api/grants", "Only the owner may", "an operator's"),
    ]
    for token, path, who, whose in expected:
        async with hub.client(token) as client:
            answer = await client.post(path, json={})
        assert answer.status_code == 403, (path, answer.text)
        said = answer.json()["error"]["message"]
        assert who in said
        assert whose in said
    async with hub.socket(hub.tokens["viewer"]) as socket:
        said = (await ask(socket, "kill-all"))["error"]["message"]
        assert said.startswith("Only the owner may do this; this token is a viewer's.")


@pytest.mark.row("S62")
async def test_a_fault_in_the_access_check_is_answered_like_any_other(
    hub: RunningHub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken_door(*_: object) -> Any:
        raise Broken(INSIDE)

    monkeypatch.setattr(hub.grants, "authenticate", broken_door)
    async with hub.client("anything") as client:
        answer = await client.get("/api/sessions")
    assert answer.status_code == 500
    assert {fault_in(answer.text)} == logged_faults(caplog)


QUERIES = [
    "&".join(f"a{n}" for n in range(51)),
    "&".join(f"a{n}=b" for n in range(2000)),
    "%",
    "%zz=%",
    "%ff=%fe",
    "%00",
    "token",
    "token=%",
    "token=" + "a" * 7000,
    "ticket=%ed%a0%80",
    "token=a&token=b&ticket=c",
    "after=-1&limit=x&q=%00",
    "after=99999999999999999999999999",
    "after=" + "9" * 5000,
    ";" * 1000,
    "a" * 7900,
    "=&=&=",
    "__proto__=1&constructor=2",
]
HEADERS = [
    "Authorization: Bearer",
    "Authorization: Bearer " + "x" * 5000,
    "Authorization: Bearer \xff\xfe",
    "Authorization: Basic Og==",
    "Authorization: a\r\nAuthorization: b",
    "Cookie: " + "a=b; " * 500,
    "Cookie: \xff=\xfe; token=x",
    "Content-Type: \xff",
    "Content-Type: application/json; charset=\xff",
    "Content-Type: multipart/form-data",
    "Content-Type: text/plain",
    "Content-Encoding: gzip",
    "Accept-Encoding: gzip;q=x, \xff",
    "If-None-Match: \xff",
    "Range: bytes=5-1",
    "Last-Event-ID: \xff",
    "Last-Event-ID: -5",
    "Idempotency-Key: \xff",
    "Idempotency-Key: " + "k" * 500,
    "User-Agent: " + "u" * 5000,
    "Origin: null",
    "Origin: \xff",
    "Sec-WebSocket-Protocol: \xff",
    "Expect: 100-continue",
    "Content-Length: 2",
]
PATHS = [
    "//",
    "/..%2f",
    "/%",
    "/%00",
    "/%ff",
    "/assets/%2e%2e/x",
    "/api/sessions/%ed%a0%80",
    "/s/" + "a" * 5000,
]


@pytest.mark.row("F10", "S62", "X6")
async def test_no_request_without_a_token_causes_a_server_fault(
    hub: RunningHub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    host = f"Host: 127.0.0.1:{hub.port}"
    upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    upgrade += "Sec-WebSocket-Version: 13\r\n"
    gate = asyncio.Semaphore(16)

    async def send(method: str, target: str, line: str = "X: y", body: str = "") -> None:
        close = "" if "Upgrade" in line else "Connection: close\r\n"
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        request = f"{method} {target} HTTP/1.1\r\n{host}\r\n{line}\r\n{length}{close}\r\n{body}"
        async with gate:
            got = await raw_exchange(hub.port, request.encode("latin-1"))
        assert 0 < status_of(got) < 500, (method, target[:80], line[:80], got[:300])

    commands = []
    for row in ROWS:
        path = re.sub(r"\{\w+\}", "s1", row.path)
        if row.method == "WS":
            commands += [
                send("GET", f"{path}?{query}", upgrade.removesuffix("\r\n")) for query in QUERIES[:12]
            ]
            continue
        # Each odd thing meets each route once, the public ones all of them.
        odd = row.need == "public"
        for n, query in enumerate(QUERIES):
            if odd or n % 3 == len(commands) % 3 or n == 0:
                commands.append(send(row.method, f"{path}?{query}"))
        for n, line in enumerate(HEADERS):
            if odd or n % 5 == len(commands) % 5:
                body = "{}" if line == "Content-Length: 2" else ""
                commands.append(send(row.method, path, "X: y" if body else line, body))
    commands += [send(method, path) for path in PATHS for method in ("GET", "POST", "DELETE", "PUT", "HEAD")]
    await asyncio.gather(*commands)
    assert not [one.getMessage() for one in caplog.records if one.exc_info or one.levelno >= logging.ERROR]


@pytest.mark.row("F10")
async def test_a_query_of_51_parameters_is_refused_in_words(hub: RunningHub) -> None:
    async with hub.client() as client:
        for path in ("/health", "/"):
            answer = await client.get(f"{path}?{QUERIES[0]}")
            assert answer.status_code == 400
            assert answer.json()["error"]["message"] == "The address has more than 50 parameters."
