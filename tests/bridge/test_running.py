"""The bridge's own view of a program's output: a rolling buffer for its hooks."""

from collections.abc import Iterator
from typing import cast

import pytest

from bascule.bridge.bridge_types import BridgeSession, StartOptions
from bascule.bridge.running import Running
from bascule.transport.position import Position
from bascule.transport.spool import SpoolReader

pytestmark = pytest.mark.anyio


class Tape:
    """A spool that holds what the test writes."""

    def __init__(self) -> None:
        self.data = b""

    def read(self, start: int, most: int) -> bytes:
        return self.data[start : start + most]


def sizes(*pieces: int) -> Iterator[tuple[int, str]]:
    """How long the buffer is, and how it begins, after each piece of so many characters."""
    tape, seen = Tape(), list[tuple[int, str]]()
    positions: list[Position] = []

    def hook(_: str, buffer: str) -> None:
        seen.append((len(buffer), buffer[:2]))

    made = Running(
        cast("BridgeSession", None),
        StartOptions(),
        cast("SpoolReader", tape),
        None,
        hook,
        lambda _: None,
        positions.append,
    )
    for n, size in enumerate(pieces):
        tape.data += str(n).encode() * size
        made.output()
    return iter(seen)


async def test_the_buffer_holds_ten_thousand_characters_and_is_cut_to_the_last_five_thousand():
    assert list(sizes(9_999, 1, 1, 4_999, 1)) == [
        (9_999, "00"),
        (10_000, "00"),
        (5_000, "00"),
        (9_999, "00"),
        (10_000, "00"),
    ]
    assert list(sizes(4_000, 7_000)) == [(4_000, "00"), (5_000, "11")]
