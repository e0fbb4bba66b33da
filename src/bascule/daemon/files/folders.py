"""Autocompletes a folder's path: only folders below the roots, hidden ones last."""

import os

from bascule.link.files import Folders
from bascule.policy.directories import hidden_character, inside, problem_with

MAX_LOOKED_AT = 10_000
MAX_FOLDERS = 200


def complete(prefix: str, limit: int, roots: tuple[str, ...], own: tuple[str, ...]) -> Folders:
    """Nothing for a path that is not allowed: completing is a help, and no way to learn what exists."""
    real_roots = [os.path.realpath(root) for root in roots]
    if prefix == "~" or prefix.startswith("~/"):
        prefix = os.path.expanduser("~") + prefix[1:]
    if not prefix:
        return Folders([root for root in real_roots if os.path.isdir(root)], False)
    if problem_with(prefix) is not None:
        return Folders([], False)
    parent, beginning = os.path.split(prefix)
    parent = os.path.realpath(parent)
    if inside(parent, [os.path.realpath(one) for one in own]):
        return Folders([], False)
    if not inside(parent, real_roots):
        # On the way to a root: show which way leads there.
        towards = [root for root in real_roots if root.startswith(prefix) or inside(root, [prefix])]
        return Folders(towards, False)
    names, cut = _folders_in(parent, beginning, {os.path.realpath(path) for path in own})
    limit = min(limit, MAX_FOLDERS)
    return Folders([os.path.join(parent, name) for name in names[:limit]], cut or len(names) > limit)


def _folders_in(parent: str, beginning: str, own: set[str]) -> tuple[list[str], bool]:
    names: list[str] = []
    wanted = beginning.lower()
    try:
        with os.scandir(parent) as entries:
            for n, entry in enumerate(entries):
                if n >= MAX_LOOKED_AT:
                    return _ordered(names), True
                fits = entry.name.lower().startswith(wanted) and hidden_character(entry.name) is None
                if fits and entry.is_dir(follow_symlinks=False) and entry.path not in own:
                    names.append(entry.name)
    except OSError:
        return [], False
    return _ordered(names), False


def _ordered(names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: (name.startswith("."), name.lower(), name))
