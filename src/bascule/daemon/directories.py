"""May a session run in this folder? It exists, is a folder, and really lies below an allowed root."""

import os
import stat

from bascule.model.errors import BadDirectory
from bascule.policy.directories import inside, problem_with


def check_directory(text: str, roots: tuple[str, ...]) -> tuple[str, tuple[int, int]]:
    """The folder's real path, and the device and inode it had when we looked."""
    if text == "~" or text.startswith("~/"):
        text = os.path.expanduser("~") + text[1:]
    problem = problem_with(text)
    if problem is not None:
        raise BadDirectory(problem)
    try:
        real = os.path.realpath(text, strict=True)
        info = os.stat(real, follow_symlinks=False)
    except FileNotFoundError as error:
        raise BadDirectory(f"There is no folder {text}.") from error
    except OSError as error:
        raise BadDirectory(f"The folder {text} can't be used: {error.strerror}.") from error
    if not stat.S_ISDIR(info.st_mode):
        raise BadDirectory(f"{text} is not a folder.")
    if not inside(real, [os.path.realpath(root) for root in roots]):
        raise BadDirectory(
            f"{text} lies outside the folders sessions may run in. Add it to `roots` in the settings first."
        )
    if not os.access(real, os.R_OK | os.X_OK):
        raise BadDirectory(f"The folder {text} can't be read by this user.")
    return real, (info.st_dev, info.st_ino)
