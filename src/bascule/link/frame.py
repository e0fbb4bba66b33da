"""The base of every frame between hub and daemon."""

from typing import Annotated

from msgspec import Meta, Struct

from bascule.model.events import snake

# A number that fits a database; no other is taken from the far side.
Whole = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Frame(Struct, frozen=True, tag_field="type", tag=snake, omit_defaults=True):
    """The base of every frame."""
