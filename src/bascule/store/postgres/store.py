"""The PostgreSQL store: a hub's, for those who have a server already. A daemon's store is its own file."""

import asyncio
from collections.abc import Callable
from functools import partial

from bascule.model.errors import BasculeError, StoreRefused
from bascule.store.database import DatabaseStore
from bascule.store.postgres.connection import PostgresConnection
from bascule.store.postgres.driver import asyncpg
from bascule.store.postgres.engine import PostgresEngine
from bascule.store.postgres.errors import in_our_words
from bascule.store.postgres.schema import prepare
from bascule.store.reader import Readers

EPOCH = "SELECT value FROM meta WHERE name = 'epoch'"


class PostgresStore(DatabaseStore):
    """A `HubStore` and a `BookStore`. Made by `open`."""

    @classmethod
    async def open(
        cls, url: str, *, clock: Callable[[], float], loop: asyncio.AbstractEventLoop
    ) -> "PostgresStore":
        """Raises `StoreRefused` when the server does not let us in, `StorageFailed` when it is away, and
        `AlreadyRunning` when another hub writes into the database."""
        writer, epoch, role = await asyncio.to_thread(_opened, url)
        readers = Readers(partial(PostgresConnection, url, role=role), in_our_words, loop)
        return cls(PostgresEngine(writer), readers, epoch, None, clock, loop)


def _opened(url: str) -> tuple[PostgresConnection, str, str | None]:
    """The connection that writes, the epoch, and the role that readers serve with."""
    try:
        role = prepare(url)
        writer = PostgresConnection(url, writes=True, role=role)
        try:
            epoch = bytes(writer.execute(EPOCH).fetchone()[0]).decode()
        except BaseException:
            writer.close()
            raise
        return writer, epoch, role
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
