"""The base of events, and the wire name of a class."""

import re

from msgspec import Struct


def snake(name: str) -> str:
    """`TextAppended` -> `text_appended`: the wire name of a class."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Event(Struct, frozen=True, tag_field="type", tag=snake, omit_defaults=True, gc=False):
    """The base of every fact. None refers to another in a circle, so the garbage collector skips them."""
