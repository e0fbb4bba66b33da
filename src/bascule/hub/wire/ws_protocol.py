"""uvicorn's WebSocket protocol with limits, and one shared frame for many viewers."""

import asyncio
import struct
from collections.abc import Callable
from typing import Any, ClassVar

from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request

from bascule.hub.wire.connection_limits import ConnectionCounter
from bascule.policy.token_bucket import TokenBucket

PIECE = 4096  # bytes that one socket may have looked at before another's turn


def text_frame(payload: bytes) -> bytes:
    """A whole unmasked text frame: what a server sends is the same bytes for every client."""
    return _head(0x81, len(payload)) + payload


def binary_frame(payload: bytes) -> bytes:
    return _head(0x82, len(payload)) + payload


def tape_frame(offset: int, payload: bytes) -> bytes:
    """A whole binary frame: eight bytes that say where on the tape the rest belongs, then the rest."""
    return b"".join((_head(0x82, len(payload) + 8), struct.pack("!Q", offset), payload))


def _head(kind: int, size: int) -> bytes:
    if size < 126:
        return struct.pack("!BB", kind, size)
    if size < 0x10000:
        return struct.pack("!BBH", kind, 126, size)
    return struct.pack("!BBQ", kind, 127, size)


def _is_utf8(frames: list[bytes]) -> bool:
    try:
        b"".join(frames).decode()
    except UnicodeDecodeError:
        return False
    return True


class BoundedSocket(WebSocketsSansIOProtocol):
    """One WebSocket. Its transport's own buffer is the viewer's outbox: shared bytes, counted, bounded."""

    all_connections: ClassVar[ConnectionCounter]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn.debug = False  # at debug level the library would log headers, and with them secrets
        self._backlog = b""  # read from the peer, and not looked at yet
        self._feeding: asyncio.Handle | None = None
        limits = self.all_connections.limits
        self._pings = TokenBucket(limits.pings_per_minute, limits.pings_per_minute, self.loop.time)
        self._deaf = False  # what it still sends is thrown away unread
        # Called with each message as it arrives; one that it does not take (False) is queued for the app.
        self.take: Callable[[str | bytes], bool] | None = None

    # What the app may ask of its connection

    def known(self) -> None:
        """A valid grant was shown on this connection."""
        self.all_connections.known(self.transport)

    @property
    def is_ready(self) -> bool:
        """Whether the peer has read nearly all we sent."""
        return self.writable.is_set()

    @property
    def unsent(self) -> int:
        return self.transport.get_write_buffer_size()

    @property
    def gone(self) -> bool:
        return self.disconnected or self.close_sent or self.transport.is_closing()

    def write_frame(self, frame: bytes) -> None:
        """A frame made by `text_frame` or `tape_frame`. Never waits: look at `unsent` first."""
        if not self.gone:
            self.transport.write(frame)

    async def ready(self) -> None:
        """Wait until the peer has read nearly all we sent."""
        await self.writable.wait()

    def end(self, code: int, reason: str, *, seconds: float | None = None) -> None:
        """Send a close frame; abort the connection after `seconds` if the peer does not answer."""
        if self.gone:
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        patience = self.all_connections.limits.linger_seconds if seconds is None else seconds
        self.close_timer = self.loop.call_later(patience, self.transport.abort)

    def abort(self) -> None:
        self.transport.abort()

    # Bounds

    def connection_lost(self, exc: Exception | None) -> None:
        self.all_connections.leave(self.transport)
        self._backlog = b""
        self.take = None
        if self._feeding is not None:
            self._feeding.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A little at a time: a read may hold tens of thousands of frames, and others wait their turn."""
        self._backlog += data
        if self._feeding is None:
            self._feed()

    def _feed(self) -> None:
        self._feeding = None
        piece, self._backlog = self._backlog[:PIECE], self._backlog[PIECE:]
        if self._deaf or self.transport.is_closing():
            self._backlog = b""
            return
        super().data_received(piece)
        if self._backlog:
            self._hold()
            self._feeding = self.loop.call_soon(self._feed)
        elif self.read_paused and self.queue.empty():
            self._resume()

    def _hold(self) -> None:
        if not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()

    def _resume(self) -> None:
        self.read_paused = False
        if not self.transport.is_closing():
            self.transport.resume_reading()

    async def receive(self) -> ASGIReceiveEvent:
        message = await self.queue.get()
        if self.read_paused and self.queue.empty() and not self._backlog:
            self._resume()
        return message

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_utf8(self.frames):
            self.frames = []
            self.all_connections.not_text.add(self.client[0] if self.client else "")
            self.conn.send_close(1007, "a text message that is not UTF-8")
            self.handle_parser_exception()
            return
        if self._is_taken():
            self.frames = []
        else:
            super().send_receive_event_to_app()

    def _is_taken(self) -> bool:
        """Never ahead of a message that is queued, nor after our goodbye."""
        if self.take is None or self.close_sent or not self.queue.empty():
            return False
        data = self.frames[0] if len(self.frames) == 1 else b"".join(self.frames)
        return self.take(data.decode() if self.curr_msg_data_type == "text" else data)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):
            self.scope["bascule.connection"] = self  # type: ignore[typeddict-unknown-key]

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        # Without this a refused upgrade would be logged as an app that forgot its handshake.
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True

    def handle_cont(self, event: Frame) -> None:
        if self.close_sent:
            return  # what still comes after our goodbye is not kept
        super().handle_cont(event)
        if len(self.frames) > self.all_connections.limits.fragments:
            self.frames = []
            self.end(1009, "too many fragments")

    def handle_ping(self) -> None:
        # A peer that pings and never reads would fill our buffer with pongs.
        if self.unsent > self.all_connections.limits.unsent_bytes:
            self.transport.abort()
            return
        if self._may_ping():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        if self._may_ping():
            super().handle_pong(event)

    def _may_ping(self) -> bool:
        """Rate limit on pings and pongs; a peer that exceeds it is dropped."""
        if self._pings.take():
            return True
        self.end(1008, "too many pings")
        self._deaf = True
        return False

    def handle_parser_exception(self) -> None:
        super().handle_parser_exception()
        self._abort_later()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._abort_later()

    def shutdown(self) -> None:
        super().shutdown()
        self._abort_later()

    def _abort_later(self) -> None:
        self.loop.call_later(self.all_connections.limits.linger_seconds, self.transport.abort)
