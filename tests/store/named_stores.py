"""Several stores below one folder, by name: those of a machine and of its hub, say."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from tests.store.conftest import Clock

from bascule.store.sqlite import SqliteStore

OpenNamed = Callable[[str], Awaitable[SqliteStore]]


@asynccontextmanager
async def named_stores(folder: Path) -> AsyncIterator[OpenNamed]:
    """Opens a store by its name; all of them are closed at the end."""
    opened: list[SqliteStore] = []

    async def open_it(name: str) -> SqliteStore:
        path = folder / name / "bascule.db"
        opened.append(SqliteStore.open(path, clock=Clock(), loop=asyncio.get_running_loop()))
        return opened[-1]

    yield open_it
    for store in opened:
        await store.close()
