"""The connection by which nodes of one hub hear of each other's changes, with a real PostgreSQL."""

import asyncio
import contextlib
from typing import Any

import pytest
from tests.waiting import PATIENCE

from bascule.store.postgres.bus import Bus

pytestmark = [pytest.mark.anyio, pytest.mark.row("X11")]


class EarlyAsked(Bus):
    """Asked by others in the moment in which it has a connection and does not listen yet."""

    asked: "asyncio.Future[list[list[Any]]]"

    async def _connect(self) -> Any:
        server = await super()._connect()
        self.asked = asyncio.gather(*(self.fetch("SELECT 7 AS n") for _ in range(20)))
        return server


async def test_what_is_asked_before_it_listens_is_answered_and_ends_no_connection(url: str):
    looked = asyncio.Event()

    async def look(is_new: bool) -> None:
        looked.set()

    lost: list[str] = []
    bus = EarlyAsked(url, None, "node", woken=lambda wake: None, look=look, lost=lost.append)
    running = asyncio.create_task(bus.run())
    try:
        await asyncio.wait_for(looked.wait(), PATIENCE)
        answers = await asyncio.wait_for(bus.asked, PATIENCE)
        assert [[row["n"] for row in rows] for rows in answers] == [[7]] * 20
        assert (bus.connected, lost) == (1, [])
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
