"""Checks whether a process id is in use."""

import os


def pid_exists(pid: int) -> bool:
    """True also for another user's process. The id may have been reused since it was noted."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
