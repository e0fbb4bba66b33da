"""Fan-out: no gap and no double at the border of past and live, no waiting for the slow."""

import asyncio
import contextlib
from typing import Any

import msgspec
import pytest
from tests.hub.running_hub import RunningHub, ask, entries, rest_of, until
from tests.hub.scripted_device import append
from tests.waiting import PATIENCE
from websockets.asyncio.client import ClientConnection

from bascule.hub.feed.feed import Delivery, Feed, Subscription
from bascule.hub.nodes.far_commits import FarCommits
from bascule.model.events import ArchivedChanged, PermissionAnswered, TitleChanged
from bascule.store.base import Row

pytestmark = pytest.mark.anyio


class Ear:
    """A viewer that writes down what it is given."""

    def __init__(self) -> None:
        self.heard: list[int] = []
        self.frames = 0
        self.open = asyncio.Event()
        self.open.set()

    def deliver(self, delivery: Delivery) -> None:
        self.heard += [row.seq for row in delivery.rows]
        self.frames += 1

    async def ready(self) -> None:
        await self.open.wait()


async def listen(feed: Feed, after: int = 0) -> tuple[Ear, Subscription]:
    ear = Ear()
    subscription = feed.subscribe("s1", after, ear)
    await subscription.catch_up()
    return ear, subscription


@pytest.mark.row("REL-06")
async def test_500_viewers_who_join_during_a_burst_miss_and_repeat_nothing(hub: RunningHub) -> None:
    await hub.session("s1")
    feed: Feed = hub.services.feed
    total = 5000

    async def burst() -> None:
        for n in range(0, total, 10):
            await hub.say("s1", *(str(n + k) for k in range(10)))

    bursting = asyncio.create_task(burst())
    joining = []
    for n in range(500):
        joining.append(asyncio.create_task(listen(feed, after=n % 7)))
        await asyncio.sleep(0.001)
    ears = [(await task, n % 7) for n, task in enumerate(joining)]
    await bursting
    await until(lambda: all(ear.heard and ear.heard[-1] == total + 1 for (ear, _), _ in ears))
    for (ear, subscription), after in ears:
        assert ear.heard == list(range(after + 1, total + 2))
        subscription.close()
    assert feed.head("s1") == 0


@pytest.mark.row("REL-07")
async def test_a_slow_and_a_fast_viewer_both_get_every_event(hub: RunningHub) -> None:
    await hub.session("s1")
    feed: Feed = hub.services.feed
    quick, _ = await listen(feed)
    slow = Ear()
    slow.open.clear()
    subscription = feed.subscribe("s1", 0, slow)
    reading = asyncio.create_task(subscription.catch_up())
    for n in range(50):
        await hub.say("s1", str(n))
    await until(lambda: quick.heard == list(range(1, 52)))
    assert slow.heard == []
    slow.open.set()
    await reading
    await hub.say("s1", "last")
    await until(lambda: slow.heard == quick.heard == list(range(1, 53)))


async def test_one_tick_makes_one_frame_and_all_share_it(hub: RunningHub) -> None:
    await hub.session("s1")
    ears = [(await listen(hub.services.feed, 1))[0] for _ in range(3)]
    await hub.say("s1", *"abcdef")
    await until(lambda: all(len(ear.heard) == 6 for ear in ears))
    assert [ear.frames for ear in ears] == [1, 1, 1]


def test_a_wire_form_is_made_once_for_everybody() -> None:
    made: list[int] = []

    def encoder(delivery: Delivery) -> bytes:
        made.append(1)
        return b"x"

    delivery = Delivery("s", [Row(1, b"{}")])
    assert delivery.form(encoder) is delivery.form(encoder)
    assert made == [1]


@pytest.mark.row("REL-09")
async def test_a_socket_that_never_reads_is_dropped_with_a_hint_and_others_get_every_event(
    hub: RunningHub,
) -> None:
    await hub.session("s1")
    async with hub.socket(max_queue=1) as deaf, hub.socket() as quick:
        for socket in (deaf, quick):
            await socket.send('{"id":1,"type":"session:subscribe","sessionId":"s1","after":1}')
        await until(lambda: sum(len(c.viewers) for c in hub.services.feed._channels.values()) == 2)
        deaf.transport.pause_reading()  # type: ignore[attr-defined]
        listening = asyncio.create_task(entries(quick, 401))
        for _ in range(400):
            await hub.say("s1", "x" * 50_000)
        rows = await listening
        assert [row["seq"] for row in rows] == list(range(2, 402))
        await until(lambda: len(hub.services.feed.listeners) == 1)
        unsent = [c.transport.get_write_buffer_size() for c in hub.server.server_state.connections]
        assert sum(unsent) < 3 * 1024 * 1024
        deaf.transport.resume_reading()  # type: ignore[attr-defined]
        messages = await rest_of(deaf)
        hint = msgspec.json.decode(messages[-1])
        assert deaf.close_code == 4008
        told = [row["seq"] for m in map(msgspec.json.decode, messages) for row in m.get("entries", [])]
        place = {"after": told[-1], "epoch": hub.store.epoch, "reason": "slow"}
        assert hint == {"type": "resync", "sessionId": "s1", **place}
        assert told == list(range(2, told[-1] + 1))


