"""Recognises an agent's "do you trust this folder?" on its drawn screen, and knows the keys that say yes."""

import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

UP, DOWN, ENTER = b"\x1b[A", b"\x1b[B", b"\r"
MAX_TRIES = 5  # key presses on the way to the choice; a menu that does not follow is left to a person
_FRAME = re.compile(r"[│┃|╭╮╰╯─━]+")


class TrustPrompt(Struct, frozen=True):
    """From the agent's file: the question's words, the choice that says yes, the mark before the choice."""

    text: str
    accept: str
    marker: str = "❯"


class Asked(Struct, frozen=True):
    """The question is on the screen. `step`: what to press next, none when the menu can't be read."""

    step: bytes | None


class TrustWatch(Struct):
    """What became of the question; kept with the driver's state, so that it is answered once."""

    state: Literal["watching", "asked", "answered", "left"] = "watching"
    tries: int = 0


def look(lines: list[str], question: TrustPrompt) -> Asked | None:
    """The question on this screen, if it is there with its choices."""
    plain = [_FRAME.sub(" ", line).strip() for line in lines]
    if _words(question.text) not in _words(" ".join(plain)):
        return None
    wanted = _last(plain, lambda line: question.accept in line)
    marked = _last(plain, lambda line: line.startswith(question.marker))
    if wanted is None:
        return None
    if marked is None or abs(marked - wanted) > 10:
        return Asked(None)
    if marked == wanted:
        return Asked(ENTER)
    return Asked(DOWN if wanted > marked else UP)


def _last(lines: list[str], fits: Callable[[str], bool]) -> int | None:
    return next((number for number in range(len(lines) - 1, -1, -1) if fits(lines[number])), None)


def _words(text: str) -> str:
    # A narrow window breaks the question anywhere, even inside a word's punctuation: spaces do not count.
    return "".join(text.split())
