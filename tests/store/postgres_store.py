"""A PostgreSQL store in a test: opening it, and all that can be asked of it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from msgspec import structs
from tests.store.copies import BEGUN, LAPTOP, as_rows
from tests.waiting import PATIENCE

from bascule.model.events import AnyEvent
from bascule.store.base import ALL_SESSIONS, SessionFilter, SessionPage
from bascule.store.database import DatabaseStore

if TYPE_CHECKING:
    from bascule.store.postgres.store import PostgresStore

FILTERS = (
    SessionFilter(archived=True),
    SessionFilter(live=True),
    SessionFilter(live=True, archived=True),
    SessionFilter(folder="/w/2"),
    SessionFilter(folder="/w/2", archived=True),
    SessionFilter(folder="/w", below=True),
    SessionFilter(devices=[LAPTOP]),
    SessionFilter(live=True, folder="/w", below=True, devices=["", LAPTOP]),
    SessionFilter(devices=[]),
)

Opener = Callable[..., Awaitable[DatabaseStore]]


async def open_at(url: str, clock: Callable[[], float]) -> "PostgresStore":
    from bascule.store.postgres.store import PostgresStore

    return await PostgresStore.open(url, clock=clock, loop=asyncio.get_running_loop())


async def walked(store: DatabaseStore, where: SessionFilter = ALL_SESSIONS) -> list[SessionPage]:
    """All pages of a list of sessions, of three each."""
    pages = [await store.list_sessions(where, limit=3)]
    while (cursor := pages[-1].next) is not None:
        pages.append(await store.list_sessions(where, limit=3, cursor=cursor))
    return pages


async def answers_of(
    store: DatabaseStore, logs: list[tuple[str, list[AnyEvent]]], queries: list[str]
) -> list[object]:
    """Everything a hub asks, after these rows."""
    for name, log in logs:
        head, _ = await store.head_of(name)
        events = log if head else [structs.replace(BEGUN, cwd=f"/w/{name[-1]}"), *log]
        await store.take_in(LAPTOP, name, head + 1, as_rows(events, head + 1))
        async with asyncio.timeout(PATIENCE):
            await store.searchable()  # sessions are found in the order in which they were indexed
    async with asyncio.timeout(PATIENCE):
        await store.searchable()
    said: list[object] = [
        await walked(store),
        await store.open_requests(),
        await store.session_counts(),
    ]
    said += [await walked(store, where) for where in FILTERS]
    said += [await store.session_counts(archived=True), await store.recent_folders(2, [LAPTOP])]
    said += [
        await store.usage(5),
        await store.recent_folders(9),
        await store.heads_of(LAPTOP),
        await store.found(),
    ]
    for name in sorted({name for name, _ in logs}):
        said += [
            await store.page(name, 5),
            await store.page(name, 3, after=2),
            await store.page(name, 4, around=3),
        ]
        said += [await store.read(name, 0), await store.edited(name), await store.session(name)]
        said += [await store.resume_point(name), await store.head_of(name)]
    for query in queries:
        said.append(await store.search(query, limit=50))
    return said
