"""What policy needs from the file system, as an interface: the caller does the reading."""

from collections.abc import Callable

from msgspec import Struct

Look = Callable[[str], str | None]  # a path's real path, or None when that can't be said
# Hidden files and folders below a folder, and links that lead out of it, as patterns; None: too many to say.
HiddenIn = Callable[[str], tuple[str, ...] | None]


def _unknown(_: str) -> None:
    return None


class Disk(Struct, frozen=True):
    real: Look = _unknown
    hidden_in: HiddenIn = _unknown


UNSEEN = Disk()  # nothing can be looked up, so whatever depends on it asks
