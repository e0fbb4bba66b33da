"""Checks that a session may run in a folder: it exists, lies below an allowed root, and is not ours."""

import json
import os
import stat
from pathlib import PurePosixPath

from bascule.model.errors import BadDirectory, OutsideRoots
from bascule.policy.directories import inside, problem_with


def check_directory(text: str, roots: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, tuple[int, int]]:
    """The folder's real path, and the device and inode it had when we looked.

    `own` are Bascule's folders: its keys, its log and what it runs from. No agent works in one or below it;
    a folder above one, such as the home folder, stays allowed.
    """
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
        raise OutsideRoots(_how_to_allow(text, roots))
    if _is_own(real, own):
        raise BadDirectory(
            f"{text} is part of Bascule's own files, where it keeps its keys and its log. "
            "Choose a project's folder."
        )
    if not os.access(real, os.R_OK | os.X_OK):
        raise BadDirectory(f"The folder {text} can't be read by this user.")
    return real, (info.st_dev, info.st_ino)


def _how_to_allow(text: str, roots: tuple[str, ...]) -> str:
    """The settings are read when the server starts: the line to write there, and what then."""
    line = json.dumps([*roots, text], ensure_ascii=False)  # TOML reads such a list as JSON does
    return (
        f"{text} lies outside the folders sessions may run in ({', '.join(roots)}). To allow it, write "
        f"roots = {line} in config.toml (`bascule doctor` names the file; BASCULE_ROOTS overrides it) and "
        "start the server again; agents keep running meanwhile."
    )


def _is_own(real: str, own: tuple[str, ...]) -> bool:
    """By name, and by what it is: a folder can be reached by two names without any link."""
    if inside(real, [os.path.realpath(one) for one in own]):
        return True
    ids = {_identity(one) for one in own} - {None}
    path = PurePosixPath(real)
    return any(_identity(str(one)) in ids for one in (path, *path.parents))


def _identity(path: str) -> tuple[int, int] | None:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino
