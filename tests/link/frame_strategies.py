"""Hypothesis strategies for every frame and every command, made from the types of their fields."""

from functools import cache
from typing import Any, get_args

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec import Raw, Struct, inspect

from bascule.link.frames import Ask, DeviceCommand, DownFrame, UpFrame
from bascule.model.commands import Actor

UP = get_args(UpFrame)
DOWN = get_args(DownFrame)
COMMANDS = get_args(DeviceCommand)

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
raws = json_values.map(lambda value: Raw(msgspec.json.encode(value)))


@cache
def frames(frame: type[Struct]) -> SearchStrategy[Any]:
    if frame is Ask:
        envelope = {
            "by": made(Actor),
            "key": st.none() | words,
            "deadline_ms": st.none() | st.integers(0, 2**40),
        }
        return st.builds(
            Ask, ask=st.integers(0, 2**63 - 1), command=st.one_of(*map(made, COMMANDS)), **envelope
        )
    return made(frame)


@cache
def made(struct: type[Struct]) -> SearchStrategy[Any]:
    return _of(inspect.type_info(struct))


def _of(kind: inspect.Type) -> SearchStrategy[Any]:
    match kind:
        case inspect.StructType():
            fields = {field.name: _of(field.type) for field in kind.fields}
            return st.builds(kind.cls, **fields)
        case inspect.StrType(pattern=str() as pattern):
            return st.from_regex(pattern, fullmatch=True).map(lambda text: text.rstrip("\n"))
        case inspect.StrType():
            return words.filter(lambda text: len(text) >= (kind.min_length or 0))
        case inspect.BytesType():
            return st.binary(max_size=20)
        case inspect.RawType():
            return raws
        case inspect.BoolType():
            return st.booleans()
        case inspect.IntType():
            return st.integers(_least(kind), _most(kind))
        case inspect.FloatType():
            return st.floats(-1e10, 1e10, allow_nan=False)
        case inspect.NoneType():
            return st.none()
        case inspect.LiteralType():
            return st.sampled_from(kind.values)
        case inspect.UnionType():
            return st.one_of(*map(_of, kind.types))
        case inspect.DictType():
            return st.dictionaries(_of(kind.key_type), _of(kind.value_type), max_size=3)
        case inspect.VarTupleType():
            return st.lists(_of(kind.item_type), min_size=kind.min_length or 0, max_size=3).map(tuple)
        case inspect.ListType():
            return st.lists(_of(kind.item_type), min_size=kind.min_length or 0, max_size=3)
        case inspect.TupleType():
            return st.tuples(*map(_of, kind.item_types))
        case _:
            raise TypeError(f"no strategy for {kind}")


def _least(kind: inspect.IntType) -> int:
    return -(2**53) if kind.ge is None else int(kind.ge)


def _most(kind: inspect.IntType) -> int:
    if kind.lt is not None:
        return int(kind.lt) - 1
    return 2**53 if kind.le is None else int(kind.le)
