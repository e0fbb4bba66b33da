"""Size policies: which viewer's window decides the size of a terminal that several people view."""

from collections.abc import Mapping
from typing import Protocol, TypeVar

Size = tuple[int, int]
Viewer = TypeVar("Viewer")


class SizePolicy(Protocol):
    """`rule` is its name in the settings (`terminal.size_owner`) and in the `size` message."""

    rule: str

    def choose(self, windows: Mapping[Viewer, Size], typist: Viewer | None) -> tuple[Viewer, Size]:
        """The viewer that owns the size, and the size. `windows` is not empty, and in order of arrival."""
        ...


class SmallestClientSize:
    """The terminal fits into every window; the viewer with the smallest window owns the size."""

    rule = "smallest"

    def choose(self, windows: Mapping[Viewer, Size], typist: Viewer | None) -> tuple[Viewer, Size]:
        owner = min(windows, key=lambda viewer: windows[viewer][0] * windows[viewer][1])
        cols, rows = zip(*windows.values(), strict=True)
        return owner, (min(cols), min(rows))


class LastTypistSize:
    """The viewer who typed last owns the size; before anybody types, the one who came first."""

    rule = "typing"

    def choose(self, windows: Mapping[Viewer, Size], typist: Viewer | None) -> tuple[Viewer, Size]:
        owner = typist if typist is not None and typist in windows else next(iter(windows))
        return owner, windows[owner]


SIZE_POLICIES: dict[str, SizePolicy] = {
    policy.rule: policy for policy in (SmallestClientSize(), LastTypistSize())
}
