"""Finds hidden files below a folder and links that lead out of it, which a search there would read."""

import os
from collections.abc import Iterator

MAX_ENTRIES = 5_000
# Found in most projects; searches leave them out, or find nothing secret in them.
ORDINARY = frozenset(
    {
        ".git",
        ".github",
        ".gitattributes",
        ".gitignore",
        ".gitkeep",
        ".gitmodules",
        ".editorconfig",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
        ".venv",
        "node_modules",
    }
)


class _TooMany(Exception):
    pass


def hidden_in(folder: str) -> tuple[str, ...] | None:
    """As patterns of whole paths; None when there is too much to look through, or it can't be read.

    Blocks, though not for long.
    """
    try:
        return tuple(_look(folder))
    except (_TooMany, OSError):
        return None


def _look(folder: str) -> Iterator[str]:
    waiting = [folder] if os.path.isdir(folder) else []
    seen = 0
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                seen += 1
                if seen > MAX_ENTRIES:
                    raise _TooMany
                is_folder = entry.is_dir(follow_symlinks=False)
                if entry.is_symlink():
                    yield from _link(entry.path, folder)
                elif entry.name in ORDINARY:
                    continue
                elif entry.name.startswith("."):
                    yield f"{entry.path}/**" if is_folder else entry.path
                elif is_folder:
                    waiting.append(entry.path)


def _link(path: str, folder: str) -> Iterator[str]:
    """A link counts when it leads out of the folder, or to something hidden there."""
    real = os.path.realpath(path)
    inside = os.path.relpath(real, folder).split("/")
    if any(name.startswith(".") and name != "." for name in inside):
        yield path
        yield f"{path}/**"
