"""A hub whose PostgreSQL takes nothing (full, closed for changes, no connection left), and then does again.

The hub logs in as docs/scaling.md has it for the careful: a member of the role that can't change the log.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from tests.machines.cluster import Watcher, grown, problem, start
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.small_disk import SmallDisk, small_disk
from tests.store.postgres_server import Server
from tests.waiting import PATIENCE, within

from bascule.model.events import PromptQueued

pytestmark = pytest.mark.anyio

LOGIN = "hub_of_troubles"
CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{}'"


class Place(NamedTuple):
    hub: Hub
    laptop: Machine
    disk: SmallDisk
    postgres: Server

    async def run(self, *statements: str) -> None:
        await asyncio.to_thread(self.postgres.run, *statements)


@pytest.fixture(scope="module")
def disk(postgres: Server) -> Iterator[SmallDisk]:
    with small_disk(postgres) as made:
        yield made


@pytest.fixture(scope="module")
async def place(module_dir: Path, postgres: Server, disk: SmallDisk) -> AsyncIterator[Place]:
    from bascule.store.postgres.schema import prepare

    await asyncio.to_thread(prepare, disk.url)
    login = f"CREATE ROLE {LOGIN} LOGIN IN ROLE bascule_hub"
    await asyncio.to_thread(postgres.run, login)
    try:
        async with contextlib.AsyncExitStack() as closing:
            for name in ("h", "l"):
                (module_dir / name).mkdir(mode=0o700)
            store = disk.url.replace("//ana@", f"//{LOGIN}@")
            hub = await closing.enter_async_context(Hub(module_dir / "h", env={"BASCULE_STORE": store}))
            laptop = Machine(module_dir / "l", "d-laptop")
            await laptop.join(hub)
            await closing.enter_async_context(laptop)
            await hub.until_device("d-laptop", online=True)
            yield Place(hub, laptop, disk, postgres)
    finally:
        await asyncio.to_thread(postgres.run, f"DROP ROLE {LOGIN}")


@contextlib.asynccontextmanager
async def full(place: Place) -> AsyncIterator[str]:
    await asyncio.to_thread(place.disk.fill)
    yield "disk of the database is full"
    place.disk.empty()


@contextlib.asynccontextmanager
async def read_only(place: Place) -> AsyncIterator[str]:
    name = urlsplit(place.disk.url).path.removeprefix("/")
    await place.run(f"ALTER DATABASE {name} SET default_transaction_read_only = on", CUT.format(LOGIN))
    yield "takes no changes"
    await place.run(f"ALTER DATABASE {name} RESET default_transaction_read_only")


@contextlib.asynccontextmanager
async def too_many(place: Place) -> AsyncIterator[str]:
    await place.run(f"ALTER ROLE {LOGIN} CONNECTION LIMIT 0", CUT.format(LOGIN))
    yield "too many connections"
    await place.run(f"ALTER ROLE {LOGIN} CONNECTION LIMIT -1")


Trouble = Callable[[Place], contextlib.AbstractAsyncContextManager[str]]


@pytest.mark.row("X11")
@pytest.mark.parametrize("trouble", [full, read_only, too_many])
async def test_the_page_says_what_is_wrong_agents_go_on_and_nothing_is_lost(
    place: Place, trouble: Trouble
) -> None:
    hub, laptop, _, _ = place
    session = await start(hub, laptop, "count 100000 10")
    watcher = Watcher(session, [hub])
    try:
        await watcher.beyond(3)
        async with trouble(place) as words:
            await problem(hub, words)
            head = watcher.last
            for _ in range(20):  # over some tries of the hub: it never takes it for over
                head = await grown(laptop, session, head)  # its agent goes on
                assert [bool(one["storageProblem"]) for one in (await hub.devices()).values()] == [True]
            # What somebody types reaches the machine, which keeps it; or they are told to try again.
            typed = await hub.post(f"/api/sessions/{session}/send", text="next, please")
            assert typed.status_code in (200, 503, 507), typed.text
        with within(1.0):
            await watcher.beyond(watcher.last)
        await watcher.beyond(await grown(laptop, session, watcher.last))
        assert watcher.connected == 1  # the page stayed open
        assert [one["storageProblem"] for one in (await hub.devices()).values()] == [None]
        queued = [row.event for row in await hub.log(session) if isinstance(row.event, PromptQueued)]
        assert [one.text for one in queued] == (["next, please"] if typed.status_code == 200 else [])
        assert (await hub.http.delete(f"/api/sessions/{session}")).status_code == 200
        async with asyncio.timeout(PATIENCE):
            await equal_logs(hub, laptop, session)
    finally:
        await watcher.close()
