"""Matches paths against patterns with `*` and `**`, name by name. No other character is special."""

import os.path
from collections.abc import Callable

from bascule.policy.directories import hidden_character

MAX_STEPS = 100_000  # of comparing two patterns


def absolute(pattern: str, base: str) -> str:
    """A pattern as one whole path; `base` is where relative ones begin."""
    return pattern if pattern.startswith("/") else f"{base.rstrip('/')}/{pattern.removeprefix('./')}"


def problem_with(pattern: str) -> str | None:
    """Why this can't be a rule's path, in words."""
    if not pattern or hidden_character(pattern) is not None or len(pattern) >= 4096:
        return "The path is empty, too long, or holds hidden characters."
    names = pattern.split("/")
    if ".." in names:
        return "A rule's path must not contain '..'."
    if any("**" in name and name != "**" for name in names):
        return "`**` stands for whole folders: write it between slashes, as in `src/**/*.py`."
    if any(name in ("", ".") for name in names[1:]) or (names[0] == "." and len(names) == 1):
        return (
            "A rule's path must not contain '//' or '/./', nor end with a slash; `folder/**` means all in it."
        )
    return None


def covers(pattern: str, path: str, *, hidden: bool) -> bool:
    """Does the whole path fit the whole pattern? Names that begin with a dot must be written out,
    unless `hidden` is set: what allows should not reach `.git` by a star, what denies should."""
    return _covers(tuple(pattern.split("/")), tuple(path.split("/")), hidden)


def covers_all_below(pattern: str, folder: str) -> bool:
    """Does the pattern cover whatever is in the folder, hidden names aside?"""
    any_name = "\0"  # fits a star and nothing that is written out
    top = folder.rstrip("/")
    inside = (f"{top}/{any_name}", f"{top}/{any_name}/{any_name}")
    return all(covers(pattern, one, hidden=False) for one in inside)


def may_meet(one: str, other: str) -> bool:
    """Could one path fit both patterns? True when that is too much to work out."""
    first, second = one.split("/"), other.split("/")
    if len(first) * len(second) > MAX_STEPS:
        return True
    return _meet(first, second, "**", names_may_meet)


def names_may_meet(one: str, other: str) -> bool:
    if len(one) * len(other) > MAX_STEPS:
        return True
    return _meet(list(one), list(other), "*", str.__eq__)


def _meet(one: list[str], other: list[str], star: str, alike: Callable[[str, str], bool]) -> bool:
    """Whether two rows of parts have a common reading; `star` stands for any number of parts."""
    # ends[n]: whether the rest of `one` and the rest of `other` from n on can meet; from the last part back.
    ends = [False] * len(other) + [True]
    for n in range(len(other) - 1, -1, -1):
        ends[n] = other[n] == star and ends[n + 1]
    for part in reversed(one):
        now = [False] * (len(other) + 1)
        now[-1] = part == star and ends[-1]
        for n in range(len(other) - 1, -1, -1):
            if part == star or other[n] == star:
                now[n] = ends[n] or now[n + 1]
            else:
                now[n] = ends[n + 1] and alike(part, other[n])
        ends = now
    return ends[0]


def below(path: str, folder: str, *, hidden: bool) -> bool:
    """Is it the folder, or in it?"""
    if path == folder:
        return True
    top = folder.rstrip("/") + "/"
    if not path.startswith(top):
        return False
    return hidden or not any(name.startswith(".") for name in path[len(top) :].split("/"))


def joined(path: str, cwd: str) -> str:
    """From the top. `..` stays: what it leads to depends on the links before it."""
    return os.path.join(cwd, path)


def normal(path: str, cwd: str) -> str:
    """Normalises a path as text, as if it held no links."""
    return os.path.normpath(joined(path, cwd))


def _covers(pattern: tuple[str, ...], path: tuple[str, ...], hidden: bool) -> bool:
    # Which places of the pattern the names so far can have reached; `**` stays where it is.
    places = _skipping(pattern, {0})
    for name in path:
        reached: set[int] = set()
        for place in places:
            if place == len(pattern):
                continue
            if pattern[place] == "**":
                if hidden or not name.startswith("."):
                    reached.add(place)
            elif _name_fits(pattern[place], name, hidden):
                reached.add(place + 1)
        places = _skipping(pattern, reached)
        if not places:
            return False
    return len(pattern) in places


def _skipping(pattern: tuple[str, ...], places: set[int]) -> set[int]:
    """`**` may also stand for no folder at all."""
    found = set(places)
    for place in places:
        while place < len(pattern) and pattern[place] == "**":
            place += 1
            found.add(place)
    return found


def _name_fits(pattern: str, name: str, hidden: bool) -> bool:
    if "*" not in pattern:
        return pattern == name
    if name.startswith(".") and not pattern.startswith(".") and not hidden:
        return False
    first, *middle, last = pattern.split("*")
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    place, end = len(first), len(name) - len(last)
    for piece in middle:
        found = name.find(piece, place, end)
        if found < 0:
            return False
        place = found + len(piece)
    return True
