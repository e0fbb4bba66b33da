"""A cage by bubblewrap: mounts only what the level names. For kernels without Landlock."""

import subprocess
from collections.abc import Sequence

from bascule.daemon.cages.reach import DEVICES, PROJECT, Reach

TRY_SECONDS = 5.0
# It makes these itself: its own processes, and devices that lead nowhere else.
_MADE = frozenset({"/proc", *DEVICES})


def usable(program: str) -> bool:
    """Whether it can make a cage here: some systems do not let a user make name spaces."""
    argv = [program, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "/bin/true"]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=TRY_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def wrapped(program: str, reach: Reach, cwd: str, argv: Sequence[str]) -> tuple[str, ...]:
    """The command line that runs `argv` with these walls. Mounts in the order of their paths: a folder in a
    folder comes after it."""
    words = [program, "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    writable = {path for letters, path in reach.rules if "w" in letters}
    for path in sorted({cwd if path == PROJECT else path for _, path in reach.rules} - _MADE):
        here = PROJECT if path == cwd else path
        words += ["--bind-try" if here in writable or path in writable else "--ro-bind-try", path, path]
    return (*words, "--chdir", cwd, "--", *argv)
