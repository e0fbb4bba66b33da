"""Follows sessions' logs: each is one sequence of entries, across lost connections."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Any, TypeVar

import msgspec

from bascule.api.session_answers import Subscribed
from bascule.client.address import Unreachable
from bascule.client.event_stream import EventStream
from bascule.client.server_connection import Incoming, entries_of
from bascule.model.codec import Logged
from bascule.model.errors import BasculeError, InvalidInput

FIRST_DELAY, LAST_DELAY = 1.0, 30.0
STARTS_OVER = ("replaced", "ahead")  # why a reader can't go on from where it is
REPLACED = "The log on this machine was replaced; this view was loaded again."

T = TypeVar("T")


def delays() -> Iterator[float]:
    """Exponential backoff with jitter: 1, 2, 4 … 30 s, each ±20 %."""
    delay = FIRST_DELAY
    while True:
        yield delay * random.uniform(0.8, 1.2)
        delay = min(delay * 2, LAST_DELAY)


def decoded(kind: str, reply: bytes, result: type[T]) -> T:
    try:
        return msgspec.json.decode(reply, type=result)
    except msgspec.MsgspecError as error:
        raise BasculeError(f"The server's answer to {kind} was not understood: {error}") from error


class LogFollower:
    """Each session at most once. `look_again` is called before each new try to connect."""

    def __init__(
        self,
        request: Callable[[str, dict[str, Any]], Awaitable[bytes]],
        unsubscribe: Callable[[str], Awaitable[None]],
        look_again: Callable[[], None],
    ) -> None:
        self._request = request
        self._unsubscribe = unsubscribe
        self._look_again = look_again
        self._streams: dict[str, EventStream] = {}

    def pushed(self, frame: Incoming) -> None:
        """Called by the connection for what comes without being asked for."""
        stream = self._streams.get(frame.session_id)
        if stream is None:
            return
        if frame.type == "session:events":
            stream.put(entries_of(frame))
        elif frame.type == "resync" and frame.reason in STARTS_OVER:
            stream.start_over(frame.epoch)
        elif frame.type == "resync":
            stream.end()

    def end_all(self) -> None:
        """Called when the connection is lost."""
        for stream in self._streams.values():
            stream.end()

    async def follow(
        self, session_id: str, after: int, epoch: str, on_resync: Callable[[str], None], patience: float
    ) -> AsyncGenerator[Logged, None]:
        """As `Client.events` describes it."""
        if session_id in self._streams:
            raise InvalidInput(f"This client already follows session {session_id}.")
        last, gap_at = after, -1
        waits, lost_since = delays(), time.monotonic()
        try:
            while True:
                self._streams[session_id] = stream = EventStream()
                trouble = await self._subscribe(session_id, last, epoch, stream)
                epoch = stream.epoch or epoch
                began = last
                async for logged in stream:
                    if logged.seq > last + 1:
                        if gap_at == last:
                            raise BasculeError(f"The server skips entries after {last} of {session_id}.")
                        gap_at = last
                        break
                    if logged.seq == last + 1:
                        last = logged.seq
                        yield logged
                if stream.replaced:
                    last, gap_at, epoch = 0, -1, stream.epoch
                    on_resync(REPLACED)
                if trouble is None or last > began:
                    waits, lost_since = delays(), time.monotonic()
                elif time.monotonic() - lost_since > patience:
                    raise trouble
                else:
                    await self._pause(next(waits), patience - (time.monotonic() - lost_since))
        finally:
            self._streams.pop(session_id, None)
            await self._unsubscribe(session_id)

    async def _subscribe(
        self, session_id: str, after: int, epoch: str, stream: EventStream
    ) -> Unreachable | None:
        """Ask for the entries after `after`. Those that came before the connection broke still count."""
        fields = {"sessionId": session_id, "after": after, "epoch": epoch or None}
        try:
            answer = await self._request("session:subscribe", fields)
        except Unreachable as error:
            stream.end()
            return error
        stream.epoch = stream.epoch or decoded("session:subscribe", answer, Subscribed).epoch
        return None

    async def _pause(self, delay: float, left: float) -> None:
        """Wait before the next try."""
        await asyncio.sleep(min(delay, max(left, 0.05)))
        self._look_again()
