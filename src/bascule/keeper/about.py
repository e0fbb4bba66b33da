"""Stores a process's start parameters beside its output, for later readers."""

import json
import os
import time
from typing import Any, NamedTuple, cast

from bascule.keeper.layout import ABOUT

_MAX_WORDS = 4096  # characters of a command line that are kept


class About(NamedTuple):
    """`label` belongs to the client; the keeper returns it unchanged. `at` is the start time."""

    argv: tuple[str, ...] = ()
    cwd: str = ""
    label: str = ""
    at: float = 0.0


def describe(argv: list[bytes], cwd: bytes, label: str) -> About:
    words: list[str] = []
    left = _MAX_WORDS
    for word in argv:
        words.append(os.fsdecode(word)[:left])
        left -= len(words[-1])
        if left <= 0:
            break
    return About(tuple(words), os.fsdecode(cwd), label, time.time())


def labelled(about: About, label: str) -> About:
    return about._replace(label=label)


def save(folder: str, about: About) -> None:
    """Written under another name first: a half-written one is never read. Raises OSError."""
    draft = os.path.join(folder, ABOUT + ".new")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(about._asdict(), file, ensure_ascii=False)
    os.replace(draft, os.path.join(folder, ABOUT))


def load(folder: str) -> About:
    """What an earlier keeper wrote; empty if it is missing or unreadable."""
    try:
        with open(os.path.join(folder, ABOUT), encoding="utf-8", errors="surrogateescape") as file:
            facts = json.load(file)
    except (OSError, ValueError):
        return About()
    if not isinstance(facts, dict):
        return About()
    known = cast(dict[str, Any], facts)
    try:
        argv = tuple(str(word) for word in known["argv"])
        return About(argv, str(known["cwd"]), str(known["label"]), float(known["at"]))
    except (KeyError, TypeError, ValueError):
        return About()
