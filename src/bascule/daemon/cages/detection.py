"""Detects this machine's cage: Landlock, else bubblewrap, on macOS sandbox-exec; or why there is none."""

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from bascule.daemon.cages import bubblewrap, seatbelt
from bascule.model.capability import LEVELS, Capability
from bascule.transport.cage_support import LEAST, PORTS, knows_processor, landlock_version

LIMITS_PORTS = frozenset[Capability]({"read_only", "sandboxed"})


class Cage(Struct, frozen=True):
    """`problem`: why there is none, for people. `program`: what makes it, where the keeper does not."""

    kind: Literal["landlock", "bubblewrap", "seatbelt", "none"]
    version: int = 0
    program: str = ""
    problem: str = ""

    def problem_with(self, level: Capability) -> str:
        """Why this level can't be had here; empty when it can."""
        if level == "full":
            return ""
        if self.kind == "none":
            return self.problem
        if level in LIMITS_PORTS and (
            self.kind == "bubblewrap" or (self.kind == "landlock" and self.version < PORTS)
        ):
            return "limiting TCP ports needs Landlock as of Linux 6.7"
        return ""

    def levels(self) -> tuple[Capability, ...]:
        return tuple(level for level in LEVELS if not self.problem_with(level))


def look(environ: Mapping[str, str]) -> Cage:
    """Look at the kernel, and at what is installed. Starts bubblewrap once, if it is needed."""
    if sys.platform == "darwin":
        there = os.access(seatbelt.PROGRAM, os.X_OK)
        return Cage("seatbelt") if there else Cage("none", problem=f"there is no {seatbelt.PROGRAM}")
    if sys.platform != "linux":
        return Cage("none", problem="there is none for this system")
    if not knows_processor():
        return Cage("none", problem=f"there is none for the processor {os.uname().machine}")
    version = landlock_version()
    if version >= LEAST:
        return Cage("landlock", version)
    return _bubblewrap(environ, version)


def _bubblewrap(environ: Mapping[str, str], version: int) -> Cage:
    kernel = f"the kernel's Landlock is too old ({version})" if version else "the kernel has no Landlock"
    program = shutil.which("bwrap", path=environ.get("PATH", os.defpath))
    if program is None:
        return Cage("none", problem=f"{kernel}, and bubblewrap is not installed")
    if not bubblewrap.usable(program):
        return Cage("none", problem=f"{kernel}, and bubblewrap may not make name spaces here")
    return Cage("bubblewrap", program=os.path.realpath(program))
