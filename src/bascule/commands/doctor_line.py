"""One line of `bascule doctor`."""

from typing import Literal

from msgspec import Struct

Level = Literal["ok", "warn", "fail"]


class Finding(Struct, frozen=True):
    level: Level
    what: str
    advice: str = ""
