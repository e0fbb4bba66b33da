"""Describes a decoding error to the person who sent the value."""

import re
from typing import Any, cast

import msgspec

_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "nothing",
}
_PLACE = re.compile(r" - at `(?:key in )?\$(?P<path>.*)`$")
_STEP = re.compile(r"\.(?P<name>[^.\[\]]+)|\[(?P<at>\d+|\.\.\.)\]")
_LENGTH = re.compile(r"Expected `(?P<kind>\w+)` of length (?P<sign>[<>]=) (?P<limit>\d+)")
_RANGE = re.compile(r"Expected `\w+` (?P<sign>[<>]=?) (?P<limit>[-\d.e+]+)")
_TYPE = re.compile(r"Expected `(?P<wanted>[^`]+)`, got `(?P<got>\w+)`")
_FIELD = re.compile(r"Object (?P<how>missing required|contains unknown) field `(?P<name>[^`]*)`")
_SIGNS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}


class TooLong(msgspec.Struct, frozen=True):
    """A text that goes beyond its limit."""

    field: str
    length: int
    limit: int


def too_long(error: msgspec.ValidationError, value: object) -> TooLong | None:
    """The text that is too long, when that is what is wrong."""
    message, steps = _apart(error)
    found = _LENGTH.match(message)
    if found is None or (found["kind"], found["sign"]) != ("str", "<="):
        return None
    culprit = _at(value, steps, int(found["limit"]))
    return TooLong(_name(steps), len(culprit) if isinstance(culprit, str) else 0, int(found["limit"]))


def in_words(error: msgspec.ValidationError, value: object = None) -> str:
    """One sentence for the person; `value` is what was read, to say how long a text is."""
    message, steps = _apart(error)
    name = _name(steps)
    long = too_long(error, value)
    if long is not None:
        size = f"is {long.length:,} characters long" if long.length else "is too long"
        return f"{name} {size}; at most {long.limit:,} fit."
    if found := _LENGTH.match(message):
        if found["kind"] == "str":
            return f"{name} is empty." if found["limit"] == "1" else f"{name} is too short."
        return f"{name} takes {_SIGNS[found['sign']]} {found['limit']} entries."
    if found := _RANGE.match(message):
        return f"{name} must be {_SIGNS[found['sign']]} {found['limit'].removesuffix('.0')}."
    if found := _TYPE.match(message):
        wanted = " or ".join(_KINDS.get(one, one) for one in found["wanted"].split(" | "))
        return f"{name} must be {wanted}, not {_KINDS.get(found['got'], found['got'])}."
    if found := _FIELD.match(message):
        if found["how"].startswith("missing"):
            return f"The field {found['name']!r} is missing."
        return f"There is no field {found['name'][:80]!r} here."
    if message.startswith("Invalid enum value") or message.startswith("Invalid value"):
        return f"{name} can't be {message.split(' value ', 1)[1][:80]}."
    if "matching regex" in message:
        return f"{name} is not written as it must be."
    return f"{name} is not as it must be."


def _apart(error: msgspec.ValidationError) -> tuple[str, list[str]]:
    """The parser's own words, and the way to the value they are about."""
    text = str(error)
    found = _PLACE.search(text)
    if found is None:
        return text, []
    steps = [step["name"] or step["at"] for step in _STEP.finditer(found["path"])]
    return text[: found.start()], steps


def _name(steps: list[str]) -> str:
    """How the value is called: the last name on the way to it."""
    names = [step for step in steps if not step.isdigit() and step != "..."]
    return f"`{names[-1]}`" if names else "The message"


def _at(value: object, steps: list[str], limit: int) -> object:
    for place, step in enumerate(steps):
        if step == "...":  # some value of a mapping: the parser does not say which
            inner = cast("dict[str, object]", value).values() if isinstance(value, dict) else ()
            rest = steps[place + 1 :]
            ends = [_at(one, rest, limit) for one in inner]
            return next((end for end in ends if isinstance(end, str) and len(end) > limit), None)
        try:
            value = cast(Any, value)[int(step) if isinstance(value, list) else step]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value
