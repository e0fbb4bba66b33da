"""Finds files of a project by letters of their path, best first: those that git tracks or does not ignore."""

import heapq
import os

from bascule.daemon.files.git import Git, GitFailed

TRACKED = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
COUNT_SECONDS = 1.0
_NO_MATCH = 9


def count_files(folder: str, path: str, home: str) -> int | None:
    """How many files of the folder git tracks or does not ignore. None without git, or if that takes long."""
    try:
        git = Git(folder, path, home, COUNT_SECONDS)
        git.disarm()
        return git.run(*TRACKED).count(b"\x00")
    except GitFailed:
        return None


def find_files(folder: str, wanted: str, limit: int, own: tuple[str, ...], path: str, home: str) -> list[str]:
    """Paths below the folder, but for Bascule's `own` folders. None where there is no git work tree."""
    try:
        git = Git(folder, path, home)
        git.disarm()
        listed = git.run(*TRACKED).decode(errors="replace").split("\x00")
    except GitFailed:
        return []
    return best([one for one in listed if one and not _is_in(os.path.join(folder, one), own)], wanted, limit)


def _is_in(path: str, folders: tuple[str, ...]) -> bool:
    return any(path.startswith(folder.rstrip("/") + "/") for folder in folders)


def best(paths: list[str], wanted: str, limit: int) -> list[str]:
    """Those that hold the letters in this order: in the name before the folders, together before apart."""
    low = wanted.lower()
    ranked = ((_rank(path.lower(), low), len(path), path) for path in paths)
    found = heapq.nsmallest(limit, (one for one in ranked if one[0] < _NO_MATCH))
    return [one for _, _, one in found]


def _rank(path: str, wanted: str) -> int:
    name = os.path.basename(path)
    stem = name.partition(".")[0]
    tests = (
        wanted in (name, stem),
        name.startswith(wanted),
        wanted in name,
        path.startswith(wanted),
        wanted in path,
        _holds(name, wanted),
        _holds(path, wanted),
    )
    return next((number for number, fits in enumerate(tests) if fits), _NO_MATCH)


def _holds(text: str, letters: str) -> bool:
    """Whether the letters are there in this order, with others between them."""
    rest = iter(text)
    return all(letter in rest for letter in letters)
