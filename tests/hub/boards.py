"""A switchboard over a real book of devices."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bascule.hub.devices.switchboard import Switchboard
from bascule.store.devices import DeviceBook
from bascule.store.sqlite import SqliteStore


@asynccontextmanager
async def switchboard(folder: Path, *, grace: float = 0.0, **more: Any) -> AsyncIterator[Switchboard]:
    """`grace`: seconds that commands wait for a device that was lost; none unless a test is about that."""
    store = SqliteStore.open(folder / "bascule.db", clock=time.time, loop=asyncio.get_running_loop())
    board = Switchboard(await DeviceBook.open(store), grace=grace, **more)
    try:
        yield board
    finally:
        await board.close()
        await store.close()
