"""Reads the keeper's note of when a terminal wrote what."""

from pathlib import Path

from bascule.keeper.layout import SPOOL, TIMES
from bascule.keeper.times import PAIR


def times_file(keeper: Path, session: str) -> Path:
    return keeper / SPOOL / session / TIMES


def read_times(path: Path) -> list[tuple[int, int]]:
    """Pairs of an offset and the milliseconds since 1970 at which the output from there came, in order.

    Nothing where an older keeper noted none; a pair that is cut off is left out.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    whole = len(data) - len(data) % PAIR.size
    return [(offset, at) for offset, at in PAIR.iter_unpack(data[:whole])]
