"""Checks where a session may run: a real folder below an allowed root. The caller resolves the path."""

import unicodedata
from collections.abc import Sequence
from pathlib import PurePosixPath

MAX_PATH = 4096
# Zero-width, and still letters of a name: Persian words and joined emoji can't be written without them.
_JOINERS = frozenset("\u200c\u200d")


def hidden_character(text: str) -> str | None:
    """The first character that could not be seen in a path, or would change how the rest is shown."""
    return next((one for one in text if not one.isprintable() and one not in _JOINERS), None)


def problem_with(text: str) -> str | None:
    """What is wrong with a path, without touching the disk; None if nothing is."""
    if not text:
        return "The folder is empty; give an absolute path."
    if len(text.encode(errors="surrogatepass")) >= MAX_PATH:
        return "The folder's path is too long."
    if (hidden := hidden_character(text)) is not None:
        return (
            f"The folder's path holds a character that can't be seen: {_named(hidden)}, in place "
            f"{text.index(hidden) + 1}. Rename the folder without it, or leave it out if it was pasted along."
        )
    if not text.startswith("/"):
        return "The folder must be an absolute path, such as /home/you/project."
    if ".." in PurePosixPath(text).parts:
        return "The folder's path must not contain '..'."
    return None


def inside(real_path: str, real_roots: Sequence[str]) -> bool:
    """Is a resolved path one of the resolved roots, or below one?"""
    path = PurePosixPath(real_path)
    return any(path.is_relative_to(root) for root in real_roots)


def _named(character: str) -> str:
    name = {"\n": "newline", "\r": "carriage return", "\t": "tab"}.get(character)
    name = name or unicodedata.name(character, "").lower()
    return f"U+{ord(character):04X}{f' ({name})' if name else ''}"
