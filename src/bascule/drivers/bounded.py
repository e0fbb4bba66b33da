"""Bounds the size of a driver's memory, whatever an agent sends."""

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def forget_oldest(known: dict[K, V], limit: int, counts: Callable[[V], bool] = lambda _: True) -> None:
    """Drop the oldest entries for which `counts` holds, beyond `limit`."""
    if len(known) <= limit:
        return
    counted = [key for key, value in known.items() if counts(value)]
    for key in counted[: max(0, len(counted) - limit)]:
        del known[key]
