"""The feed: delivers every commit to all subscribers, encoded once, without waiting for a slow one.

A viewer first reads what it lacks from the store at its own pace; the moment it holds everything the feed
has heard of, it goes live. Between that check and the switch nothing is awaited, so no row falls between.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from bascule.hub.feed.latest_records import SessionRecords
from bascule.hub.feed.list_pushes import ListPushes
from bascule.hub.feed.positions import epoch_of
from bascule.model.codec import encode
from bascule.model.errors import StorageFailed
from bascule.store.base import Committed, Row
from bascule.store.protocols import HubStore

PAGE_ROWS = 256
PIECE_BYTES = 256 * 1024
RETRY_SECONDS = 0.5

Encoder = Callable[["Delivery"], bytes]


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

    def replaced(self, session_id: str, epoch: str) -> None:
        """The log of a session was begun again, as `epoch`: a position in it means nothing any more."""
        ...


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
        if delivery.first > self.position + 1:  # the rows between came by another node
            self.live = False
            self._feed.catch_up_later(self)
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

    def lowest(self) -> int | None:
        """The position of the live viewer that has the least; None when none is live."""
        return min((viewer.position for viewer in self.viewers if viewer.live), default=None)


class Feed:
    def __init__(self, store: HubStore) -> None:
        self.store = store
        self.listeners: set[Listener] = set()
        self._channels: dict[str, _Channel] = {}
        self.records = SessionRecords(store)
        self._lists = ListPushes(self.notify)
        self._dirty: dict[str, _Channel] = {}
        self._delivered = False  # something, in this turn of the loop
        self.close = store.listen(self._committed)
        self._watchers: set[Callable[[], None]] = set()
        self._catching_up: set[asyncio.Task[None]] = set()
        self._readers: dict[str, set[Callable[[str], None]]] = {}

    def watched(self) -> list[str]:
        """The sessions that a viewer watches."""
        return list(self._channels)

    def on_watched(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` when other sessions are looked at than before. The returned call stops it."""
        self._watchers.add(changed)
        return lambda: self._watchers.discard(changed)

    async def begun_again(self, session_id: str) -> None:
        """A session's log was set aside, and another one is taken in from its first row."""
        self._lists.begun_again(session_id)
        record = await self.records.begun_again(session_id)
        epoch = epoch_of(self.store.epoch, record.generation)
        channel = self._channels.get(session_id)
        if channel is not None:
            channel.head, channel.pending = 0, []
        for listener in list(self.listeners):
            listener.replaced(session_id, epoch)
        for start_over in list(self._readers.get(session_id, ())):
            start_over(epoch)

    def on_begun_again(self, session_id: str, start_over: Callable[[str], None]) -> Callable[[], None]:
        """Call `start_over` with the new epoch of this session's log. The returned call stops that."""
        readers = self._readers.setdefault(session_id, set())
        readers.add(start_over)

        def stop() -> None:
            readers.discard(start_over)
            if not readers:
                self._readers.pop(session_id, None)

        return stop

    def subscribe(self, session_id: str, after: int, outlet: Outlet) -> Subscription:
        """The caller then awaits `catch_up`, and calls `close` at the end."""
        subscription = Subscription(self, session_id, after, outlet)
        if session_id not in self._channels:
            self._channels[session_id] = _Channel()
            self._tell_watched()
        self._channels[session_id].viewers.add(subscription)
        return subscription

    def leave(self, subscription: Subscription) -> None:
        channel = self._channels.get(subscription.session_id)
        if channel is None:
            return
        channel.viewers.discard(subscription)
        if not channel.viewers:
            del self._channels[subscription.session_id]
            self._tell_watched()

    def _tell_watched(self) -> None:
        for changed in list(self._watchers):
            changed()

    def head(self, session_id: str) -> int:
        channel = self._channels.get(session_id)
        return channel.head if channel else 0

    def notify(self, session_id: str | None, message: bytes) -> None:
        for listener in list(self.listeners):
            listener.notify(session_id, message)

    # What was committed elsewhere

    def catch_up_later(self, subscription: Subscription) -> None:
        """Read what this viewer lacks, as soon as the store can be read."""
        task = asyncio.create_task(self._catch_up(subscription), name=f"catch up {subscription.session_id}")
        self._catching_up.add(task)
        task.add_done_callback(self._catching_up.discard)

    async def _catch_up(self, subscription: Subscription) -> None:
        while self._has(subscription):
            try:
                await subscription.catch_up()
                break
            except StorageFailed:
                await asyncio.sleep(RETRY_SECONDS)

    def _has(self, subscription: Subscription) -> bool:
        channel = self._channels.get(subscription.session_id)
        return channel is not None and subscription in channel.viewers

    def moved(self, session_id: str, seq: int) -> None:
        """Another node has committed rows up to this one: no viewer is live without them."""
        channel = self._channels.get(session_id)
        if channel is not None:
            channel.head = seq

    def lacks(self, session_id: str, seq: int) -> bool:
        """Whether a live viewer of the session has not got this row."""
        channel = self._channels.get(session_id)
        lowest = None if channel is None else channel.lowest()
        return lowest is not None and lowest < seq

    async def read_on(self, session_id: str) -> None:
        """Rows of a session were committed by another node: read them once, for all its viewers here."""
        while (channel := self._channels.get(session_id)) is not None:
            after = channel.lowest()
            if after is None:
                return  # those who catch up read on by themselves
            rows = await self.store.read(session_id, after, PAGE_ROWS)
            lowest = channel.lowest()
            if lowest is not None and lowest < after:
                continue  # one that came meanwhile has less
            if rows:
                channel.head = rows[-1].seq
                _offer(session_id, channel, rows)
            if len(rows) < PAGE_ROWS:
                return

    def committed_elsewhere(self, committed: Committed) -> None:
        """A session's record as another node has stored it; its viewers get rows by `read_on`."""
        self.records.committed(committed.record)
        self._list(committed)

    def _committed(self, committed: Committed) -> None:
        record, rows = committed.record, committed.rows
        self.records.committed(record)
        channel = self._channels.get(record.session_id)
        if channel is not None and rows:
            self._deliver(record.session_id, channel, rows)
        self._list(committed)

    def _list(self, committed: Committed) -> None:
        if committed.record.found:
            return  # read from the agents' files by the thousand: who looks at one watches it, nobody else
        if self.listeners:
            self._lists.committed(committed)
        else:
            self._lists.forget()

    def _deliver(self, session_id: str, channel: _Channel, rows: Sequence[Row]) -> None:
        """The first commit in a turn of the loop goes out at once; what follows in it shares one delivery."""
        channel.head = rows[-1].seq
        if self._delivered:
            channel.pending += rows
            self._dirty[session_id] = channel
            return
        self._delivered = True
        asyncio.get_running_loop().call_soon(self._flush)
        _offer(session_id, channel, rows)

    def _flush(self) -> None:
        self._delivered = False
        dirty, self._dirty = self._dirty, {}
        for session_id, channel in dirty.items():
            rows, channel.pending = channel.pending, []
            _offer(session_id, channel, rows)


def _offer(session_id: str, channel: _Channel, rows: Sequence[Row]) -> None:
    for piece in pieces(session_id, rows):
        for viewer in list(channel.viewers):
            viewer.offer(piece)


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
