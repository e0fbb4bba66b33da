"""What is chosen at one node while another's choice is being read: on a real server."""

import asyncio

import pytest
from tests.store.conftest import Clock
from tests.store.postgres_server import reason_to_skip
from tests.store.postgres_store import open_at

from bascule.hub.nodes.choices import SharedChoices

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(reason_to_skip() is not None, reason=reason_to_skip() or ""),
]


@pytest.mark.row("X11")
async def test_a_choice_made_while_others_are_read_is_kept(url: str, clock: Clock) -> None:
    store = await open_at(url, clock)
    other = await open_at(url, clock)
    try:
        here, there = await SharedChoices.open(store), await SharedChoices.open(other)
        there.write("quiet", b"at night")
        await there.reload()  # in the database now: what one node does, it does in order
        reading = asyncio.create_task(here.reload())
        await asyncio.sleep(0)  # it has asked
        here.write("channels", b"the phone")
        await reading
        assert (here.read("quiet"), here.read("channels")) == (b"at night", b"the phone")
        await here.reload()
        await there.reload()
        assert there.read("channels") == here.read("channels") == b"the phone"
    finally:
        await store.close()
        await other.close()
