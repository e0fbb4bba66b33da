"""The notifier: hears every commit, has it decided which notices are due, and has each channel send them."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence

from bascule.model.codec import timestamp
from bascule.model.errors import StorageFailed
from bascule.notify.book import NotifyBook
from bascule.notify.channel_queue import LADDER, Failure, Health, Outbox
from bascule.notify.channels import REPLACING, Channel
from bascule.notify.delivery import Sender
from bascule.notify.due_notices import Decider, Key
from bascule.notify.notice import Notice
from bascule.notify.page_activity import AtThePage
from bascule.notify.sent_before import open_guards, open_keys, resume
from bascule.store.base import Committed
from bascule.store.protocols import HubStore
from bascule.store.sent_notices import SentBook

log = logging.getLogger(__name__)

MayDeny = Callable[[Channel], bool | None]  # None: the channel's grant no longer holds
Claim = Callable[[str, str], Awaitable[bool]]  # whether this node is the one to tell people of a request


class Notifier:
    """`steady` never jumps; `clock` tells the time of day. One channel that is slow holds up no other.

    `sent` remembers over a restart what was sent; where nodes share it, each claims what it tells (`claim`).
    """

    def __init__(
        self,
        store: HubStore,
        book: NotifyBook,
        sender: Sender,
        may_deny: MayDeny,
        *,
        clock: Callable[[], float],
        steady: Callable[[], float],
        ladder: Sequence[float] = LADDER,
        sent: SentBook,
    ) -> None:
        self.book, self.sender = book, sender
        self.present = AtThePage(steady)
        self._store, self._may_deny, self.ladder = store, may_deny, ladder
        self._sent_before = sent
        self._clock, self._steady = clock, steady
        self.decider = Decider(steady, clock, book.now.finished_minutes * 60)
        self._outboxes: dict[str, Outbox] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._settling: set[asyncio.Task[None]] = set()
        self._deciding: asyncio.Task[None] | None = None
        self._stop_listening: Callable[[], None] = lambda: None
        self.claim: Claim | None = None  # set where several nodes know of the same requests

    async def start(self) -> None:
        meanwhile: list[Committed] = []
        stop = self._store.listen(meanwhile.append)
        if self._sent_before.shared:
            self.decider.seed(await self._store.open_requests(), await open_guards(self._store))
        else:
            await self._resume(await open_keys(self._store))
        stop()
        self._stop_listening = self._store.listen(self._committed)
        for committed in meanwhile:
            self._committed(committed)
        self._deciding = asyncio.create_task(self._decide(), name="notifications")

    async def take_over(self) -> None:
        """Go on where nodes were that are gone."""
        await self._resume(())

    async def _resume(self, asked: Iterable[Key]) -> None:
        """Go on where the server before this one was: a channel that has not sent a notice sends it."""
        before = await self._sent_before.load()
        channels = {one.id: one for one in self.book.channels()}
        unsent: dict[str, list[Channel]] = {}
        for tag, sent_by in before.channels.items():
            for channel in (channels[one] for one in sent_by if one in channels):
                if sent_by[channel.id]:
                    self._outbox(channel).shows(tag)
                else:
                    unsent.setdefault(tag, []).append(channel)
        for notice in await resume(self._store, self.decider, before.tags, asked, timestamp(self._clock())):
            self.dispatch(notice)
        for notice in self.decider.shown():
            self._send_to([one for one in unsent.get(notice.tag, ()) if one.wants(notice)], notice)

    async def close(self) -> None:
        self._stop_listening()
        tasks = [*self._tasks.values(), *self._settling, *([self._deciding] if self._deciding else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)

    def options_changed(self) -> None:
        self.decider.finished_seconds = self.book.now.finished_minutes * 60
        self._wake.set()

    def health(self, channel_id: str) -> tuple[Health, int]:
        """How it fares, and how many notices wait."""
        outbox = self._outboxes.get(channel_id)
        return (Health(), 0) if outbox is None else (outbox.health, len(outbox))

    def forget(self, channel_id: str) -> None:
        """The channel was removed."""
        self._outboxes.pop(channel_id, None)
        self._sent_before.forget(channel_id)
        task = self._tasks.pop(channel_id, None)
        if task is not None:
            task.cancel()

    async def test(self, channel: Channel, notice: Notice) -> str:
        """Send it at once, past quiet hours and the queue. What the far side said; raises `Failure`."""
        health = self._outbox(channel).health
        try:
            said = await self.sender.send(channel, notice, may_deny=False)
        except Failure as failure:
            health.failed_at, health.problem = self._clock(), failure.words
            if failure.gone:
                self._gone(channel, failure)
            raise
        health.delivered_at, health.problem = self._clock(), ""
        return said

    # Deciding

    def machine_away(self, device: str, name: str, running: int) -> None:
        self.decider.machine_away(device, name, running)
        self._wake.set()

    def machine_back(self, device: str) -> None:
        self.dispatch(self.decider.machine_back(device))

    def _committed(self, committed: Committed) -> None:
        for notice in self.decider.committed(committed):
            self._replace(notice)
        if self.decider.next_due() is not None:
            self._wake.set()

    def asked_elsewhere(self, committed: Committed) -> None:
        """Another node took in what these requests are, or what became of them."""
        for notice in self.decider.committed_elsewhere(committed):
            self._replace(notice)
        self._wake.set()

    def unsent(self, committed: Committed, key: Key) -> None:
        """A request that was open before the start, and of which no node has sent a notice."""
        for notice in self.decider.unsent(committed, key):
            self._replace(notice)
        self._wake.set()

    def _replace(self, notice: Notice) -> None:
        """Say what became of a request: unless another node does, as this one had hung for long."""
        if not self._sent_before.shared or not notice.request_id:
            self.dispatch(notice)
            return
        task = asyncio.create_task(self._replace_if_ours(notice), name=f"replace {notice.tag}")
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)

    async def _replace_if_ours(self, notice: Notice) -> None:
        try:
            is_ours = await self._sent_before.is_ours((notice.session_id, notice.request_id))
        except StorageFailed:
            is_ours = True  # said twice is better than not at all
        if is_ours:
            self.dispatch(notice)

    async def _decide(self) -> None:
        while True:
            self._wake.clear()
            now = time.localtime(self._clock())
            quiet = self.book.now.quiet.holds(now.tm_hour * 60 + now.tm_min)
            looking = self.present.somebody
            for notice in self.decider.news(looking=looking, quiet=quiet):
                self.dispatch(notice)
            for key in self.decider.ready(looking=looking, quiet=quiet):
                await self._tell(key)
            due = self.decider.next_due()
            wait = None if due is None else max(0.05, due - self._steady())
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _tell(self, key: Key) -> None:
        try:
            is_ours = self.claim is None or await self.claim(*key)
        except StorageFailed:
            self.decider.later(key)  # without the database: another node may have sent its notice
            return
        if not is_ours:
            log.info("another node has sent the notice of request %s of %s", key[1], key[0])
            self.decider.sent_elsewhere(key)
            return
        for notice in self.decider.claimed(key):
            self._sent_before.sent(key, notice.tag)
            self.dispatch(notice)

    # Sending

    def dispatch(self, notice: Notice) -> None:
        """To every channel that wants it. Nothing is awaited."""
        queued = self._send_to([channel for channel in self.book.channels() if channel.wants(notice)], notice)
        if notice.asks:
            (self._sent_before.settled if notice.settled else self._sent_before.sending)(notice.tag, queued)

    def _send_to(self, channels: Iterable[Channel], notice: Notice) -> list[str]:
        """Those of them that have something to send for it."""
        queued = [channel.id for channel in channels if self._outbox(channel).put(notice)]
        for channel_id in queued:
            self._run(channel_id)
        return queued

    def _outbox(self, channel: Channel) -> Outbox:
        if channel.id not in self._outboxes:
            self._outboxes[channel.id] = Outbox(replaces=channel.type in REPLACING, ladder=self.ladder)
        return self._outboxes[channel.id]

    def _run(self, channel_id: str) -> None:
        if channel_id not in self._tasks:
            task = asyncio.create_task(self._send_all(channel_id), name=f"channel {channel_id}")
            self._tasks[channel_id] = task
            task.add_done_callback(lambda done: self._ended(channel_id, done))

    def _ended(self, channel_id: str, task: "asyncio.Task[None]") -> None:
        if self._tasks.get(channel_id) is task:
            del self._tasks[channel_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the channel %s stopped: %s", channel_id, error, exc_info=error)
        # What came while it was ending.
        elif not task.cancelled() and len(self._outboxes.get(channel_id, ())):
            self._run(channel_id)

    async def _send_all(self, channel_id: str) -> None:
        outbox = self._outboxes[channel_id]
        while len(outbox):
            notice = outbox.begin(self._clock())
            if notice is None:
                await asyncio.sleep(max(0.01, (outbox.next_at() or 0.0) - self._clock()))
                continue
            channel = next((one for one in self.book.channels() if one.id == channel_id), None)
            if channel is None:
                return
            try:
                await self._send(channel, notice)
            except Failure as failure:
                if failure.gone:
                    self._gone(channel, failure)
                    return
                if not outbox.failed(self._clock(), failure, random.random()):
                    self._note(channel_id, notice, shown=False)
            else:
                outbox.succeeded(self._clock())
                self._note(channel_id, notice, shown=not notice.settled)

    def _note(self, channel_id: str, notice: Notice, *, shown: bool) -> None:
        """The channel is done with it."""
        if notice.asks:
            (self._sent_before.shown if shown else self._sent_before.over)(notice.tag, channel_id)

    async def _send(self, channel: Channel, notice: Notice) -> None:
        may_deny = self._may_deny(channel)
        if may_deny is None:
            raise Failure("the browser is no longer trusted", gone=True)
        try:
            await self.sender.send(channel, notice, may_deny=may_deny)
        except Failure:
            raise
        except Exception as error:
            log.exception("a notice could not be made for the channel %s", channel.id)
            raise Failure(
                f"it could not be made ({type(error).__name__}); the log has more", final=True
            ) from error

    def _gone(self, channel: Channel, failure: Failure) -> None:
        log.info("notifications: %s is removed: %s", channel.name, failure.words)
        self.book.remove(channel.id)
        self.forget(channel.id)
