"""Responses as ASGI messages: whole ones, declined handshakes, and streams whose client leaves."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.waiting import PATIENCE

from bascule.hub.wire.asgi_types import Message
from bascule.hub.wire.response import Response, StreamedResponse

pytestmark = pytest.mark.anyio


class Client:
    """Stays until `leave` is set, and notes what it is sent."""

    def __init__(self) -> None:
        self.leave = asyncio.Event()
        self.got: list[Message] = []

    async def receive(self) -> Message:
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.got.append(message)

    async def ask(self, response: Response, kind: str = "http") -> list[Message]:
        scope: dict[str, Any] = {"type": kind}
        await asyncio.wait_for(response(scope, self.receive, self.send), PATIENCE)
        return self.got


@pytest.mark.parametrize(
    ("response", "status", "headers"),
    [
        (Response(b"ok", media_type="text/plain"), 200, {b"content-type": b"text/plain; charset=utf-8"}),
        (
            Response("ü", 404, {"X-A": "b"}, "text/css; charset=x"),
            404,
            {b"content-type": b"text/css; charset=x"},
        ),
        (Response(b"", 304, {}, "text/html"), 304, {b"content-type": b"text/html; charset=utf-8"}),
        (Response(b"", 204), 204, {}),
    ],
    ids=["plain", "with headers", "not modified", "no content"],
)
async def test_a_whole_response_has_its_length_unless_its_status_has_no_body(
    response: Response, status: int, headers: dict[bytes, bytes]
) -> None:
    start, body = await Client().ask(response)
    expected = headers if status in (204, 304) else {**headers, b"content-length": b"2"}
    expected |= {b"x-a": b"b"} if status == 404 else {}
    assert (start["type"], start["status"], dict(start["headers"])) == (
        "http.response.start",
        status,
        expected,
    )
    assert (body["type"], len(body["body"])) == ("http.response.body", 0 if status in (204, 304) else 2)


async def test_a_handshake_that_is_declined_is_answered_with_the_extension() -> None:
    start, body = await Client().ask(Response(b"no", 403), "websocket")
    assert (start["type"], start["status"]) == ("websocket.http.response.start", 403)
    assert body == {"type": "websocket.http.response.body", "body": b"no"}


async def test_a_stream_ends_with_an_empty_part() -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"one"
        yield b"two"

    start, *rest = await Client().ask(StreamedResponse(parts(), {"x-a": "b"}, "text/html"))
    assert dict(start["headers"]) == {b"x-a": b"b", b"content-type": b"text/html; charset=utf-8"}
    assert [(one["body"], one.get("more_body", False)) for one in rest] == [
        (b"one", True),
        (b"two", True),
        (b"", False),
    ]


async def test_a_stream_stops_when_its_client_leaves() -> None:
    client, stopped = Client(), asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"more"
                client.leave.set()
                await asyncio.sleep(0)
        finally:
            stopped.set()

    await client.ask(StreamedResponse(endless(), {}, "text/plain"))
    assert stopped.is_set()
    assert client.got[-1]["more_body"]


async def test_a_stream_that_breaks_says_so() -> None:
    async def breaks() -> AsyncIterator[bytes]:
        yield b"one"
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await Client().ask(StreamedResponse(breaks(), {}, "text/plain"))
