"""Streams one session as server-sent events, past and live; drops a reader that stalls."""

import asyncio
import logging
from asyncio import FIRST_COMPLETED
from collections import deque

from bascule.hub.calls.call import AnyCall
from bascule.hub.door.open_streams import Ending
from bascule.hub.door.roles import sees_scrubbed
from bascule.hub.feed.feed import Delivery, Encoder, Subscription
from bascule.hub.feed.positions import Position, session_tag
from bascule.hub.live.chat_events import ChatError, resync_message, sse_encoder, sse_message, status_now
from bascule.hub.live.scrubbed import ScrubbedOutlet
from bascule.model.codec import encode
from bascule.model.errors import BasculeError
from bascule.model.faults import report
from bascule.model.records import SessionRecord

log = logging.getLogger("bascule.hub")

MAX_UNSENT = 1024 * 1024
LAST_WORDS_SECONDS = 1.0
BEHIND_SECONDS = 60.0  # for a slow reader to get through what it was sent, to the word where to go on
KEEP_ALIVE_SECONDS = 15.0
HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]


class _Reader:
    """One SSE reader's bounded outbox. Filled without waiting, emptied at the reader's pace."""

    def __init__(self, after: int, session_id: str, epoch: str, encoder: Encoder) -> None:
        self.position = after
        self._session_id = session_id
        self._epoch = epoch
        self._encoder = encoder
        self.over: bytes | None = None  # the last words, once there is a reason to stop
        self.patience = LAST_WORDS_SECONDS
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self.stopped = asyncio.Event()
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    def deliver(self, delivery: Delivery) -> None:
        if self.over is not None:
            return
        if self._size > MAX_UNSENT:
            self.patience = BEHIND_SECONDS
            data = {"after": self.position, "epoch": self._epoch, "reason": "slow"}
            self.stop(sse_message("resync", encode(data)))
            return
        self.position = delivery.last
        self.put(delivery.form(self._encoder))

    def put(self, chunk: bytes) -> None:
        self._waiting.append(chunk)
        self._size += len(chunk)
        self._room.clear()
        self._changed.set()

    async def ready(self) -> None:
        await self._room.wait()

    def stop(self, last_words: bytes) -> None:
        if self.over is None:
            self.over = last_words
            self.stopped.set()
            self._changed.set()

    def start_over(self, epoch: str) -> None:
        """The log was begun again. A browser comes back by itself, and reads from the beginning."""
        self.stop(resync_message("replaced", epoch, session_tag(epoch, self._session_id)))

    def end(self, ending: Ending) -> None:
        self.stop(sse_message(ending.value, b"{}"))

    async def take(self) -> bytes:
        """All that waits; a comment when there was nothing for a while."""
        if not self._waiting and self.over is None:
            self._room.set()
            self._changed.clear()
            try:
                async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                return b": still here\n\n"
        chunk = b"".join(self._waiting)
        self._waiting.clear()
        self._size = 0
        return chunk


async def stream_session(call: AnyCall, record: SessionRecord, place: Position) -> None:
    """Runs until the reader goes, is revoked, falls too far behind, or the server ends."""
    record = await call.hub.feed.records.reaching(record, place.seq)
    epoch = call.hub.epoch_of(record)
    tag = session_tag(epoch, record.session_id)
    lost = place.lost(epoch, record.session_id, record.seq)
    after = 0 if lost else place.seq
    reader = _Reader(after, record.session_id, epoch, sse_encoder(tag))
    leave = call.hub.open_streams.enter(call.holder, reader.end)
    outlet = ScrubbedOutlet(reader) if sees_scrubbed(call.holder) else reader
    subscription = call.hub.feed.subscribe(record.session_id, after, outlet)
    forget = call.hub.feed.on_begun_again(record.session_id, reader.start_over)
    await call.send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    reader.put(b"retry: 1000\n\n" + (resync_message(lost, epoch, tag) if lost else b"") + status_now(record))
    tasks = [
        asyncio.create_task(_catch_up(subscription, reader), name=f"sse catch-up {record.session_id}"),
        asyncio.create_task(_write(call, reader), name=f"sse writer {record.session_id}"),
        asyncio.create_task(_until_gone(call), name=f"sse listener {record.session_id}"),
        asyncio.create_task(_until_over(reader), name=f"sse stop {record.session_id}"),
    ]
    try:
        await _run(call, reader, tasks)
    finally:
        leave()
        forget()
        subscription.close()
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                log.error("A stream of session %s broke", record.session_id, exc_info=outcome)


async def _catch_up(subscription: Subscription, reader: _Reader) -> None:
    try:
        await subscription.catch_up()
    except BasculeError as error:
        reader.stop(sse_message("error", encode(ChatError(error.message))))
    except Exception as error:  # noqa: BLE001 - answered with an id, and nothing of the inside
        refusal = report(log, f"a stream of session {subscription.session_id}", error)
        reader.stop(sse_message("error", encode(ChatError(refusal.message))))


async def _run(call: AnyCall, reader: _Reader, tasks: list["asyncio.Task[None]"]) -> None:
    _, writer, listener, stopper = tasks
    await asyncio.wait([writer, listener, stopper], return_when=FIRST_COMPLETED)
    if stopper.done() and not writer.done():
        # A moment for the last words; a reader that takes nothing is cut off.
        await asyncio.wait([writer, listener], timeout=reader.patience, return_when=FIRST_COMPLETED)
    if not writer.done() and not listener.done():
        call.scope["bascule.connection"].abort()


async def _write(call: AnyCall, reader: _Reader) -> None:
    while True:
        chunk = await reader.take()
        if reader.over is not None:
            await call.send({"type": "http.response.body", "body": chunk + reader.over, "more_body": False})
            return
        await call.send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _until_gone(call: AnyCall) -> None:
    while (await call.receive())["type"] != "http.disconnect":
        pass


async def _until_over(reader: _Reader) -> None:
    await reader.stopped.wait()
