"""The one table of routes. Router, access check, OpenAPI and the access tests are all made from it."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec import Struct

from bascule.hub.api.intake import SMALL
from bascule.hub.door.roles import Need

Handler = Callable[[Any], Awaitable[object]]


class NoQuery(Struct, frozen=True):
    """A route that looks at no query."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One route: what it is called, what it needs, what it takes and what it gives."""

    method: str  # GET, POST, DELETE; WS is an upgrade of GET
    path: str
    need: Need
    serve: Handler
    summary: str
    body: type[Struct] | None = None
    query: type[Struct] = NoQuery
    answer: Any = None  # the type of the answer, for OpenAPI
    status: int = 200
    most: int = SMALL  # bytes of body
    ticket: bool = False  # may be opened with a single-use ticket
    opaque_origin: bool = False  # the portlet, whose origin is opaque ("null"), may read it, too
    described: bool = True  # is part of the API, not of the page
    pattern: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parts = [
            f"(?P<{part[1:-1]}>[^/]+)" if part.startswith("{") else re.escape(part) for part in self.parts
        ]
        object.__setattr__(self, "pattern", re.compile("/".join(parts)))

    @property
    def parts(self) -> list[str]:
        return self.path.split("/")

    @property
    def token_in_body(self) -> bool:
        return self.need in ("session_read", "session_write") and self.method in ("POST", "DELETE")


class Match(NamedTuple):
    row: Row | None
    params: dict[str, str]
    methods: list[str]  # that this path has, for `Allow`


class Table:
    """Finds the row of a request; rows without parameters come first."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = sorted(rows, key=lambda row: "{" in row.path)

    def find(self, method: str, path: str) -> Match:
        methods: list[str] = []
        for row in self.rows:
            found = row.pattern.fullmatch(path)
            if found is None:
                continue
            if row.method == method:
                return Match(row, found.groupdict(), [])
            methods.append("GET" if row.method == "WS" else row.method)
        return Match(None, {}, methods)
