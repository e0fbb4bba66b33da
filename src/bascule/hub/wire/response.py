"""HTTP responses as ASGI messages: whole ones, and those that are written part by part."""

import asyncio
from collections.abc import AsyncIterator, Mapping

from bascule.hub.wire.asgi_types import Message, Receive, Scope, Send

WITHOUT_LENGTH = (204, 304)  # statuses that have no body, and say nothing about one


class Response:
    """A whole response. A WebSocket that is not accepted is answered with it as well."""

    media_type: str | None = None

    def __init__(
        self,
        content: bytes | str = b"",
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        media_type: str | None = None,
    ) -> None:
        self.status = status
        self.body = content if isinstance(content, bytes) else content.encode()
        self.headers = _encoded(headers or {}, media_type or self.media_type)
        if status not in WITHOUT_LENGTH:
            self.headers.append((b"content-length", b"%d" % len(self.body)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The extension with which a server lets an app answer a handshake that it declines.
        kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
        await send({"type": f"{kind}.start", "status": self.status, "headers": self.headers})
        await send({"type": f"{kind}.body", "body": self.body})


class StreamedResponse(Response):
    """Its parts are written as they come, until there are no more or the client has gone."""

    def __init__(self, parts: AsyncIterator[bytes], headers: Mapping[str, str], media_type: str) -> None:
        super().__init__()
        self.headers = _encoded(headers, media_type)
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        writing = asyncio.create_task(self._write(send), name="write a response")
        leaving = asyncio.create_task(_client_leaves(receive), name="wait for a client to leave")
        try:
            await asyncio.wait((writing, leaving), return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                writing.result()
        finally:
            leaving.cancel()
            writing.cancel()
            await asyncio.gather(writing, leaving, return_exceptions=True)

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        async for part in self._parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _client_leaves(receive: Receive) -> None:
    message: Message = {"type": ""}
    while message["type"] != "http.disconnect":
        message = await receive()


def _encoded(headers: Mapping[str, str], media_type: str | None) -> list[tuple[bytes, bytes]]:
    encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    if media_type is not None:
        charset = "; charset=utf-8" if media_type.startswith("text/") and "charset=" not in media_type else ""
        encoded.append((b"content-type", f"{media_type}{charset}".encode("latin-1")))
    return encoded
