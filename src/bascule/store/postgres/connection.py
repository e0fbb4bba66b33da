"""A connection to PostgreSQL with the manners of SQLite's: one statement at a time, on the calling thread.

asyncpg needs an event loop; this one's runs only while a statement does, in whatever thread asks. So the code
that writes and reads SQLite writes and reads PostgreSQL too, and the server's own event loop never waits.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from bascule.model.errors import AlreadyRunning, StorageFailed
from bascule.store.connection import Values
from bascule.store.postgres.address import why_away
from bascule.store.postgres.asyncpg_module import asyncpg
from bascule.store.postgres.dialect import translated
from bascule.store.postgres.errors import AWAY
from bascule.store.postgres.words import PostgresWords

SCHEMA = "bascule"
ROLE = "bascule_hub"  # may not change the log
CONNECT_SECONDS = 5
STATEMENT_SECONDS = 30
STATEMENTS = 300  # that are kept prepared
IDLE_SECONDS = 10  # that a transaction may stand still: a node that hangs must not hold up the others
HUB_LOCK = (0x42617363, 2)  # shared by the nodes that write; exclusive while a database is filled
NUL = "\ufdd0"  # stands for the character 0, which no text in PostgreSQL holds; no character itself
READ_ONLY = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
SHARE_LOCK = "SELECT pg_try_advisory_lock_shared($1, $2)"
TAKE_TURN = "SELECT node FROM writing FOR UPDATE"  # waits for the node that writes just now
IN_USE = (
    "The database is being filled by `bascule store copy`, or used by an older Bascule, which shares it with "
    "nobody. Wait until that has ended."
)

T = TypeVar("T")


class Fetched:
    """All rows of a statement."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = iter(rows)

    def fetchone(self) -> Any:
        return next(iter(self), None)

    def fetchall(self) -> list[Any]:
        return list(self)

    def __iter__(self) -> Iterator[Any]:
        return map(_read, self._rows)

    def close(self) -> None:
        self._rows = iter(())


class PostgresConnection:
    """Used by one thread at a time, never by one that runs an event loop. Connects again by itself."""

    words = PostgresWords()

    def __init__(self, url: str, *, writes: bool = False, role: str | None = ROLE) -> None:
        self._url = url
        self._writes = writes
        self._role = role
        self._loop = asyncio.SelectorEventLoop()
        self._server: Any = None  # asyncpg's connection
        self.connected = 0  # how often
        self.wrote_last = ""  # the node whose transaction came before the one that is open

    @property
    def in_transaction(self) -> bool:
        server = self._server
        return server is not None and not server.is_closed() and server.is_in_transaction()

    def execute(self, statement: str, values: Values = (), /) -> Fetched:
        if statement.startswith("BEGIN"):
            return self._begin(statement)
        text, names = translated(statement)
        given = values if isinstance(values, Sequence) else _in_order(values, names)
        return Fetched(self._run(self._connected().fetch(text, *map(_plain, given))))

    def executemany(self, statement: str, values: Iterable[Values], /) -> Fetched:
        text, names = translated(statement)
        rows = [
            [_plain(one) for one in (row if isinstance(row, Sequence) else _in_order(row, names))]
            for row in values
        ]
        if rows:
            self._run(self._connected().executemany(text, rows))
        return Fetched(())

    def script(self, text: str) -> None:
        """Several statements of PostgreSQL's own, as they are."""
        self._run(self._connected().execute(text))

    def drop(self) -> None:
        """Have the next transaction connect again: this connection may be of no use for good."""
        server, self._server = self._server, None
        if server is not None and not server.is_closed():
            server.terminate()

    def close(self) -> None:
        server, self._server = self._server, None
        try:
            if server is not None and not server.is_closed():
                self._loop.run_until_complete(server.close(timeout=CONNECT_SECONDS))
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
            if server is not None:
                server.terminate()
        finally:
            self._loop.close()

    def _begin(self, statement: str) -> Fetched:
        """A connection that was cut since the last transaction has lost nothing: a new one does as well."""
        begin = translated(statement).text if self._writes else READ_ONLY
        if self._server is not None and not self._server.is_closed():
            try:
                return self._begun(begin)
            except (OSError, asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError):
                self._server.terminate()
        self._server = None
        return self._begun(begin)

    def _begun(self, begin: str) -> Fetched:
        self._run(self._connected().fetch(begin))
        if self._writes:
            self.wrote_last = str(self._run(self._server.fetchval(TAKE_TURN)))
        return Fetched(())

    def _connected(self) -> Any:
        if self._server is None:
            try:
                self._server = self._loop.run_until_complete(self._connect())
            except (OSError, TimeoutError) as error:
                raise StorageFailed(AWAY.format(why=why_away(error, self._url))) from error
            self.connected += 1
        return self._server

    async def _connect(self) -> Any:
        settings = {"application_name": "bascule", "search_path": SCHEMA}
        if self._role is not None:
            settings["role"] = self._role
        if self._writes:
            settings["idle_in_transaction_session_timeout"] = f"{IDLE_SECONDS}s"
        server = await asyncpg.connect(
            self._url,
            timeout=CONNECT_SECONDS,
            command_timeout=STATEMENT_SECONDS,
            statement_cache_size=STATEMENTS,
            server_settings=settings,
        )
        if self._writes and not await server.fetchval(SHARE_LOCK, *HUB_LOCK):
            await server.close()
            raise AlreadyRunning(IN_USE)
        return server

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return self._loop.run_until_complete(work)
        except asyncpg.InterfaceError as error:
            if self._server is not None and self._server.is_closed():
                raise ConnectionResetError(str(error)) from error
            raise


def _in_order(values: Mapping[str, Any], names: tuple[str, ...] | None) -> list[Any]:
    return [values[name] for name in names or ()]


def _plain(value: Any) -> Any:
    """A value as the server takes it; bytes are kept as they are."""
    if isinstance(value, str):
        return value.replace("\0", NUL) if "\0" in value else value
    return int(value) if isinstance(value, bool) else value


def _read(row: Any) -> tuple[Any, ...]:
    values: tuple[Any, ...] = tuple(row)
    if any(isinstance(value, str) and NUL in value for value in values):
        return tuple(value.replace(NUL, "\0") if isinstance(value, str) else value for value in values)
    return values
