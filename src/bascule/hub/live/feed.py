"""The feed: delivers every commit to all subscribers, encoded once, without waiting for a slow one.

A viewer first reads what it lacks from the store at its own pace; the moment it holds everything the feed
has heard of, it goes live. Between that check and the switch nothing is awaited, so no row falls between.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from bascule.api.answers import RequestView, View
from bascule.hub.api.views import request_view, session_view
from bascule.model.codec import encode
from bascule.model.records import RequestRecord, SessionRecord
from bascule.store.base import Committed, EventStore, Row

PAGE_ROWS = 256
PIECE_BYTES = 256 * 1024

Encoder = Callable[["Delivery"], bytes]


class RequestChanged(View, frozen=True, kw_only=True, tag="requests:changed"):
    """A request was opened, answered, delivered or withdrawn: the push that keeps an inbox up to date."""

    session_id: str
    request_id: str
    open: int  # requests of this session that still wait for an answer
    gone: bool  # it does not wait any more: no list has it
    request: RequestView


class Delivery:
    """Some rows of one session on their way out; each wire form is made once, for all viewers."""

    def __init__(self, session_id: str, rows: Sequence[Row]) -> None:
        self.session_id = session_id
        self.rows = rows
        self.first, self.last = rows[0].seq, rows[-1].seq
        self._forms: dict[Encoder, bytes] = {}

    def form(self, encoder: Encoder) -> bytes:
        made = self._forms.get(encoder)
        if made is None:
            made = self._forms[encoder] = encoder(self)
        return made

    def after(self, seq: int) -> "Delivery":
        return Delivery(self.session_id, [row for row in self.rows if row.seq > seq])


class Outlet(Protocol):
    """Where a viewer's rows go. `deliver` never waits; `ready` waits until there is room."""

    def deliver(self, delivery: Delivery) -> None: ...
    async def ready(self) -> None: ...


class Listener(Protocol):
    """Receives changes of all sessions that its grant may see."""

    def notify(self, session_id: str | None, message: bytes) -> None: ...


class Subscription:
    """One viewer's subscription to one session, and its position."""

    def __init__(self, feed: "Feed", session_id: str, after: int, outlet: Outlet) -> None:
        self.session_id = session_id
        self.position = after
        self.live = False
        self._feed = feed
        self._outlet = outlet

    async def catch_up(self) -> None:
        """Read from the store until nothing is missing, then be live. Call it again after `behind`."""
        while not self.live:
            await self._outlet.ready()
            rows = await self._feed.store.read(self.session_id, self.position, PAGE_ROWS)
            if not rows and self.position >= self._feed.head(self.session_id):
                self.live = True
            for piece in pieces(self.session_id, rows):
                self.position = piece.last
                self._outlet.deliver(piece)
                await self._outlet.ready()

    def offer(self, delivery: Delivery) -> None:
        """A commit's rows, from the feed. Those the viewer read from the store already are left out."""
        if not self.live or delivery.last <= self.position:
            return
        if delivery.first <= self.position:
            delivery = delivery.after(self.position)
        self.position = delivery.last
        self._outlet.deliver(delivery)

    def close(self) -> None:
        self._feed.leave(self)


class _Channel:
    """The viewers of one session and the rows not handed to them yet."""

    def __init__(self) -> None:
        self.head = 0
        self.pending: list[Row] = []
        self.viewers: set[Subscription] = set()


class Feed:
    def __init__(self, store: EventStore) -> None:
        self.store = store
        self.listeners: set[Listener] = set()
        self._channels: dict[str, _Channel] = {}
        self._known: dict[str, SessionRecord] = {}  # as the listeners were last told of them
        self._dirty: dict[str, _Channel] = {}
        self.close = store.listen(self._committed)

    def subscribe(self, session_id: str, after: int, outlet: Outlet) -> Subscription:
        """The caller then awaits `catch_up`, and calls `close` at the end."""
        subscription = Subscription(self, session_id, after, outlet)
        self._channels.setdefault(session_id, _Channel()).viewers.add(subscription)
        return subscription

    def leave(self, subscription: Subscription) -> None:
        channel = self._channels.get(subscription.session_id)
        if channel is None:
            return
        channel.viewers.discard(subscription)
        if not channel.viewers:
            del self._channels[subscription.session_id]

    def head(self, session_id: str) -> int:
        channel = self._channels.get(session_id)
        return channel.head if channel else 0

    def notify(self, session_id: str | None, message: bytes) -> None:
        for listener in list(self.listeners):
            listener.notify(session_id, message)

    def _committed(self, committed: Committed) -> None:
        record, rows, requests = committed
        channel = self._channels.get(record.session_id)
        if channel is not None and rows:
            channel.head = rows[-1].seq
            channel.pending += rows
            if not self._dirty:
                asyncio.get_running_loop().call_soon(self._flush)
            self._dirty[record.session_id] = channel
        if record.found:
            return  # read from the agents' files by the thousand: who looks at one watches it, nobody else
        if self.listeners:
            self._notify_listeners(record, new=bool(rows) and rows[0].seq == 1)
            self._notify_of_requests(record, requests)
        else:
            self._known.clear()

    def _flush(self) -> None:
        dirty, self._dirty = self._dirty, {}
        for session_id, channel in dirty.items():
            rows, channel.pending = channel.pending, []
            for piece in pieces(session_id, rows):
                for viewer in list(channel.viewers):
                    viewer.offer(piece)

    def _notify_listeners(self, now: SessionRecord, *, new: bool) -> None:
        before = self._known.get(now.session_id)
        if before is not None and before.same_but_for_seq(now):
            return
        self._known[now.session_id] = now
        for message in _news(before, now, new=new):
            self.notify(now.session_id, encode(message))

    def _notify_of_requests(self, record: SessionRecord, requests: Sequence[RequestRecord]) -> None:
        for request in requests:
            message = RequestChanged(
                session_id=record.session_id,
                request_id=request.request_id,
                open=record.open_requests,
                gone=request.state != "open",
                request=request_view(request, record.title),
            )
            self.notify(record.session_id, encode(message))


def _news(before: SessionRecord | None, now: SessionRecord, *, new: bool) -> Iterator[dict[str, object]]:
    kind = "session:created" if new else "session:changed"
    yield {"type": kind, "sessionId": now.session_id, "session": session_view(now)}
    if before is not None and before.title != now.title:
        yield {"type": "session:title-updated", "sessionId": now.session_id, "title": now.title}
    if before is not None and before.archived != now.archived:
        yield {"type": "session:archived", "sessionId": now.session_id, "archived": now.archived}


def pieces(session_id: str, rows: Sequence[Row]) -> Iterator[Delivery]:
    """Rows cut into deliveries of a bounded size, so that one viewer's catch-up is many small steps."""
    start, size = 0, 0
    for n, row in enumerate(rows):
        if size and size + len(row.body) > PIECE_BYTES:
            yield Delivery(session_id, rows[start:n])
            start, size = n, 0
        size += len(row.body)
    if start < len(rows):
        yield Delivery(session_id, rows[start:])


def events_message(delivery: Delivery) -> bytes:
    """The browser's message for some rows; the rows' bodies go out as the store holds them."""
    name = encode(delivery.session_id)
    rows = b",".join([row.body for row in delivery.rows])
    return b'{"type":"session:events","sessionId":%s,"entries":[%s]}' % (name, rows)
