"""The tokenizer of every search: words of a text, the same for each database, which indexes them as they are.

Case, accents and the forms of a letter that look alike (`ﬁ`, full-width, `ς`) do not matter. Accents go from
Latin and Greek letters; in Cyrillic only stress marks do, and `ё` is `е`, as most people type it, while `й`
and `ї` stay. Marks of all other scripts make other letters (`が`, `है`) and stay. Signs, private-use glyphs
and `_` part words.
"""

import re
import unicodedata
from typing import NamedTuple

VERSION = 1  # of the words that this makes; indexes of another version are made again
MAX_WORD = 400  # characters; longer ones are no words but data, and an index has no room for them
MAX_LETTERS = 160_000  # of one text: an index of PostgreSQL has room for a megabyte

_KEPT, _GONE, _PARTS = "LN", "", " "
_LETTERS = {"ё": "е", "ѐ": "е", "ѝ": "и", "ς": "σ", "ß": "ss"}
_JOINERS = "\u00ad\u200c\u200d\u2060"  # invisible, within words
# Marks for any script, in practice of Latin, Greek and Cyrillic; and the selectors of how a sign is drawn.
_ACCENTS = (
    *((0x0300, 0x036F), (0x0483, 0x0489), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF)),
    *((0xFE00, 0xFE0F), (0xFE20, 0xFE2F), (0xE0100, 0xE01EF)),
)

_ascii_runs = re.compile(r"[A-Za-z0-9]+")
_runs = re.compile("x+")


class _Folded(dict[int, str]):
    """What each character of a lower-case text in NFKC becomes: letters, nothing, or a gap."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold(chr(code))
        return folded


class _Shape(dict[int, str]):
    """`x` for each character of any text that belongs to a word, a gap for all others."""

    def __missing__(self, code: int) -> str:
        folded = unicodedata.normalize("NFKC", chr(code)).lower().translate(_folded)
        self[code] = shape = "x" if folded.strip() or not folded else " "
        return shape


_folded = _Folded()
_shape = _Shape()


def _fold(letter: str) -> str:
    if letter in _LETTERS:
        return _LETTERS[letter]
    code, kind = ord(letter), unicodedata.category(letter)
    if letter in _JOINERS or any(low <= code <= high for low, high in _ACCENTS):
        return _GONE
    if kind[0] == "M":
        return letter
    if kind[0] not in _KEPT:
        return _PARTS
    apart = unicodedata.normalize("NFD", letter)
    if len(apart) > 1 and unicodedata.name(apart[0], "").startswith(("LATIN", "GREEK")):
        return "".join(_LETTERS.get(one, one) for one in apart if not unicodedata.combining(one))
    return letter


def words_in(text: str) -> list[str]:
    """In their order."""
    text = text[:MAX_LETTERS]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    words = text.lower().translate(_folded)[:MAX_LETTERS].split()
    if max(map(len, words), default=0) <= MAX_WORD:
        return words
    return [word[:MAX_WORD] for word in words]


def joined(text: str) -> str:
    """The words of a text with a space between them: what an index is given."""
    return " ".join(words_in(text))


def spans_of(text: str) -> list[tuple[int, int]]:
    """Where words stand in a text."""
    found = _ascii_runs.finditer(text) if text.isascii() else _runs.finditer(text.translate(_shape))
    return [one.span() for one in found]


class Query(NamedTuple):
    """What to look for: all phrases, each one or more words side by side; the last may be a beginning."""

    phrases: list[list[str]]
    begins: bool

    @property
    def marked(self) -> tuple[set[str], str]:
        """The words that are shown as matches; and the beginning of others, or nothing."""
        words = {word for phrase in self.phrases for word in phrase}
        return words, self.phrases[-1][-1] if self.begins else ""


def query_of(terms: list[str]) -> Query:
    """A term of several words, such as a path, is a phrase. Terms without a word are passed over."""
    phrases = [words_in(term) for term in terms]
    # People search while they type: the last word may be half there. One letter would match everything.
    begins = bool(phrases and phrases[-1]) and sum(map(len, phrases[-1])) > 1
    return Query([phrase for phrase in phrases if phrase], begins)


def sought(query: Query) -> list[str]:
    """What stands in a `joined` text, between two spaces, for each phrase."""
    parts = [f" {' '.join(phrase)} " for phrase in query.phrases]
    if query.begins:
        parts[-1] = parts[-1].rstrip()
    return parts
