"""Recognises an agent's "do you trust this folder?" menu on the screen, and finds the keys that say yes."""

import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

UP, DOWN, ENTER = b"\x1b[A", b"\x1b[B", b"\r"
MAX_TRIES = 5  # key presses; a menu that does not follow them is left to a person
_FRAME = re.compile(r"[│┃|╭╮╰╯─━]+")


class TrustPrompt(Struct, frozen=True):
    """From the agent's file: the prompt's text, the choice that says yes, the mark before the choice."""

    text: str
    accept: str
    marker: str = "❯"


class Asked(Struct, frozen=True):
    """The prompt is on the screen. `step`: the key to press next, None if the menu can't be read."""

    step: bytes | None


class TrustWatch(Struct):
    """Whether the prompt came and was answered; stored, so that it is answered once."""

    state: Literal["watching", "asked", "answered", "left"] = "watching"
    tries: int = 0


def look(lines: list[str], question: TrustPrompt) -> Asked | None:
    """The trust prompt on this screen, if it is there with its choices."""
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
    # A narrow window may wrap the text anywhere, so spaces do not count.
    return "".join(text.split())
