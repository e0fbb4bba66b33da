"""The nodes of one hub on one PostgreSQL: who is there, where machines are, and what they send each other."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from bascule import __version__
from bascule.hub.devices.device_line import DeviceLine
from bascule.hub.nodes.choices import SharedChoices
from bascule.hub.nodes.envelope import AtThePage, Control, Presence, Push, Revoked
from bascule.hub.nodes.far_commits import FarCommits
from bascule.hub.nodes.neighbour import Neighbour
from bascule.model.errors import BasculeError, StorageFailed
from bascule.model.faults import report
from bascule.notify.sent_before import open_keys
from bascule.store.base import Committed
from bascule.store.grants import Grant
from bascule.store.postgres.bus import Bus, Wake
from bascule.store.postgres.node_rows import Attachment, NodeRows, Picture, request_claim
from bascule.store.postgres.sent_by_nodes import SentByNodes
from bascule.store.postgres.store import PostgresStore

if TYPE_CHECKING:
    from bascule.hub.services import Hub
    from bascule.store.books import Books

log = logging.getLogger("bascule.hub")

BEAT_EVERY = 2  # looks
LOOK_AT_HEADS_EVERY = 5
SWEEP_EVERY = 600
LEAVE_SECONDS = 2.0
PRESENCE_SECONDS = 2.0  # between two notes of who is there, though nothing changed
NODE_GRANT = Grant(id="node", name="another node", role="node", kind="ephemeral", created_at=0.0)


class Cluster:
    """This node among the others. `join` begins; `close` takes it out of the list."""

    def __init__(self, store: PostgresStore, books: "Books", choices: SharedChoices, url: str) -> None:
        self.node, self.url, self.hub_id = store.shared.node, url, store.shared.hub
        self._store, self._key = store, store.shared.key
        self._books = books
        self.choices = choices
        self.sent_notices = SentByNodes(store, self.node)
        self._bus = Bus(
            store.shared.url,
            store.shared.role,
            self.node,
            woken=self._woken,
            look=self._look,
            lost=self._lost,
        )
        self.rows = NodeRows(self._bus, self.node)
        self._neighbours: dict[str, Neighbour] = {}
        self._attachments: dict[str, Attachment] = {}
        self._changes: dict[str, int] = {}
        self._grants_at = -1  # the change of grants up to which this node has read them
        self._reading_grants = asyncio.Lock()
        self._asking_grants = asyncio.Lock()
        self._asked_grants = 0  # how often a caller asked
        self._looks = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._first_look = asyncio.Event()
        self._is_lost = False
        self._is_leaving = False
        self._hub: Hub
        self._far: FarCommits
        books.grants.admit(self._key, NODE_GRANT)

    async def join(self, hub: "Hub") -> None:
        self._hub = hub
        self._far = FarCommits(self._store, hub.feed, hub.notifier.asked_elsewhere, self._spawn)
        hub.switchboard.on_hello(self._attached)
        hub.switchboard.on_gone(self._detached)
        hub.presence.send_to_others = self._send_presence
        self._books.grants.on_revoked(lambda grant: self.send(Revoked(grant.id)))
        hub.notifier.claim = self.rows.claim_request
        hub.notifier.present.changed = lambda: self.send(AtThePage(hub.notifier.present.here))
        await self._far.begin()
        self._store.listen(self._committed)
        self._spawn(self._bus.run(), "bus")
        self._spawn(self._repeat_presence(), "presence for other nodes")
        await self._first_look.wait()
        self._spawn(self._take_over(), "requests without a notice")

    async def _take_over(self) -> None:
        """This node replaces the notices of nodes that are gone. One may have died before it sent the notice
        of a request, while no other node ran."""
        await self._hub.notifier.take_over()
        claims = {request_claim(*key): key for key in await open_keys(self._store)}
        for claim in claims.keys() - await self.rows.claimed(list(claims)):
            session_id, request_id = claims[claim]
            record = await self._store.session(session_id)
            request = await self._store.request(session_id, request_id)
            if record is not None:
                committed = Committed(record, [], [request] if request is not None else [], changed=False)
                self._hub.notifier.unsent(committed, claims[claim])

    async def close(self) -> None:
        self._is_leaving = True
        try:
            async with asyncio.timeout(LEAVE_SECONDS):
                await self.rows.leave()
                self._bus.changed("attachments")
        except (StorageFailed, TimeoutError) as error:
            log.info("this node could not be taken out of the list of nodes: %s", error)
        for neighbour in self._neighbours.values():
            await neighbour.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> "asyncio.Task[None]":
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            if isinstance(error, BasculeError):
                log.info("%s: %s", task.get_name(), error.message)
            else:
                report(log, task.get_name(), error)

    # Waking

    def _committed(self, committed: Committed) -> None:
        if not committed.rows:
            return
        session_id, seq = committed.record.session_id, committed.rows[-1].seq
        self._far.committed(session_id, committed.requests)
        changed = [request.request_id for request in committed.requests] + self._far.guard_changed(
            committed.record
        )
        if changed or not self._store.announced(session_id, seq):
            self._bus.moved(session_id, seq, changed)

    def replaced(self, session_id: str) -> None:
        """The log of a session that is imported here was begun again."""
        self._bus.replaced(session_id)

    def _woken(self, wake: Wake) -> None:
        if wake.everything:
            self._spawn(self._far.everything(), "catch up with other nodes")
        for session_id in wake.replaced:
            self._spawn(self._hub.feed.begun_again(session_id), f"begin {session_id} again")
        self._far.moved(wake.sessions, wake.requests)
        if wake.books or wake.everything:
            self._bus.look_soon()

    def _lost(self, why: str) -> None:
        """Say so in the page: the writer finds out by itself, and looks for the server from then on."""
        if not self._is_lost:
            self._is_lost = True
            log.warning("the connection to the other nodes is lost: %s", why)
            self._store.barrier().add_done_callback(lambda done: done.cancelled() or done.exception())

    # Looking

    async def _look(self, is_new: bool) -> None:
        """Every second, and at once after a wake that names a book. Everything is seen here, if late."""
        self._is_lost = False
        if self._is_leaving:
            return  # it would enter itself into the list again
        if is_new:
            await self.rows.succeed(self.url)
        if is_new or self._looks % BEAT_EVERY == 0:
            await self.rows.beat(self.url, __version__)
        picture = await self.rows.picture()
        self._meet(picture.nodes)
        self._attachments = picture.attachments
        self._arrange()
        self._read_books(picture)
        if is_new and self._first_look.is_set():
            self._spawn(self._far.everything(), "catch up with other nodes")
        elif self._looks % LOOK_AT_HEADS_EVERY == 0:
            self._spawn(self._far.look(), "look at heads")
        if self._looks % SWEEP_EVERY == 1:
            await self.rows.sweep()
        self._looks += 1
        self._first_look.set()

    def _read_books(self, picture: Picture) -> None:
        before, self._changes = self._changes, picture.changes
        changed = {book for book, n in picture.changes.items() if before.get(book, n) != n}
        if self._grants_at != picture.changes["grants"]:
            self._spawn(self._read_grants(picture), "grants")
        if "devices" in changed:
            self._spawn(self._reload_devices(), "devices")
        if "answers" in changed:
            self._spawn(self._reload_answers(), "answers")
        if "restores" in changed:
            self._spawn(self._books.restores.reload(), "restores")
        if "choices" in changed:
            self._spawn(self._reload_choices(), "choices")

    async def _reload_devices(self) -> None:
        await self._books.devices.reload(self._hub.switchboard.holds)
        self._hub.switchboard.books_changed()

    async def _reload_answers(self) -> None:
        await self._books.answers.reload()
        self._hub.answers.reloaded()

    async def _reload_choices(self) -> None:
        await self.choices.reload()
        self._hub.notifier.book.reload()

    async def grants_now(self) -> None:
        """Read the grants that other nodes have changed since the last look. Those who ask together wait for
        one look: wrong tokens must not keep the database busy."""
        asked = self._asked_grants
        async with self._asking_grants:
            if self._asked_grants == asked:
                self._asked_grants += 1
                await self._read_grants(await self.rows.picture())

    async def _read_grants(self, picture: Picture) -> None:
        async with self._reading_grants:
            if picture.changes["grants"] > self._grants_at:
                await self._books.grants.reload()
                self._grants_at = picture.changes["grants"]

    # Tickets

    async def issue(self, secret: str, grant_id: str, path: str, seconds: float) -> None:
        await self.rows.issue(secret, grant_id, path, seconds)

    async def redeem(self, secret: str, path: str) -> str | None:
        grant_id = await self.rows.redeem(secret, path)
        if grant_id is not None and self._books.grants.get(grant_id) is None:
            await self.grants_now()
        return grant_id

    # Nodes

    def _meet(self, nodes: dict[str, str]) -> None:
        for node, url in nodes.items():
            known = self._neighbours.get(node)
            if known is not None and known.url != url:
                self._part(node)
                known = None
            if known is None:
                self._neighbours[node] = Neighbour(self._hub, node, url, self._key, self.node, self._arrange)
        for node in [neighbour for neighbour in self._neighbours if neighbour not in nodes]:
            self._part(node)

    def _part(self, node: str) -> None:
        self._spawn(self._neighbours.pop(node).close(), f"leave node {node}")
        self.left(node)
        self._spawn(self._take_over(), "requests whose notice it may not have sent")

    def left(self, node: str) -> None:
        """A node's connection to us is over: nothing that it said of its pages counts."""
        self._hub.presence.forget_node(node)
        self._hub.notifier.present.elsewhere(node, somebody=False)

    @property
    def neighbours(self) -> list[Neighbour]:
        return list(self._neighbours.values())

    # Machines

    async def greeted(self, device: str) -> int:
        """A machine says hello here: read what other nodes know of it. Gives the epoch it would have."""
        await self._reload_devices()
        await self._books.answers.reload()
        return await self.rows.next_epoch(device)

    def _attached(self, line: DeviceLine) -> None:
        self._attachments[line.device] = Attachment(self.node, line.epoch)
        self._arrange()
        self._spawn(self._attach(line), f"attach {line.device}")

    async def _attach(self, line: DeviceLine) -> None:
        await self.rows.attach(line.device, line.epoch)
        self._bus.changed("attachments")

    def _detached(self, line: DeviceLine) -> None:
        if not line.far:
            self._spawn(self._detach(line), f"detach {line.device}")

    async def _detach(self, line: DeviceLine) -> None:
        await self.rows.detach(line.device, line.epoch)
        self._bus.changed("attachments")

    def _arrange(self) -> None:
        """A line to every machine that another node holds; none of ours that has come to another one."""
        if self._is_leaving:
            return
        for line in self._hub.switchboard.own_lines():
            row = self._attachments.get(line.device)
            if row is not None and row.node != self.node and row.epoch > line.epoch:
                line.end("superseded")
                self._spawn(self._reload_devices(), f"what is known of {line.device}")
            elif row is None or row.node != self.node or row.epoch < line.epoch:
                self._spawn(self._attach(line), f"attach {line.device}")  # it could not be stored before
        wanted: dict[str, set[str]] = {}
        for device, row in self._attachments.items():
            if row.node in self._neighbours and not self._hub.switchboard.holds(device):
                wanted.setdefault(row.node, set()).add(device)
                self._neighbours[row.node].hold(device, row.epoch)
        for node, neighbour in self._neighbours.items():
            for device in neighbour.devices:
                if device not in wanted.get(node, ()):
                    neighbour.drop(device)

    # News for pages of other nodes

    def send(self, message: Control) -> None:
        """To every other node; one that is not there misses it."""
        for neighbour in self._neighbours.values():
            neighbour.say(message)

    def push(self, session_id: str | None, message: bytes) -> None:
        self.send(Push(msgspec.Raw(message), session_id))

    def _send_presence(self, session_id: str, viewers: list[str], typing: list[str]) -> None:
        self.send(Presence(session_id, tuple(viewers), tuple(typing)))

    async def _repeat_presence(self) -> None:
        """For nodes that missed it: each message counts for a few seconds only."""
        while True:
            await asyncio.sleep(PRESENCE_SECONDS)
            if self._neighbours:
                self._hub.presence.say_again()
                self.send(AtThePage(self._hub.notifier.present.here))

    def heard(self, node: str, message: Control) -> None:
        match message:
            case Presence():
                self._hub.presence.elsewhere(node, message.session_id, message.viewers, message.typing)
            case AtThePage():
                self._hub.notifier.present.elsewhere(node, somebody=message.somebody)
            case Push():
                self._hub.feed.notify(message.session_id, bytes(message.message))
            case Revoked():
                self._books.grants.revoked_elsewhere(message.grant_id)
            case _:
                pass


def node_url(chosen: str, listening: str, reached_from: str) -> str:
    """Where other nodes reach this one: as chosen, as it listens, or by the address the database saw."""
    if chosen:
        return chosen
    parts = urlsplit(listening)
    if (parts.hostname or "") not in ("0.0.0.0", "::", ""):
        return listening
    host = f"[{reached_from}]" if ":" in reached_from else reached_from
    return f"{parts.scheme}://{host}:{parts.port}"
