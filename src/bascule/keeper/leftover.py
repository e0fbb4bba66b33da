"""A spool folder that an earlier keeper left: its process is lost, its output is still readable."""

import os

from bascule.keeper.about import load
from bascule.keeper.layout import SPOOL
from bascule.keeper.session import Exit
from bascule.keeper.spool import Spool


class Leftover:
    exit = Exit(None, None, lost=True)
    storage_error = None

    def __init__(self, folder: str, session: str) -> None:
        self.id = session
        self.about = load(folder)
        self._out = Spool(folder, "out")
        self._err = Spool(folder, "err")

    @property
    def ends(self) -> tuple[int, int]:
        return self._out.end, self._err.end

    @property
    def bases(self) -> tuple[int, int]:
        return self._out.base, self._err.base

    def advance(self, positions: tuple[int, int], trims: tuple[int, int]) -> None:
        self._out.trim(min(positions[0], trims[0]))
        self._err.trim(min(positions[1], trims[1]))

    def close(self) -> None:
        self._out.close()
        self._err.close()


def find_leftovers(folder: str) -> dict[str, Leftover]:
    spools = os.path.join(folder, SPOOL)
    return {name: Leftover(os.path.join(spools, name), name) for name in sorted(os.listdir(spools))}
