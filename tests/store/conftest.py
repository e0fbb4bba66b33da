"""What the store's tests share: one backend, a clock that a test moves, and stores that are closed again."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from tests.store.postgres_server import Server, reason_to_skip, running_server
from tests.store.postgres_store import Opener as OpenPostgres
from tests.store.postgres_store import open_at

from bascule.store.database import DatabaseStore
from bascule.store.sqlite import SqliteStore

Opener = Callable[..., Awaitable[SqliteStore]]


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": importlib.util.find_spec("uvloop") is not None}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "data" / "bascule.db"


@pytest.fixture
async def open_store(database: Path, clock: Clock) -> AsyncIterator[Opener]:
    """Opens the test's database (or another); whatever is still open at the end is closed."""
    opened: list[SqliteStore] = []

    async def open_it(path: Path | None = None) -> SqliteStore:
        store = SqliteStore.open(path or database, clock=clock, loop=asyncio.get_running_loop())
        opened.append(store)
        return store

    yield open_it
    for store in opened:
        await store.close()


@pytest.fixture
async def store(open_store: Opener) -> SqliteStore:
    return await open_store()


# A PostgreSQL server, where one is installed


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if (reason := reason_to_skip()) is not None:
        pytest.skip(reason)
    with running_server() as made:
        yield made


@pytest.fixture(scope="session")
def template(server: Server) -> str:
    """A database that was migrated once, to be copied for each test."""
    from bascule.store.postgres.schema import prepare

    url = server.new_database()
    prepare(url)
    return url.split("?")[0].rsplit("/", 1)[1]


@pytest.fixture
def url(server: Server, template: str) -> str:
    return server.new_database(template)


@pytest.fixture
async def open_postgres(url: str, clock: Clock) -> AsyncIterator[OpenPostgres]:
    opened: list[DatabaseStore] = []

    async def open_it() -> DatabaseStore:
        opened.append(await open_at(url, clock))
        return opened[-1]

    yield open_it
    for store in opened:
        await store.close()


@pytest.fixture
async def hub(open_postgres: OpenPostgres) -> DatabaseStore:
    return await open_postgres()
