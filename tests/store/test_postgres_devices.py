"""What two nodes note of one machine, and what people change of it at either: on a real server."""

import pytest
from msgspec.structs import replace
from tests.store.postgres_server import reason_to_skip
from tests.store.postgres_store import Opener

from bascule.model.commands import Actor
from bascule.store.database import DatabaseStore
from bascule.store.devices import DeviceBook, DeviceRecord

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(reason_to_skip() is not None, reason=reason_to_skip() or ""),
]


@pytest.mark.row("X11")
async def test_a_node_that_a_machine_has_left_does_not_write_over_what_the_next_one_knows(
    hub: DatabaseStore, open_postgres: Opener
) -> None:
    other = await open_postgres()
    old = await DeviceBook.open(hub)
    old.put(DeviceRecord("d-1", "laptop", "t0", epoch=4, boot="b", attempt=4))
    await hub.barrier()
    new = await DeviceBook.open(other)
    new.put(DeviceRecord("d-1", "laptop", "t0", epoch=5, boot="b", attempt=5, state=b'{"paused":true}'))
    await other.barrier()
    # The old connection ends only now: it notes when it was heard last.
    old.put(DeviceRecord("d-1", "laptop", "t0", epoch=4, boot="b", attempt=4, heard_at="t1"))
    await hub.barrier()
    await new.reload(lambda device: False)
    known = new.get("d-1")
    assert known is not None
    assert (known.epoch, known.attempt, known.state) == (5, 5, b'{"paused":true}')


@pytest.mark.row("X11")
async def test_a_machine_that_is_renamed_or_replaced_at_one_node_keeps_what_another_knows_of_it(
    hub: DatabaseStore, open_postgres: Opener
) -> None:
    other = await open_postgres()
    ana = Actor("ana", "g1")
    old, new = await _two_books(hub, other)
    heard = DeviceRecord("d-1", "laptop", "t0", epoch=5, boot="b", attempt=5, state=b'{"paused":true}')
    new.put(heard)
    await other.barrier()
    await old.rename("d-1", "Ana's", ana)
    await new.replace("d-1", "d-2", ana)
    await old.rename("d-1", "Bo's", ana)  # it has not heard of the replacement
    for book in (old, new):
        await book.reload(lambda device: False)
        assert book.get("d-1") == replace(heard, given_name="Bo's", replaced_by="d-2")


@pytest.mark.row("X11")
async def test_a_machine_that_is_removed_at_one_node_stays_so_unless_another_holds_it(
    hub: DatabaseStore, open_postgres: Opener
) -> None:
    other = await open_postgres()
    ana = Actor("ana", "g1")
    left, away = await _two_books(hub, other)
    known = left.get("d-1")
    assert known is not None
    await away.forget("d-1", ana)
    left.put(replace(known, heard_at="t1"))  # the connection that it had here ends only now
    await hub.barrier()
    await left.reload(lambda device: False)
    assert (left.all(), (await DeviceBook.open(other)).all()) == ([], [])
    left.put(replace(known, epoch=5))  # it says hello
    left.list_again(replace(known, epoch=5))
    await hub.barrier()
    await away.reload(lambda device: False)
    await away.forget("d-1", ana)  # by somebody whose node has no line to it yet
    await left.reload(lambda device: True)
    await hub.barrier()
    await away.reload(lambda device: False)
    assert [[one.device for one in book.all()] for book in (left, away)] == [["d-1"], ["d-1"]]


async def _two_books(hub: DatabaseStore, other: DatabaseStore) -> tuple[DeviceBook, DeviceBook]:
    """Of two nodes that know the same machine."""
    first = await DeviceBook.open(hub)
    first.put(DeviceRecord("d-1", "laptop", "t0", epoch=4, boot="b", attempt=4))
    await hub.barrier()
    return first, await DeviceBook.open(other)
