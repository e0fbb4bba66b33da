"""Detects what this machine's kernel offers for a cage, as the keeper would use it."""

from bascule.keeper import landlock, system_calls
from bascule.keeper.landlock import LEAST as LEAST
from bascule.keeper.landlock import PORTS as PORTS


def landlock_version() -> int:
    """The kernel's version of Landlock; 0 where there is none."""
    return landlock.abi()


def knows_processor() -> bool:
    """Whether the keeper has its filter of system calls for this machine's processor."""
    return system_calls.known()
