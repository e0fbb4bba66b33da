"""A database connection as the store's statements use it; SQLite's own is one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

Values = Sequence[Any] | Mapping[str, Any]


class Rows(Protocol):
    """The result of a statement."""

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...

    def close(self) -> None: ...


class Connection(Protocol):
    """Statements are written for SQLite, with `?` or `:name` for values; another engine translates them."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statement: str, values: Values = (), /) -> Rows: ...

    def executemany(self, statement: str, values: Iterable[Values], /) -> Rows: ...

    def close(self) -> None: ...
