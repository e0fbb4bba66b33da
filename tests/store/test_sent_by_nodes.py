"""What each node has told people of, and who takes it over when that node is gone: on a real server."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest
from tests.store.conftest import Clock
from tests.store.postgres_server import Server, reason_to_skip
from tests.store.postgres_store import open_at

if TYPE_CHECKING:
    from bascule.store.postgres.sent_by_nodes import SentByNodes

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(reason_to_skip() is not None, reason=reason_to_skip() or ""),
]

LONG = "r" * 5000  # no index has room for it
NODES = "INSERT INTO bascule.nodes (node, url, version) VALUES ('a', 'a', ''), ('b', 'b', ''), ('c', 'c', '')"
DEAD = "UPDATE bascule.nodes SET heard_at = now() - interval '16 s' WHERE node = 'a'"
ALL = (
    "SELECT request_id, tag, node FROM bascule.sent_notices ORDER BY tag",
    "SELECT tag, channel, shown::int, node FROM bascule.sent_channels ORDER BY tag, channel",
)


@pytest.fixture
async def books(url: str, server: Server, clock: Clock) -> AsyncIterator["list[SentByNodes]"]:
    """Of three nodes that live."""
    from bascule.store.postgres.sent_by_nodes import SentByNodes

    await asyncio.to_thread(server.run, NODES, url=url)
    stores = [await open_at(url, clock) for _ in range(3)]
    yield [SentByNodes(store, name) for store, name in zip(stores, "abc", strict=True)]
    for store in stores:
        await store.close()


async def tell(book: "SentByNodes") -> None:
    """Two requests by one channel, which has shown the first, and by another, which has shown neither."""
    for name, tag in (("r1", "one"), (LONG, LONG)):
        book.sent(("s1", name), tag)
        book.sending(tag, ["hook", "phone"])
    book.shown("one", "hook")
    await book.is_ours(("s1", "r1"))  # what one node does, it does in order


@pytest.mark.row("X11")
async def test_what_a_node_that_is_gone_has_told_goes_to_one_of_those_that_ask(
    books: "list[SentByNodes]", server: Server, url: str
) -> None:
    a, b, c = books
    await tell(a)
    assert [await one.load() for one in books] == [({}, {})] * 3  # it lives
    await asyncio.to_thread(server.run, DEAD, url=url)
    taken = sorted(await asyncio.gather(b.load(), c.load()), key=lambda one: len(one.tags))
    assert taken[0] == ({}, {})
    assert taken[1].tags == {("s1", "r1"): "one", ("s1", LONG): LONG}
    assert taken[1].channels == {
        "one": {"hook": True, "phone": False},
        LONG: {"hook": False, "phone": False},
    }
    ours = [await one.is_ours(("s1", "r1")) for one in books]
    assert (ours[0], sorted(ours)) == (False, [False, False, True])


async def test_what_is_over_is_forgotten_and_what_another_node_has_told_is_not(
    books: "list[SentByNodes]", server: Server, url: str
) -> None:
    a, b, _ = books
    await tell(a)
    b.sent(("s2", "r2"), "one")  # several requests may have one tag, at each node
    b.sending("one", ["hook"])
    await b.is_ours(("s2", "r2"))
    a.settled(LONG, [])
    a.settled("one", ["hook"])  # it has still to say so
    await a.is_ours(("s1", "r1"))
    told, channels = await asyncio.to_thread(server.run, *ALL, url=url)
    assert told == [("r1", "one", "a"), ("r2", "one", "b")]
    assert channels == [("one", "hook", 1, "a"), ("one", "hook", 0, "b")]
    a.over("one", "hook")
    await a.is_ours(("s1", "r1"))
    assert await asyncio.to_thread(server.run, *ALL, url=url) == [
        [("r2", "one", "b")],
        [("one", "hook", 0, "b")],
    ]