async def test_fan_out_reaches_each_of_200_sockets_whole_and_in_order(hub: RunningHub) -> None:
    await hub.session("s1")
    sockets = []
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(200):
            socket = await stack.enter_async_context(hub.socket(hub.tokens["viewer"]))
            await ask(socket, "session:subscribe", sessionId="s1", after=1)
            sockets.append(socket)
        listening = [asyncio.create_task(entries(socket, 501)) for socket in sockets]
        for n in range(100):
            await hub.say("s1", *(f"{n} {k}" for k in range(5)))
        for rows in await asyncio.gather(*listening):
            assert [row["seq"] for row in rows] == list(range(2, 502))


async def test_the_lobby_hears_of_new_renamed_archived_and_blocked_sessions(hub: RunningHub) -> None:
    async with hub.socket(hub.tokens["viewer"]) as socket:
        await ask(socket, "ping")
        await hub.session("s1")
        await append(hub.store, "s1", TitleChanged("A name", "ana"))
        await hub.say("s1", "only words: nothing to tell")
        await append(hub.store, "s1", ArchivedChanged(True, "ana"))
        await hub.ask_permission("s1")
        heard: list[str] = []
        while "requests:changed" not in heard:
            heard.append(msgspec.json.decode(await asyncio.wait_for(socket.recv(), PATIENCE))["type"])
    assert heard == [
        "session:created",
        "session:changed",
        "session:title-updated",
        "session:changed",
        "session:archived",
        "session:changed",
        "requests:changed",
    ]


async def test_a_changed_request_is_pushed_whole_with_the_shape_the_list_has(hub: RunningHub) -> None:
    async with hub.socket(hub.tokens["viewer"]) as socket:
        await ask(socket, "ping")
        await hub.session("s1")
        await hub.ask_permission("s1")
        opened = await pushed(socket, "requests:changed")
        listed = (await ask(socket, "requests:list"))["ok"]["requests"]
        assert opened["request"] == listed[0]
        assert (opened["sessionId"], opened["open"], opened["gone"]) == ("s1", 1, False)
        assert opened["requestId"] == listed[0]["request_id"]
        await append(hub.store, "s1", PermissionAnswered(opened["requestId"], "deny", "ana"))
        answered = await pushed(socket, "requests:changed")
        assert (answered["requestId"], answered["open"], answered["gone"]) == (opened["requestId"], 0, True)
        assert answered["request"]["state"] == "answered"
        assert answered["request"]["answer"]["by"] == "ana"
        assert (await ask(socket, "requests:list"))["ok"]["requests"] == []


async def pushed(socket: ClientConnection, kind: str) -> dict[str, Any]:
    """The next push of a kind; others are passed over."""
    while True:
        message = msgspec.json.decode(await asyncio.wait_for(socket.recv(), PATIENCE))
        if message.get("type") == kind:
            return message


@pytest.mark.row("X11")
async def test_rows_that_another_node_committed_are_read_once_for_all_viewers(hub: RunningHub) -> None:
    await hub.session("s1")
    feed = Feed(hub.store)
    feed.close()  # it hears of no commit, as if another node had made it
    first, _ = await listen(feed)
    for n in range(600):  # more than are read at a time
        await hub.say("s1", str(n))
    assert first.heard == [1]
    late, _ = await listen(feed)
    assert feed.lacks("s1", 601)
    feed.moved("s1", 601)
    await asyncio.gather(feed.read_on("s1"), feed.read_on("s1"))
    assert first.heard == late.heard == list(range(1, 602))
    assert not feed.lacks("s1", 601)


@pytest.mark.row("X11")
async def test_a_viewer_that_would_have_a_gap_reads_what_is_between_first(hub: RunningHub) -> None:
    await hub.session("s1")
    feed = Feed(hub.store)
    feed.close()
    ear, subscription = await listen(feed)
    for n in range(5):
        await hub.say("s1", str(n))
    rows = await hub.store.read("s1", 4)
    subscription.offer(Delivery("s1", rows))
    await until(lambda: ear.heard == [1, 2, 3, 4, 5, 6])
    assert subscription.live


@pytest.mark.row("X11")
async def test_a_lost_wake_is_made_up_for_by_a_look_at_where_logs_end(hub: RunningHub) -> None:
    await hub.session("s1")
    feed = Feed(hub.store)
    feed.close()
    tasks: set[asyncio.Task[None]] = set()

    def spawn(work: Any, name: str) -> "asyncio.Task[None]":
        task = asyncio.create_task(work, name=name)
        tasks.add(task)
        return task

    far = FarCommits(hub.store, feed, lambda _: None, spawn)
    ear, _ = await listen(feed)
    for n in range(5):
        await hub.say("s1", str(n))
    await far.look()
    await until(lambda: ear.heard == [1, 2, 3, 4, 5, 6])
    await asyncio.gather(*tasks)
