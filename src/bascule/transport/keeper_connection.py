"""One socket to the keeper: sends numbered requests, matches replies, passes notices on."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import cast

import msgspec

from bascule.keeper.frames import FrameError, FrameReader, Message, decode, encode
from bascule.transport.errors import KeeperError, KeeperGone
from bascule.transport.keeper_messages import Notice

_DECODE_FAILURES = (FrameError, msgspec.DecodeError)
# Every echo of a key comes with a notice. Answers may hold names that are not quite text; `json` reads them.
_as_notice = msgspec.json.Decoder[Notice](Notice)


Answer = Message | KeeperError | KeeperGone
# Called once for each request that was posted: with None, or with the reason why it failed.
Done = Callable[[KeeperError | KeeperGone | None], None]


class FrameProtocol(asyncio.Protocol):
    def __init__(self) -> None:
        self._frames = FrameReader()
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[int, Callable[[Answer], None]] = {}
        self._last_id = 0
        self._writable = asyncio.Event()
        self._writable.set()
        self._reason = "the keeper closed the connection"
        self.on_notice: Callable[[Notice], None] | None = None
        self.closed: asyncio.Future[None] = self._loop.create_future()

    def send(self, message: Message, blob: bytes = b"") -> asyncio.Future[Message]:
        """Queue one request; the future holds its answer, or KeeperError, or KeeperGone."""
        answer: asyncio.Future[Message] = self._loop.create_future()
        self._ask(message, blob, partial(_settle, answer))
        return answer

    def post(self, message: Message, blob: bytes, answered: Callable[[Answer], None]) -> None:
        """Queue one request without a future; `answered` is called from the event loop."""
        self._ask(message, blob, partial(self._tell, answered))

    def _tell(self, answered: Callable[[Answer], None], answer: Answer) -> None:
        # Not called from here: an exception in `data_received` would close the connection.
        self._loop.call_soon(answered, answer)

    def _ask(self, message: Message, blob: bytes, answered: Callable[[Answer], None]) -> None:
        if self._transport is None or self._transport.is_closing():
            answered(KeeperGone(self._reason))
            return
        self._last_id += 1
        try:
            frame = encode({"id": self._last_id, **message}, blob)
        except FrameError as error:
            answered(KeeperError("too_large", str(error)))
            return
        self._waiting[self._last_id] = answered
        self._transport.write(frame)

    async def request(self, message: Message, blob: bytes = b"") -> Message:
        await self._writable.wait()
        return await self.send(message, blob)

    async def aclose(self) -> None:
        if self._transport is not None:
            self._reason = "the connection was closed by us"
            self._transport.close()
            await self.closed

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are transports by their methods, not by their class.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._frames.feed(data)
        try:
            while frame := self._frames.next_packed():
                self._dispatch(frame[0])
        except _DECODE_FAILURES as error:
            self._reason = f"the keeper sent something else than its protocol: {error}"
            if self._transport is not None:
                self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        abandoned, self._waiting = self._waiting, {}
        for answered in abandoned.values():
            answered(KeeperGone(self._reason))
        self._writable.set()
        if not self.closed.done():
            self.closed.set_result(None)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _dispatch(self, body: bytes) -> None:
        if body.startswith(b'{"notice":'):
            if self.on_notice is not None:
                self.on_notice(_as_notice.decode(body))
            return
        message = decode(body)
        answered = self._waiting.pop(message.get("id", 0), None)
        if answered is None:
            return
        if "error" in message:
            answered(KeeperError(str(message["error"]), str(message.get("message", ""))))
        else:
            answered(cast(Message, message.get("ok", {})))


def _settle(future: "asyncio.Future[Message]", answer: Answer) -> None:
    if future.done():
        # Its asker was cancelled; the keeper did it all the same, and asking again by id is safe.
        return
    if isinstance(answer, KeeperError | KeeperGone):
        future.set_exception(answer)
    else:
        future.set_result(answer)
