"""Makes the least that each operation accepts, from the types of its parameters.

Made rather than written down, so that a new operation, or a new required field of an old one, is called, too.
"""

import re
from typing import Any

from msgspec import Struct, inspect

from bascule.hub.calls.operation import Operation

_IN_PATH = re.compile(r"\{(\w+)\}")
TEXT = "s1"  # the session of these tests, and a text like any other


def path_of(operation: Operation) -> str:
    """Its path, each parameter filled in."""
    needed = _required(operation.body)
    return _IN_PATH.sub(lambda at: str(valid(needed[at[1]])) if at[1] in needed else TEXT, operation.path)


def parameters_of(operation: Operation) -> dict[str, Any]:
    """What has to stand beside its path, in the query or the JSON."""
    in_path = set(_IN_PATH.findall(operation.path))
    needed = _required(operation.body)
    return {operation.fields[name]: valid(kind) for name, kind in needed.items() if name not in in_path}


def message_of(operation: Operation) -> dict[str, Any]:
    """All its parameters, as a message over the socket has them."""
    return {operation.fields[name]: valid(kind) for name, kind in _required(operation.body).items()}


def valid(kind: inspect.Type) -> Any:
    """A value of this type. A type that is new here fails, rather than being left out."""
    match kind:
        case inspect.StrType():
            text = TEXT.ljust(kind.min_length or 0, "x")
            assert kind.pattern is None or re.fullmatch(kind.pattern, text), kind
            return text
        case inspect.IntType():
            return 1 if kind.ge is None else max(kind.ge, 1)
        case inspect.BoolType():
            return True
        case inspect.LiteralType():
            return kind.values[0]
        case inspect.VarTupleType() | inspect.ListType():
            return [valid(kind.item_type)] * (kind.min_length or 0)
        case inspect.DictType():
            assert not kind.min_length, kind
            return {}
        case inspect.StructType():
            return {one.encode_name: valid(one.type) for one in kind.fields if one.required}
        case inspect.UnionType():
            return valid(kind.types[0])
        case _:
            raise AssertionError(f"say here what a valid {kind} is")


def _required(body: type[Struct]) -> dict[str, inspect.Type]:
    told = inspect.type_info(body)
    assert isinstance(told, inspect.StructType)
    return {one.name: one.type for one in told.fields if one.required}
