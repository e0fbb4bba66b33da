"""Reads fields of a wire object without trusting their types: a field of the wrong type counts as absent."""

import math
import re
from typing import Annotated, cast

import msgspec
from msgspec import Meta

JsonObject = dict[str, object]
MAX_ID = 256  # ids are remembered, so they must be short
Id = Annotated[str, Meta(max_length=MAX_ID)]

_generic = msgspec.json.Decoder()

_LARGEST_WHOLE = 2**53  # JavaScript's limit of exact integers
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.S
)

# Everything a decoder may raise on hostile bytes.
DECODE_ERRORS = (msgspec.MsgspecError, UnicodeError, RecursionError)


def loosely(data: bytes | msgspec.Raw) -> JsonObject:
    """Decode an object without a schema; empty if it is not an object."""
    try:
        return as_object(_generic.decode(data))
    except DECODE_ERRORS:
        return {}


def text(source: JsonObject, key: str) -> str | None:
    value = source.get(key)
    return value if isinstance(value, str) else None


def words(source: JsonObject, key: str, limit: int = 4096) -> str:
    """A text for people: empty if absent, clipped if too long."""
    return clip(text(source, key) or "", limit)


def clip(value: str, limit: int) -> str:
    return value if len(value) <= limit else f"{value[:limit]}… [{len(value) - limit} more characters]"


def whole(source: JsonObject, key: str) -> int | None:
    value = source.get(key)
    if type(value) is int:  # nearly always, and never a bool
        return value if 0 <= value < _LARGEST_WHOLE else None
    if not isinstance(value, float) or not math.isfinite(value):
        return None
    return int(value) if 0 <= value < _LARGEST_WHOLE else None


def number(source: JsonObject, key: str) -> float | None:
    value = source.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < _LARGEST_WHOLE else None


def true(source: JsonObject, key: str) -> bool:
    return source.get(key) is True


def mapping(source: JsonObject, key: str) -> JsonObject:
    return as_object(source.get(key))


def as_object(value: object) -> JsonObject:
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def items(source: JsonObject, key: str) -> list[object]:
    value = source.get(key)
    return cast(list[object], value) if isinstance(value, list) else []


def objects(source: JsonObject, key: str) -> list[JsonObject]:
    return [cast(JsonObject, item) for item in items(source, key) if isinstance(item, dict)]


def without_lone_surrogates(line: bytes) -> bytes:
    """Replace lone surrogates, which JavaScript writes when it cuts an emoji; strict decoders refuse them."""
    return _ESCAPE.sub(lambda found: b"\\ufffd" if found.group(1) else found.group(0), line)
