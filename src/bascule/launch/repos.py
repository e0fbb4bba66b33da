"""Finds the clone of a repository among folders that are known here: a page knows its name, not its place."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

MAX_CONFIG = 256 * 1024
# A part may not be `.` or `..`, nor begin with a dash.
NAME = re.compile(r"(?!\.)[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99}/(?!\.)[A-Za-z0-9_.][A-Za-z0-9_.-]{0,99}")
_SECTION = re.compile(r"\s*\[\s*(\w+)")
_URL = re.compile(r"\s*url\s*=\s*\"?([^\s\"]+)")


def find_clones(repo: str, folders: Iterable[str]) -> list[str]:
    """The clones that these folders are part of, in their order: the latest used comes first in them."""
    around = filter(None, map(_clone_around, folders))
    return [clone for clone in dict.fromkeys(around) if any(_is_of(repo, url) for url in remotes(clone))]


def _clone_around(folder: str) -> str | None:
    """The nearest folder upwards with a repository of its own; a work tree has a file in its place."""
    if not folder.startswith("/"):
        return None
    for place in (Path(folder), *Path(folder).parents):
        if (place / ".git").is_dir():
            return os.path.realpath(place)
    return None


def remotes(clone: str) -> list[str]:
    """The addresses that the clone fetches from; none when its settings can't be read."""
    try:
        with open(os.path.join(clone, ".git", "config"), encoding="utf-8", errors="replace") as file:
            text = file.read(MAX_CONFIG)
    except OSError:
        return []
    section, urls = "", list[str]()
    for line in text.splitlines():
        if found := _SECTION.match(line):
            section = found[1].lower()
        elif section == "remote" and (found := _URL.match(line)):
            urls.append(found[1])
    return urls


def _is_of(repo: str, url: str) -> bool:
    """Whatever host it is on: `https://host/owner/name.git`, `git@host:owner/name`."""
    path = url.rstrip("/").removesuffix(".git").replace(":", "/").lower()
    return path.endswith(f"/{repo.lower()}")
