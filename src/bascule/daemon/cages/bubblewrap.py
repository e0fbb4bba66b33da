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
    """The command line that runs `argv` with these walls."""
    words = [program, "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for path, writable in _mounts(reach, cwd).items():
        words += ["--bind-try" if writable else "--ro-bind-try", path, path]
    return (*words, "--chdir", cwd, "--", *argv)


def _mounts(reach: Reach, cwd: str) -> dict[str, bool]:
    """Each path with whether it is writable; without those that are in a folder which is mounted so already.
    In the order of their paths: what is in a folder comes after it."""
    wanted: dict[str, bool] = {}
    for letters, path in reach.rules:
        path = cwd if path == PROJECT else path.rstrip("/")
        wanted[path] = wanted.get(path, False) or "w" in letters
    mounts: dict[str, bool] = {}
    for path in sorted(wanted.keys() - _MADE):
        around = [held for folder, held in mounts.items() if path.startswith(folder + "/")]
        if not around or (wanted[path] and not around[-1]):
            mounts[path] = wanted[path]
    return mounts
