"""uvicorn's HTTP protocol with limits on headers, body time and connections."""

import asyncio
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bascule.hub.wire.connection_limits import ConnectionCounter


class Refuse(Exception):
    """Raised inside a parser callback; httptools turns it into a parser error of its own."""


class BoundedHttp(HttpToolsProtocol):
    """One HTTP connection. `all_connections` is set by the server on a subclass of this."""

    all_connections: ClassVar[ConnectionCounter]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = self.all_connections.limits
        self._status = 400
        self._in_head = True
        self._head_bytes = 0
        self._message_bytes = 0
        self._header_count = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._hurried = False  # it came when there was little room, and has said nothing yet

    # What the app may ask of its connection

    def known(self) -> None:
        """A valid grant was shown on this connection."""
        self.all_connections.known(self.transport)

    def abort(self) -> None:
        """Let go of a peer that does not read, without waiting for it."""
        self.transport.abort()

    # asyncio

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        if not self.all_connections.enter(transport, address):
            self._refuse(503)
            return
        self._hurried = self.all_connections.crowded(address)
        self._arm(self._limits.first_byte_seconds if self._hurried else self._limits.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        self.all_connections.leave(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._hurried:
            self._hurried = False
            self._arm(self._limits.header_seconds)
        self._message_bytes += len(data)
        if self._message_bytes > self._limits.body_bytes + self._limits.header_bytes:
            self._refuse(413)
            return
        if self._in_head:
            if self._deadline is None:
                self._arm(self._limits.header_seconds)
            room = self._limits.header_bytes - self._head_bytes
            head, data = data[:room], data[room:]
            self._head_bytes += len(head)
            super().data_received(head)
            if not data or self.transport.is_closing() or self.transport.get_protocol() is not self:
                return
            if self._in_head:
                self._refuse(431)
                return
        super().data_received(data)

    def handle_websocket_upgrade(self) -> None:
        self._disarm()
        super().handle_websocket_upgrade()

    # Parser callbacks

    def on_message_begin(self) -> None:
        self._in_head, self._header_count = True, 0
        super().on_message_begin()
        self.scope["bascule.connection"] = self  # type: ignore[typeddict-unknown-key]

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > self._limits.target_bytes:
            self._status = 431
            raise Refuse

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_count += 1
        if self._header_count > self._limits.header_count:
            self._status = 431
            raise Refuse
        if self._in_head:  # a trailer comes too late to say anything about its request
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        # Only "/path": an absolute target would name a second host, beside the one that is checked.
        if not self.url.startswith(b"/") or not all(0x20 < byte < 0x7F for byte in self.url):
            raise Refuse
        self.all_connections.heard(self.transport)
        self._in_head, self._head_bytes = False, 0
        self._arm(self._limits.body_seconds)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._disarm()
        self._in_head, self._message_bytes = True, 0
        super().on_message_complete()

    # Refusing

    def send_400_response(self, msg: str) -> None:
        self._refuse(self._status)

    def _refuse(self, status: int) -> None:
        if self.transport.is_closing():
            return
        phrase = HTTPStatus(status).phrase
        head = f"HTTP/1.1 {status} {phrase}\r\ncontent-length: 0\r\nconnection: close\r\n"
        self.transport.write(head.encode() + b"cache-control: no-store\r\n\r\n")
        self.transport.close()
        self.loop.call_later(self._limits.linger_seconds, self.transport.abort)

    def _arm(self, seconds: float) -> None:
        self._disarm()
        self._deadline = self.loop.call_later(seconds, self._too_late)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        if self.cycle and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()
        else:
            self._refuse(408)
