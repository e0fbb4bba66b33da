"""Checks the folder a launch runs in: it exists, lies below an allowed root and is not Bascule's own."""

import os
import stat

from bascule.launch.errors import LaunchError
from bascule.policy.directories import inside


def check_working_directory(wanted: str | None, roots: tuple[str, ...], own: tuple[str, ...]) -> str:
    """The folder's real path; the home folder when none is wanted. Only the wanted path is ever named."""
    if wanted is None:
        return os.path.realpath(os.path.expanduser("~"))
    try:
        real = os.path.realpath(wanted, strict=True)
        info = os.stat(real)
    except OSError as error:
        raise _refused(f"The working directory {wanted} can't be used: {error.strerror}.") from None
    if not stat.S_ISDIR(info.st_mode):
        raise _refused(f"{wanted} is not a folder.")
    if not inside(real, [os.path.realpath(root) for root in roots]):
        message = f"{wanted} lies outside the folders that agents may work in (`roots` in the settings)."
        raise _refused(message)
    if inside(real, [os.path.realpath(one) for one in own]):
        raise _refused(f"{wanted} is part of Bascule's own files; choose a project's folder.")
    if not os.access(real, os.R_OK | os.X_OK):
        raise _refused(f"The working directory {wanted} can't be read by this user.")
    return real


def _refused(message: str) -> LaunchError:
    return LaunchError("invalid_working_directory", message)
