"""What other nodes commit: requests are read once they are named by a wake, and without one by a look."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace
from tests.store.copies import BEGUN, LAPTOP, as_rows
from tests.waiting import PATIENCE

from bascule.hub.feed.feed import Feed
from bascule.hub.nodes.far_commits import FarCommits
from bascule.model.events import AnyEvent, GuardAnswered, GuardAsked, PermissionAnswered, PermissionRequested
from bascule.store.base import Committed
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


class Page:
    def __init__(self) -> None:
        self.heard: asyncio.Queue[str] = asyncio.Queue()

    def notify(self, session_id: str | None, message: bytes) -> None:
        self.heard.put_nowait(json.loads(message)["type"])

    def replaced(self, session_id: str, epoch: str) -> None:
        raise AssertionError("no log was begun again")


class Node:
    """A node that has heard of nothing that its database holds."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.heard: asyncio.Queue[Committed] = asyncio.Queue()
        self.feed = Feed(store)
        self.far = FarCommits(store, self.feed, self.heard.put_nowait, self._spawn)
        self._tasks: set[asyncio.Task[None]] = set()

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> "asyncio.Task[None]":
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def write(self, *events: AnyEvent) -> None:
        head, _ = await self.store.head_of("s1")
        await self.store.take_in(LAPTOP, "s1", head + 1, as_rows(events, head + 1))

    async def hears(self) -> list[tuple[str, str]]:
        committed = await asyncio.wait_for(self.heard.get(), PATIENCE)
        return sorted((one.request_id, one.state) for one in committed.requests)


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[Node]:
    store = SqliteStore.open(tmp_path / "b.db", clock=lambda: 0.0, loop=asyncio.get_running_loop())
    made = Node(store)
    await made.write(BEGUN, asked("r0"))
    await made.far.begin()
    yield made
    await store.close()


def asked(name: str) -> PermissionRequested:
    return PermissionRequested(name, "Bash", "ls", "execute", Raw(b"{}"), "0" * 64, ())


def denied(name: str) -> PermissionAnswered:
    return PermissionAnswered(name, "deny", "ana")


async def test_a_wake_names_the_requests_that_are_read_and_nobody_need_look_at_a_page(node: Node) -> None:
    await node.write(denied("r0"), asked("r1"), asked("r2"))
    node.far.moved({"s1": 5}, {"s1": ["r1", "r0"]})
    assert await node.hears() == [("r0", "answered"), ("r1", "open")]


async def test_a_look_finds_requests_that_no_wake_has_named_and_each_of_them_once(node: Node) -> None:
    await node.write(denied("r0"), *(asked(f"r{n}") for n in range(1, 80)))
    await node.far.look()
    assert await node.hears() == sorted([("r0", "answered"), *((f"r{n}", "open") for n in range(1, 80))])
    await node.write(denied("r1"))
    await node.far.look()
    assert await node.hears() == [("r1", "answered")]
    await node.far.look()
    await node.write(denied("r2"))
    await node.far.look()
    assert await node.hears() == [("r2", "answered")]


async def test_what_this_node_has_committed_itself_is_no_news(node: Node) -> None:
    await node.write(asked("r1"))
    request = await node.store.request("s1", "r1")
    assert request is not None
    node.far.committed("s1", [request])
    await node.write(asked("r2"))
    await node.far.look()
    assert await node.hears() == [("r2", "open")]


@pytest.mark.parametrize(("own", "type"), [(True, "session:changed"), (False, "session:created")])
async def test_a_session_that_this_node_has_committed_to_is_no_new_one_when_another_does(
    node: Node, own: bool, type: str
) -> None:
    node.feed.close()  # what is written now is another node's
    if own:
        node.far.committed("s1", [])
    page = Page()
    node.feed.listeners.add(page)
    await node.write(denied("r0"))
    node.far.moved({"s1": 3})
    assert await asyncio.wait_for(page.heard.get(), PATIENCE) == type


async def test_what_a_guard_rail_asks_is_read_when_a_wake_names_it_and_when_a_wake_may_have_been_lost(
    node: Node,
) -> None:
    async def asks() -> str | None:
        guard = (await asyncio.wait_for(node.heard.get(), PATIENCE)).record.guard
        return guard.guard_id if guard else None

    await node.write(GuardAsked("g1", "loop", "Bash was called 5 times.", 5, 5))
    node.far.moved({"s1": 3}, {"s1": ["g1"]})
    assert await asks() == "g1"
    await node.write(GuardAnswered("g1", "go_on", "ana"))
    await node.far.everything()
    assert await asks() is None
    await node.write(GuardAsked("g2", "loop", "Bash was called 5 times.", 5, 5))
    await node.far.everything()
    assert await asks() == "g2"
    # Named in a wake once, when this node commits it
    record = await node.store.session("s1")
    assert record is not None
    assert node.far.guard_changed(record) == []
    assert node.far.guard_changed(replace(record, guard=None)) == ["g2"]
