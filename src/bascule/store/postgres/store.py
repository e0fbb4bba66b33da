"""The PostgreSQL store: a hub's, for those who have a server already. A daemon's store is its own file."""

import asyncio
import secrets
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from bascule.model.errors import BasculeError, StoreRefused
from bascule.store.database import DatabaseStore
from bascule.store.postgres.asyncpg_module import asyncpg
from bascule.store.postgres.connection import PostgresConnection
from bascule.store.postgres.engine import PostgresEngine
from bascule.store.postgres.errors import in_our_words
from bascule.store.postgres.schema import prepare
from bascule.store.reader import Readers

META = "SELECT name, value FROM meta WHERE name IN ('epoch', 'hub', 'node_key')"


class Shared(NamedTuple):
    """What the nodes on one database have in common, and this one's own name among them."""

    node: str
    hub: str  # the id by which machines know the hub, whichever node they reach
    key: str  # nodes show it to each other
    epoch: str
    url: str
    role: str | None


class PostgresStore(DatabaseStore):
    """A `HubStore` and a `BookStore`. Made by `open`."""

    shared: Shared
    announced: Callable[[str, int], bool]  # whether the commit of a row woke the other nodes

    @classmethod
    async def open(
        cls, url: str, *, clock: Callable[[], float], loop: asyncio.AbstractEventLoop
    ) -> "PostgresStore":
        """Raises `StoreRefused` when the server does not let us in, `StorageFailed` when it is away, and
        `AlreadyRunning` while the database is being filled."""
        writer, shared = await asyncio.to_thread(_opened, url)
        readers = Readers(partial(PostgresConnection, url, role=shared.role), in_our_words, loop)
        engine = PostgresEngine(writer, shared.node)
        store = cls(engine, readers, shared.epoch, None, clock, loop)
        store.shared, store.announced = shared, engine.announced
        return store


def _opened(url: str) -> tuple[PostgresConnection, Shared]:
    """The connection that writes, and what the nodes share."""
    try:
        role = prepare(url)
        writer = PostgresConnection(url, writes=True, role=role)
        try:
            meta = {name: bytes(value).decode() for name, value in writer.execute(META)}
        except BaseException:
            writer.close()
            raise
        node = secrets.token_hex(8)
        return writer, Shared(node, meta["hub"], meta["node_key"], meta["epoch"], url, role)
    except BasculeError:
        raise
    except (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError) as error:
        raise StoreRefused(
            f"PostgreSQL does not let Bascule in: {error}. Check the address of `store`."
        ) from error
    except (ValueError, asyncpg.ClientConfigurationError) as error:
        raise StoreRefused(f"`store` is no address of a PostgreSQL database: {error}") from error
    except Exception as error:
        raise in_our_words(error) from error
