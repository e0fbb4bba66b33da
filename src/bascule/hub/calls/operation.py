"""Operations: everything a person or program can ask the hub for, each declared once.

The HTTP router, the socket's dispatcher, the access check, OpenAPI, the page's types and the access tests are
all made from these declarations.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec import Struct, structs

from bascule.hub.door.roles import Need
from bascule.hub.wire.intake import SMALL

Run = Callable[[Any], Awaitable[object]]


class Empty(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """No parameters."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """`name` is its message type over the socket, `method` and `path` its route; one of both may be missing.

    `body` holds all parameters. Over HTTP they come from the path, and from the query of a GET or the JSON of
    any other method.
    """

    run: Run  # gets a `Call`, gives the answer
    need: Need
    summary: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    synonyms: dict[str, str] = field(default_factory=dict[str, str])  # other names of parameters, in JSON
    method: str = ""  # GET, POST, DELETE; WS is an upgrade of GET
    path: str = ""
    body: type[Struct] = Empty
    answer: Any = None  # the type of the answer; None for streams and files
    for_device: bool = False  # a device carries it out: `device` beside the parameters names it
    in_session: bool = False  # acts in the session its body names; the call has that session's record
    answer_key: str = ""  # over the socket the answer stands under this name
    max_bytes: int = SMALL  # of the body
    ticket: bool = False  # may be opened with a single-use ticket
    opaque_origin: bool = False  # the portlet, whose origin is opaque ("null"), may read it, too
    described: bool = True  # is part of the API, not of the page
    parts: tuple[str, ...] = field(init=False, repr=False)  # of the path
    fields: dict[str, str] = field(init=False, repr=False)  # of the body: field name -> name in JSON

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.path.split("/")))
        names = {one.name: one.encode_name for one in structs.fields(self.body)}
        object.__setattr__(self, "fields", names)
        if self.need.startswith("session") and not self.in_session:
            raise ValueError(f"{self.summary}: it needs a session, so it must act in one.")
        if self.in_session and ("session_id" not in names or (self.path and "{session_id}" not in self.path)):
            raise ValueError(f"{self.summary}: its path and body must name the session.")

    def params(self, parts: list[str]) -> dict[str, str] | None:
        """The parameters in a path of as many parts, if it is one of this operation's."""
        params: dict[str, str] = {}
        for part, given in zip(self.parts, parts, strict=True):
            if part.startswith("{") and given:
                params[part[1:-1]] = given
            elif part != given:
                return None
        return params

    def given(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Parameters by their own names, whichever name each came by."""
        for other, name in self.synonyms.items():
            if other in fields and name not in fields:
                fields[name] = fields.pop(other)
        return fields

    @property
    def names(self) -> tuple[str, ...]:
        """All its message types."""
        return (self.name, *self.aliases) if self.name else ()

    @property
    def token_in_body(self) -> bool:
        return self.need in ("session_read", "session_write") and self.method in ("POST", "DELETE")


class Match(NamedTuple):
    operation: Operation | None
    params: dict[str, str]
    methods: list[str]  # that this path has, for `Allow`


class Table:
    """Finds an operation by route, those without parameters first, or by message type."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self.all = tuple(operations)
        self.routes = sorted((one for one in self.all if one.path), key=lambda one: "{" in one.path)
        self.messages = {name: one for one in self.all for name in one.names}
        self._by_length: dict[int, list[Operation]] = {}
        for one in self.routes:
            self._by_length.setdefault(len(one.parts), []).append(one)

    def find(self, method: str, path: str) -> Match:
        methods: list[str] = []
        parts = path.split("/")
        for operation in self._by_length.get(len(parts), []):
            params = operation.params(parts)
            if params is None:
                continue
            if operation.method == method:
                return Match(operation, params, [])
            methods.append("GET" if operation.method == "WS" else operation.method)
        return Match(None, {}, methods)
